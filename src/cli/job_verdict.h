// What complete, fail, release and snooze have in common: a verdict about a held job, where it put the job, and the
// next one, if that is wanted.
#pragma once

#include "cli/context.h"
#include "cli/job_options.h"

namespace leasehold::cli {

/// The claim that follows a verdict; none without a queue.
struct NextClaim {
  std::string queue;
  std::string holder;
  ClaimOptions claim;
  bool quiet = false;
};
void add_next_claim(CLI::App& command, NextClaim& next);

/// Says the verdict and prints where the job is now, then what the next claim has brought; gives the exit code: that of
/// the verdict where it is not accepted, else that of the claim.
int settle(const Context& context, const HeldJob& job, const Verdict& verdict, const NextClaim& next);

}  // namespace leasehold::cli
