// What `job claim` prints, and every verdict that is followed by a claim.
#pragma once

#include "cli/context.h"

namespace leasehold::cli {

/// Prints the jobs that were claimed, or why there are none; gives the exit code. `quiet`: nothing but number and token
/// of each.
int tell_granted(const Context& context, const Result<JobGrant>& grant, bool quiet, int refused_code);

}  // namespace leasehold::cli
