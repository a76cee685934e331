// leasehold job heartbeat: extend the lease of a job, and tell how far the work is.
#include <memory>

#include "cli/command.h"
#include "cli/job_options.h"
#include "cli/print.h"
#include "cli/report.h"
#include "core/duration.h"
#include "wire/wire.h"

namespace leasehold::cli {
namespace {

struct JobHeartbeatOptions {
  HeldJob job;
  int percent = 0;
  CLI::Option* percent_given = nullptr;
  std::string message;
  std::string stage;
  Duration ttl{};
};

int heartbeat(const Context& context, const JobHeartbeatOptions& options) {
  auto store = context.open_store();
  if (!store) return report(context, store.error());
  Progress progress{.message = options.message, .stage = options.stage};
  if (options.percent_given->count() > 0) progress.percent = options.percent;
  const auto& [id, token] = options.job;
  const auto extended = store->jobs().heartbeat(id, token, progress, options.ttl);
  if (!extended) return report(context, extended.error());
  if (context.json) {
    print_line(wire::to_json(id, *extended));
    return exit_code::ok;
  }
  print("extended {}  until {} ({}){}", id, local_time(extended->expires_at, extended->expires_at - extended->ttl),
        format_duration(extended->ttl), extended->cancel_requested ? "  cancel requested" : "");
  if (extended->cancel_requested) {
    say("somebody wants job {} to stop: give it up with `leasehold job release`, it will not run again", id);
  }
  return exit_code::ok;
}

}  // namespace

void add_job_heartbeat(CLI::App& parent, Context& context) {
  auto* command =
      add_command(parent, context, "heartbeat",
                  "Extend the lease of a job that is still held; one that has expired is lost (exit code 76)",
                  {"leasehold job heartbeat 17 --token 1763200000000000",
                   "leasehold job heartbeat --percent 40 --stage testing --message 'suite 4 of 10'    # under `work`",
                   "leasehold job heartbeat 17 --token \"$token\" --json | jq .cancel_requested"});
  auto options = std::make_shared<JobHeartbeatOptions>();
  add_held_job(*command, options->job);
  options->percent_given = add_number(*command, "--percent", options->percent, 0, 100, "How much is done");
  command->add_option("--message", options->message, "What is going on, in a few words")->type_name("TEXT");
  command->add_option("--stage", options->stage, "Where in its course the work is: rebasing, testing, merging")
      ->type_name("WORD");
  add_duration(*command, "--ttl", options->ttl, "A new ttl for the lease (default: it keeps its own)");
  set_action(*command, context, [&context, options] { return heartbeat(context, *options); });
}

}  // namespace leasehold::cli
