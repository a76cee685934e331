// leasehold job complete, fail, release, snooze.
#include <fmt/format.h>
#include <memory>

#include "base/text.h"
#include "cli/bind/job_options.h"
#include "cli/command.h"
#include "cli/input.h"
#include "cli/print/report.h"
#include "model/bounds.h"

namespace leasehold::cli {

// leasehold job complete: report a job as done.
namespace {

struct JobCompleteOptions {
  HeldJob job;
  TextOrFile result;
  NextClaim next;
};

int complete(const Context& context, JobCompleteOptions& options) {
  auto result = options.result.read(bounds::result_bytes, TooLong::refuse);
  if (!result) return report(context, result.error());
  return settle(context, options.job, Verdict::complete(std::move(*result)), options.next);
}

}  // namespace

void add_job_complete(CLI::App& parent, Context& context) {
  auto* command =
      add_command(parent, context, "complete", "Complete a job; refused once another holder has it (exit code 76)",
                  {"leasehold job complete 17 --token 1763200000000000",
                   "./resize | leasehold job complete 17 --token \"$token\" --result-file -",
                   "read -r id token < <(leasehold job complete \"$id\" --token \"$token\" --next mail -q)"});
  auto options = std::make_shared<JobCompleteOptions>();
  add_held_job(*command, context, options->job);
  add_text_or_file(*command, "--result", options->result, "Result of the job; see `job result`", bounds::result_bytes);
  add_next_claim(*command, options->next);
  set_action(*command, context, [&context, options] { return complete(context, *options); });
}

// leasehold job fail: report a failure; the job is retried later, or never.
namespace {

struct FailedJob {
  HeldJob job;
  TextOrFile error;
  bool final = false;
  std::optional<Duration> delay;
  NextClaim next;
};

int fail(const Context& context, const FailedJob& options) {
  auto error = options.error.read(bounds::error_bytes, TooLong::cut);
  if (!error) return report(context, error.error());
  const Verdict verdict{
      .kind = Verdict::Kind::fail, .text = std::move(*error), .retryable = !options.final, .delay = options.delay};
  return settle(context, options.job, verdict, options.next);
}

}  // namespace

void add_job_fail(CLI::App& parent, Context& context) {
  auto* command =
      add_command(parent, context, "fail", "Fail a job; it is retried after a backoff until its budget is spent",
                  {"leasehold job fail 17 --token 1763200000000000 --error 'no route to host'",
                   "leasehold job fail 17 --token \"$token\" --final --error-file log.txt"});
  auto options = std::make_shared<FailedJob>();
  add_held_job(*command, context, options->job);
  add_text_or_file(*command, "--error", options->error, "Reason; kept with the attempt", bounds::error_bytes);
  auto* final = command->add_flag("--final", options->final, "Do not retry: the job is a dead letter at once");
  add_duration(*command, "--delay", options->delay, "Retry after this time instead of the backoff")->excludes(final);
  add_next_claim(*command, options->next);
  set_action(*command, context, [&context, options] { return fail(context, *options); });
}

// leasehold job release: give a job back unchanged.
namespace {

struct JobReleaseOptions {
  HeldJob job;
  NextClaim next;
};

}  // namespace

void add_job_release(CLI::App& parent, Context& context) {
  auto* command =
      add_command(parent, context, "release", "Release a job; it is available at once, and no budget is charged",
                  {"leasehold job release 17 --token 1763200000000000"});
  auto options = std::make_shared<JobReleaseOptions>();
  add_held_job(*command, context, options->job);
  add_next_claim(*command, options->next);
  set_action(*command, context,
             [&context, options] { return settle(context, options->job, Verdict::release(), options->next); });
}

// leasehold job snooze: put a job off.
namespace {

struct JobSnoozeOptions {
  HeldJob job;
  Duration delay{};
  NextClaim next;
};

}  // namespace

void add_job_snooze(CLI::App& parent, Context& context) {
  auto* command = add_command(parent, context, "snooze", "Return a job to its queue for later; no budget is charged",
                              {"leasehold job snooze 17 --token 1763200000000000 --delay 10m"});
  auto options = std::make_shared<JobSnoozeOptions>();
  add_held_job(*command, context, options->job);
  add_duration(*command, "--delay", options->delay, "Run it after this time at the earliest")->required();
  add_next_claim(*command, options->next);
  set_action(*command, context, [&context, options] {
    return settle(context, options->job, Verdict::snooze(options->delay), options->next);
  });
}

}  // namespace leasehold::cli
