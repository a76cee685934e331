// Queues, one line each: for `queue ls` and `status`.
#pragma once

#include <vector>

#include "cli/context.h"
#include "leasehold/job.h"
#include "leasehold/queue.h"

namespace leasehold::cli {

void print_queues(const std::vector<QueueInfo>& queues);

/// "active" or "paused", in its colour.
std::string shown_state(const QueueInfo& queue);

// A queue as every command about one prints it.

/// The queue, or why there is none; gives the exit code.
int print_queue(const Context& context, const Result<QueueInfo>& queue);

}  // namespace leasehold::cli
