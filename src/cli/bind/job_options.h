// Options and arguments shared by the commands about jobs and queues.
#pragma once

#include <CLI/CLI.hpp>
#include <optional>
#include <string>
#include <vector>

#include "cli/command.h"
#include "cli/context.h"
#include "leasehold/job.h"

namespace leasehold::cli {

CLI::Option* add_queue_name(CLI::App& command, std::string& queue);
CLI::Option* add_job_id(CLI::App& command, JobId& id);
/// An option that names a job.
CLI::Option* add_job_option(CLI::App& command, const std::string& names, JobId& id, const std::string& help);

/// A job as named by its holder: the id (else LEASEHOLD_JOB_ID, as `leasehold work` sets it) and the token.
struct HeldJob {
  JobId id = 0;
  Token token;
};
void add_held_job(CLI::App& command, Context& context, HeldJob& job);
/// Whether the innermost `work` runs the caller for this job.
bool is_own_job(JobId id);

/// --queue, --state, --tag and the other filters of jobs.
std::vector<CLI::Option*> add_job_filter(CLI::App& command, JobFilter& filter);

/// --all of cancel, retry and rm: the act on every job that matches the filters, once --yes is given.
struct AllJobs {
  bool wanted = false;
  JobBulk bulk;
  Consent consent;
};
/// The argument ID, and --all with its filters instead of it. With `needs_consent`, --yes is also for a single job.
void add_job_or_all(CLI::App& command, Context& context, JobId& id, AllJobs& all, JobAction action);
/// Counts the jobs that match, and changes them if --yes was given. Returns the exit code.
int change_all(const Context& context, const AllJobs& all);

/// The settings of a job for `job add` and `job import`, except its payload and its dedupe key.
/// --dedupe, --dedupe-mode, --debounce, --dedupe-for.
void add_dedupe(CLI::App& command, NewJob& job);
void add_job_settings(CLI::App& command, NewJob& job);

/// A bound: a number from 1, or "none", which is zero.
CLI::Option* add_max(CLI::App& command, const std::string& names, std::optional<int>& value, const std::string& help);

// Shared by complete, fail, release and snooze: a verdict on a held job, the job's new state, and optionally the next
// job.

/// The claim that follows a verdict; none without a queue.
struct NextClaim {
  std::string queue;
  std::string holder;
  JobClaimOptions claim;
  bool quiet = false;
};
void add_next_claim(CLI::App& command, NextClaim& next);

/// Sends the verdict and prints the job's new state, then the result of the next claim. Returns the exit code: that of
/// the verdict if it is refused, otherwise that of the claim.
int settle(const Context& context, const HeldJob& job, const Verdict& verdict, const NextClaim& next);

// The output of `job claim`, and of every verdict followed by a claim.

/// Prints the claimed jobs, or the error; returns the exit code. `quiet`: only number and token of each.
int report_granted(const Context& context, const Result<JobGrant>& grant, bool quiet, int refused_code);

/// "12:05:00 (5m)", "12:00:02 (2s left)" if a time limit ends the lease before its ttl does.
std::string until_text(Timestamp expires_at, Duration ttl, BootTime trusted_until);

}  // namespace leasehold::cli
