// leasehold job claim, heartbeat.
#include <fmt/format.h>
#include <memory>

#include "base/time_text.h"
#include "cli/bind/job_options.h"
#include "cli/command.h"
#include "cli/print/live.h"
#include "cli/print/print.h"
#include "cli/print/report.h"
#include "cli/store_trouble.h"
#include "model/bounds.h"
#include "model/json.h"

namespace leasehold::cli {

// leasehold job claim: take jobs under a lease; no process stays behind.
namespace {

struct JobClaimCommand {
  std::string queue;
  std::string holder;
  JobClaimOptions claim;
  int refused_code = exit_code::held;
  bool quiet = false;
};

int claim(const Context& context, JobClaimCommand& options) {
  auto store = open_within(options.claim.wait, context);
  if (!store) return report(context, store.error());
  const Call call{.holder = calling_process(options.holder)};
  const auto grant = say_while_waiting(
      wants_wait_line(context, options.claim.wait, options.quiet), [&] { return waits_for_job(*store, options.queue); },
      [&] { return store->jobs().claim(options.queue, options.claim, call); });
  return report_granted(context, grant, options.quiet, options.refused_code);
}

}  // namespace

void add_job_claim(CLI::App& parent, Context& context) {
  auto* command = add_command(
      parent, context, "claim",
      "Claim the next jobs of a queue until they are settled or their ttl passes (exit code 3: it is empty)",
      {"leasehold job claim mail --ttl 2m", "leasehold job claim mail -n 10 --wait 1m --json | jq -r '.jobs[].payload'",
       "read -r id token < <(leasehold job claim mail -q) && leasehold job payload \"$id\" | ./send &&\n"
       "    leasehold job complete \"$id\" --token \"$token\""});
  auto options = std::make_shared<JobClaimCommand>();
  add_queue_name(*command, options->queue);
  add_number(*command, "-n,--max", options->claim.max, 1, bounds::max_claim,
             "Up to N jobs under one lease (default 1)");
  add_duration(*command, "--ttl", options->claim.ttl,
               fmt::format("How long the lease lasts without a heartbeat (default: the queue's own, else {})",
                           format_duration(defaults::job_ttl)));
  add_duration(*command, "--wait", options->claim.wait, "Wait up to this long for a job (default: no wait)");
  add_duration(*command, "--timeout", options->claim.timeout,
               "Fail an attempt that takes longer, if neither the job nor its queue has a --timeout");
  add_holder(*command, options->holder);
  command
      ->add_option("--request-id", options->claim.request_id,
                   "Make retries safe: the same id returns the first answer again")
      ->check(not_empty)
      ->type_name("ID");
  add_number(*command, "-E,--conflict-exit-code", options->refused_code, 0, 255,
             "Exit with N instead of 75 when it is at capacity, paused, rate limited or busy");
  command->add_flag("-q,--quiet", options->quiet, "Print only id and token of each job");
  set_action(*command, context, [&context, options] { return claim(context, *options); });
}

// leasehold job heartbeat: extend the lease of a job, and report its progress.
namespace {

struct JobHeartbeatOptions {
  HeldJob job;
  int percent = 0;
  CLI::Option* percent_given = nullptr;
  std::string message;
  std::string stage;
  std::optional<std::string> save;
  std::optional<Duration> ttl;
};

int heartbeat(const Context& context, const JobHeartbeatOptions& options) {
  auto store = context.open_store();
  if (!store) return report(context, store.error());
  Progress progress{.message = options.message, .stage = options.stage, .cursor = options.save};
  if (options.percent_given->count() > 0) progress.percent = options.percent;
  const auto& [id, token] = options.job;
  const auto extended = store->jobs().heartbeat(id, token, progress, options.ttl);
  if (!extended) return report(context, extended.error());
  if (context.json) {
    print_line(model::to_json(*extended));
    return exit_code::ok;
  }
  print("extended {}  until {}{}", id, until_text(extended->expires_at, extended->ttl, extended->trusted_until),
        extended->cancel_requested ? "  cancel requested" : "");
  if (extended->cancel_requested) {
    say("job {} is being cancelled: give it up with `leasehold job release`; it will not run again", id);
  }
  return exit_code::ok;
}

}  // namespace

void add_job_heartbeat(CLI::App& parent, Context& context) {
  auto* command =
      add_command(parent, context, "heartbeat", "Extend the lease of a job; an expired lease is lost (exit code 76)",
                  {"leasehold job heartbeat 17 --token 1763200000000000",
                   "leasehold job heartbeat --percent 40 --stage testing --message 'suite 4 of 10'    # under `work`",
                   "leasehold job heartbeat 17 --token \"$token\" --json | jq .cancel_requested"});
  auto options = std::make_shared<JobHeartbeatOptions>();
  add_held_job(*command, context, options->job);
  options->percent_given = add_number(*command, "--percent", options->percent, 0, 100, "Percentage done");
  command->add_option("--message", options->message, "The current step, in a few words")->type_name("TEXT");
  command->add_option("--save", options->save, "The job's cursor: the next attempt gets it in LEASEHOLD_CURSOR")
      ->type_name("JSON");
  command->add_option("--stage", options->stage, "Current stage of the work: rebasing, testing, merging")
      ->type_name("WORD");
  add_duration(*command, "--ttl", options->ttl, "New ttl of the lease (default: unchanged)");
  set_action(*command, context, [&context, options] { return heartbeat(context, *options); });
}

}  // namespace leasehold::cli
