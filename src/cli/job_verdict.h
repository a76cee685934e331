// What complete, fail, release and snooze have in common: a verdict about a held job, and where it put the job.
#pragma once

#include <functional>

#include "cli/context.h"

namespace leasehold::cli {

using Verdict = std::function<Result<Settled>(const Jobs& jobs)>;

/// Says the verdict and prints where the job is now; gives the exit code.
int settle(const Context& context, JobId id, const Verdict& verdict);

}  // namespace leasehold::cli
