// leasehold schedule daemon: does what schedules are due for, for as long as it is let.
#include <memory>
#include <optional>

#include "cli/command.h"
#include "cli/command_stops.h"
#include "cli/report.h"
#include "cli/schedule_command.h"
#include "cli/schedule_daemon_log.h"
#include "cli/wrapped_command.h"
#include "leasehold/scheduler.h"
#include "run/warden.h"

namespace leasehold::cli {
namespace {

constexpr int most_at_once = 1000;
/// Commands are ended here, by CommandStops, and not by the runtime: their runs are given back when they are gone.
constexpr Duration without_end = std::chrono::years(1);

struct ScheduleDaemonOptions {
  bool commands = false;
  bool no_enqueue = false;
  bool once = false;
  int concurrency = 4;
  Duration grace = std::chrono::seconds(10);
  std::string holder;
};

int code_after_once(const ScheduleSummary& summary) {
  if (summary.lost > 0) return exit_code::lost;
  if (summary.failed + summary.released > 0) return exit_code::failure;
  return summary.enqueued + summary.ok > 0 ? exit_code::ok : exit_code::nothing_to_do;
}

int conclude(const Context& context, const ScheduleDaemonOptions& options, const ScheduleSummary& summary, int signal) {
  tell_summary(context, summary);
  // Without an end of its own, being told to stop is how it ends well.
  if (!options.once) return exit_code::ok;
  return signal != 0 ? exit_code_after(signal) : code_after_once(summary);
}

SchedulerOptions scheduler_options(const ScheduleDaemonOptions& options, Holder holder) {
  SchedulerOptions made;
  made.concurrency = options.concurrency;
  made.grace = without_end;
  made.enqueue = !options.no_enqueue;
  made.once = options.once;
  made.holder = std::move(holder);
  log_events(made);
  return made;
}

/// `warden` is there where commands are to be run.
int serve(const Context& context, const ScheduleDaemonOptions& options, const run::Warden* warden) {
  CommandStops stops;
  const SteppedStop stop(stops, warden != nullptr ? options.grace : Duration(0));
  const auto url = context.store_url();
  if (!url) return report(context, url.error());
  const auto store = context.open_or_make_store();
  if (!store) return report(context, store.error());
  auto holder = warden != nullptr ? holder_guarded_by(warden->process(), options.holder) : Holder::self(options.holder);
  std::optional<ScheduleCommand> commands;
  Scheduler scheduler(*store, scheduler_options(options, std::move(holder)));
  if (warden != nullptr) {
    commands.emplace(ScheduleCommand::Settings{.url = with_absolute_path(*url), .grace = options.grace}, *warden,
                     stops);
    scheduler.handle_commands(
        [&commands](const ScheduleRun& run, const std::vector<std::string>& command, RunContext& run_context) {
          return commands->run(run, command, run_context);
        });
  }
  const auto summary = scheduler.run(stops.claiming.get_token());
  if (!summary) return report(context, summary.error());
  if (commands && commands->fatal_code() != 0) return commands->fatal_code();
  return conclude(context, options, *summary, stop.signal());
}

int run_daemon(const Context& context, const ScheduleDaemonOptions& options) {
  if (!options.commands) return serve(context, options, nullptr);
  // First of all, while there is neither a thread nor a connection that a fork would copy. Every command is another.
  const auto warden = run::Warden::fork({"leasehold"});
  if (!warden) return report(context, warden.error());
  return serve(context, options, warden->get());
}

}  // namespace

void add_schedule_daemon(CLI::App& parent, Context& context) {
  auto* command = add_command(
      parent, context, "daemon",
      "Wait for schedules to be due, put their jobs into queues and run their commands; any number of these, anywhere",
      {"leasehold schedule daemon", "leasehold schedule daemon --commands --concurrency 8",
       "leasehold schedule daemon --once --commands    # what is due now, then exit"});
  auto options = std::make_shared<ScheduleDaemonOptions>();
  command->add_flag("--commands", options->commands,
                    "Run the commands that schedules were defined with, as this user: whoever may define schedules may "
                    "have anything run here. They have the environment that `schedule run` gives; exit code 0 is a "
                    "success, anything else a failure, with the end of stderr as its text");
  command->add_flag("--no-enqueue", options->no_enqueue, "Leave schedules with a queue to others");
  add_number(*command, "-c,--concurrency", options->concurrency, 1, most_at_once, "Commands at once (default 4)");
  add_duration(*command, "--grace", options->grace,
               "How long running commands get to finish when this process is told to stop, and between SIGTERM and "
               "SIGKILL (default 10s; there at most a third of the lease)");
  add_holder(*command, options->holder);
  command->add_flag("--once", options->once,
                    "Only what is due now, then exit: 0 all went well, 1 something failed, 3 nothing was due, 76 a run "
                    "was lost");
  set_action(*command, context, [&context, options] { return run_daemon(context, *options); });
}

}  // namespace leasehold::cli
