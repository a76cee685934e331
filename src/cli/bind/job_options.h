// Options and arguments that the commands about jobs and queues share.
#pragma once

#include <CLI/CLI.hpp>
#include <optional>
#include <string>

#include "cli/context.h"
#include "leasehold/job.h"

namespace leasehold::cli {

CLI::Option* add_queue_name(CLI::App& command, std::string& queue);
CLI::Option* add_job_id(CLI::App& command, JobId& id);
/// An option that names a job.
CLI::Option* add_job_option(CLI::App& command, const std::string& names, JobId& id, const std::string& help);

/// A job as its holder names it: the id (else LEASEHOLD_JOB_ID, as `leasehold work` sets it) and the token.
struct HeldJob {
  JobId id = 0;
  Token token;
};
void add_held_job(CLI::App& command, Context& context, HeldJob& job);
/// Whether this is the job that the innermost `work` runs the caller for.
bool is_own_job(JobId id);

/// What `job add` and `job import` let people say about a job, but for its payload and its dedupe key.
void add_job_settings(CLI::App& command, NewJob& job);

/// A limit: a number from 1, or "none", which is zero.
CLI::Option* add_limit(CLI::App& command, const std::string& names, std::optional<int>& value, const std::string& help);

// What complete, fail, release and snooze have in common: a verdict about a held job, where it put the job, and the
// next one, if that is wanted.

/// The claim that follows a verdict; none without a queue.
struct NextClaim {
  std::string queue;
  std::string holder;
  JobClaimOptions claim;
  bool quiet = false;
};
void add_next_claim(CLI::App& command, NextClaim& next);

/// Says the verdict and prints where the job is now, then what the next claim has brought; gives the exit code: that of
/// the verdict where it is not accepted, else that of the claim.
int settle(const Context& context, const HeldJob& job, const Verdict& verdict, const NextClaim& next);

// What `job claim` prints, and every verdict that is followed by a claim.

/// Prints the jobs that were claimed, or why there are none; gives the exit code. `quiet`: nothing but number and token
/// of each.
int tell_granted(const Context& context, const Result<JobGrant>& grant, bool quiet, int refused_code);

}  // namespace leasehold::cli
