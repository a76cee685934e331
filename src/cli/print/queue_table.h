// Queues, one line each: for `queue ls` and `status`.
#pragma once

#include <vector>

#include "cli/context.h"
#include "leasehold/job.h"
#include "leasehold/queue.h"

namespace leasehold::cli {

/// Headings first.
std::vector<std::string> table_of_queues(const std::vector<QueueInfo>& queues);

/// "merge is at its limit (1 of 1 running): job 2 runs for ann on vm, until 08:07:41 (in 20s)"
std::string shown_wait(const JobWait& wait, Timestamp now);
/// For a column: "at its limit".
std::string short_wait(const JobWait& wait);

/// "active" or "paused", in its colour.
std::string shown_state(const QueueInfo& queue);

// Prints a queue, for every command about one.

/// Prints the queue, or the error; returns the exit code.
int print_queue(const Context& context, const Result<QueueInfo>& queue);

}  // namespace leasehold::cli
