// leasehold schedule acquire: take the occurrence that is due; no process stays behind.
#include <memory>

#include "cli/caller.h"
#include "cli/command.h"
#include "cli/print.h"
#include "cli/report.h"
#include "cli/schedule_options.h"
#include "cli/schedule_skip.h"
#include "core/duration.h"
#include "wire/wire.h"

namespace leasehold::cli {
namespace {

struct ScheduleAcquireCommand {
  std::string name;
  std::string holder;
  ScheduleAcquireOptions acquire;
  SkipManner skip;
  bool quiet = false;
};

void print_run(const Context& context, const ScheduleAcquireCommand& options, const ScheduleRun& run) {
  if (context.json) return print_line(wire::to_json(run));
  const auto& grant = run.grant;
  if (options.quiet) return print("{}", grant.token.value);
  print("granted {}  token {}  until {} ({})  {}, due at {}{}", printable(grant.key), grant.token.value,
        local_time(grant.expires_at, grant.acquired_at), format_duration(grant.ttl), run.cause,
        local_time(run.occurrence, grant.acquired_at),
        grant.replayed ? "  again: this request id was granted before" : "");
  if (run.lost) say("  the run before was lost: {}", printable(run.lost_holder));
  if (run.skipped > 0) say("  missed before it, and skipped: {}", counted(run.skipped, "occurrence"));
}

int acquire(const Context& context, ScheduleAcquireCommand& options) {
  auto store = context.open_store();
  if (!store) return report(context, store.error());
  options.acquire.holder = calling_process(options.holder);
  const auto schedules = store->schedules();
  const auto run = schedules.acquire(options.name, options.acquire);
  if (!run && is_skip(run.error())) return tell_skip(context, schedules, options.name, run.error(), options.skip);
  if (!run) return report(context, run.error());
  print_run(context, options, *run);
  return exit_code::ok;
}

}  // namespace

void add_schedule_acquire(CLI::App& parent, Context& context) {
  auto* command = add_command(
      parent, context, "acquire",
      "Take the occurrence that is due, if nobody has it (exit code 3: it is not due, held or paused)",
      {"leasehold schedule acquire refresh", "leasehold schedule acquire refresh --now --lease 1h",
       "token=$(leasehold schedule acquire refresh -q) && ./refresh && leasehold schedule finish refresh --ok --token "
       "\"$token\""});
  auto options = std::make_shared<ScheduleAcquireCommand>();
  add_schedule_name(*command, options->name);
  command->add_flag("--now", options->acquire.now, "Even if it is not due; never while somebody else has it");
  add_duration(*command, "--lease", options->acquire.ttl,
               "How long the lease lasts without a heartbeat (default: as the schedule says)");
  add_holder(*command, options->holder);
  command
      ->add_option("--request-id", options->acquire.request_id,
                   "Makes repeating harmless: the same id gives the first answer again")
      ->check(not_empty)
      ->type_name("ID");
  add_skip_exit_code(*command, options->skip.code);
  command->add_flag("-q,--quiet", options->quiet, "Print nothing but the token");
  set_action(*command, context, [&context, options] { return acquire(context, *options); });
}

}  // namespace leasehold::cli
