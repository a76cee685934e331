// A queue as every command about one prints it.
#pragma once

#include "cli/context.h"

namespace leasehold::cli {

/// The queue, or why there is none; gives the exit code.
int print_queue(const Context& context, const Result<QueueInfo>& queue);

}  // namespace leasehold::cli
