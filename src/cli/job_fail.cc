// leasehold job fail: it went wrong; again later, or never.
#include <memory>

#include "cli/command.h"
#include "cli/input.h"
#include "cli/job_options.h"
#include "cli/job_verdict.h"
#include "cli/report.h"
#include "core/job_limits.h"

namespace leasehold::cli {
namespace {

struct JobFailOptions {
  HeldJob job;
  std::string error;
  std::string error_file;
  bool for_good = false;
  Duration delay{};
  CLI::Option* delay_given = nullptr;
  NextClaim next;
};

int fail(const Context& context, JobFailOptions& options) {
  if (!options.error_file.empty()) {
    auto bytes = read_bytes(options.error_file, max_error_bytes, TooLong::cut);
    if (!bytes) return report(context, bytes.error());
    options.error = std::move(*bytes);
  }
  auto verdict = options.for_good ? Verdict::fail_for_good(options.error) : Verdict::fail(options.error);
  if (options.delay_given->count() > 0) verdict.delay = options.delay;
  return settle(context, options.job, verdict, options.next);
}

}  // namespace

void add_job_fail(CLI::App& parent, Context& context) {
  auto* command = add_command(parent, context, "fail",
                              "Say that a job went wrong: it runs again after its backoff, until its budget is spent",
                              {"leasehold job fail 17 --token 1763200000000000 --error 'no route to host'",
                               "leasehold job fail 17 --token \"$token\" --for-good --error-file log.txt"});
  auto options = std::make_shared<JobFailOptions>();
  add_held_job(*command, options->job);
  auto* error = command->add_option("--error", options->error, "Why; kept with the attempt")->type_name("TEXT");
  command->add_option("--error-file", options->error_file, "The same from a file, up to 64 KiB; - is standard input")
      ->check(not_empty)
      ->type_name("FILE")
      ->excludes(error);
  auto* for_good = command->add_flag("--for-good", options->for_good, "Do not try again: it is a dead letter at once");
  options->delay_given =
      add_duration(*command, "--delay", options->delay, "Try again after this, not after the backoff");
  options->delay_given->excludes(for_good);
  add_next_claim(*command, options->next);
  set_action(*command, context, [&context, options] { return fail(context, *options); });
}

}  // namespace leasehold::cli
