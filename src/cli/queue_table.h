// Queues, one line each: for `queue ls` and `status`.
#pragma once

#include <vector>

#include "leasehold/queue.h"

namespace leasehold::cli {

void print_queues(const std::vector<QueueInfo>& queues);

/// "active" or "paused", in its colour.
std::string shown_state(const QueueInfo& queue);

}  // namespace leasehold::cli
