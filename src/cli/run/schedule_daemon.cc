// leasehold schedule daemon: runs due schedules until it is stopped.
#include <fmt/format.h>

#include <memory>
#include <optional>

#include "base/time_text.h"
#include "cli/command.h"
#include "cli/print/print.h"
#include "cli/print/report.h"
#include "cli/print/session_text.h"
#include "cli/run/command_stops.h"
#include "cli/run/schedule_command.h"
#include "cli/run/wrapped_command.h"
#include "cli/store_trouble.h"
#include "leasehold/limits.h"
#include "leasehold/scheduler.h"
#include "model/json.h"
#include "run/warden.h"

namespace leasehold::cli {
namespace {

void log(std::string_view schedule, std::string_view what) {
  const auto now = wall_clock();
  say("{}  {}: {}", local_time(now, now), printable(schedule), what);
}

/// ", 3 occurrences before it skipped"
std::string shown_skipped(std::int64_t skipped) {
  return skipped > 0 ? fmt::format(", {} skipped", counted(skipped, "occurrence")) : "";
}

std::string shown_occurrence(Timestamp occurrence, std::string_view cause) {
  return fmt::format("{}, due at {}", printable(cause), local_time(occurrence, wall_clock()));
}

void log_fired(std::string_view schedule, const Fired& fired) {
  log(schedule, fmt::format("fired: job {} ({}{})", fired.job_id, shown_occurrence(fired.occurrence, fired.cause),
                            shown_skipped(fired.skipped)));
}

void log_started(const ScheduleRun& run) {
  const auto lost = run.lost ? fmt::format(", the previous run was lost: {}", shown_name(run.lost_holder)) : "";
  log(run.grant.key,
      fmt::format("started ({}{}{})", shown_occurrence(run.occurrence, run.cause), shown_skipped(run.skipped), lost));
}

std::string described(const RunVerdict& verdict) {
  switch (verdict.kind) {
    case RunVerdict::Kind::complete: return "completed";
    case RunVerdict::Kind::fail: return "failed: " + on_one_line(first_line(verdict.error));
    case RunVerdict::Kind::release: break;
  }
  return "released";
}

void log_settled(const ScheduleRun& run, const RunVerdict& verdict, const Result<RunSettled>& finished) {
  if (!finished) return log(run.grant.key, fmt::format("lost: {}", printable(finished.error().message)));
  const auto next = verdict.kind == RunVerdict::Kind::release ? std::string("it is due again")
                                                              : "next run in " + format_duration(finished->next_in);
  log(run.grant.key, fmt::format("{}; {}", described(verdict), next));
}

/// Makes `options` log every event on stderr, one line each.
void log_events(SchedulerOptions& options) {
  options.on_fire = log_fired;
  options.on_start = log_started;
  options.on_settle = log_settled;
  options.on_trouble = [](const Error& error) { say("leasehold: {}", printable(error.message)); };
}

/// The summary at the end.
void report_summary(const Context& context, const ScheduleSummary& summary) {
  if (context.json) {
    print_line(model::json_object({{"enqueued", summary.enqueued},
                                   {"started", summary.started},
                                   {"completed", summary.completed},
                                   {"failed", summary.failed},
                                   {"released", summary.released},
                                   {"lost", summary.lost}}));
    return;
  }
  std::string text;
  for (const auto& [count, what] : {std::pair{summary.enqueued, "enqueued"}, std::pair{summary.completed, "completed"},
                                    std::pair{summary.failed, "failed"}, std::pair{summary.released, "released"},
                                    std::pair{summary.lost, "lost"}}) {
    if (count > 0) text += fmt::format("{}{} {}", text.empty() ? "" : ", ", count, what);
  }
  say("leasehold: {}", text.empty() ? "nothing was due" : text);
}

struct ScheduleDaemonOptions {
  bool commands = false;
  bool no_enqueue = false;
  bool once = false;
  int concurrency = defaults::scheduler_concurrency;
  Duration grace = default_grace;
  std::string holder;
};

int code_after_once(const ScheduleSummary& summary) {
  if (summary.lost > 0) return exit_code::lost;
  if (summary.failed + summary.released > 0) return exit_code::failure;
  return summary.enqueued + summary.completed > 0 ? exit_code::ok : exit_code::nothing_to_do;
}

int conclude(const Context& context, const ScheduleDaemonOptions& options, const ScheduleSummary& summary, int signal) {
  report_summary(context, summary);
  // It has no end of its own, so a requested stop is a success.
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

/// `warden` is set if commands are to be run.
int serve(const Context& context, const ScheduleDaemonOptions& options, const run::Warden* warden) {
  CommandStops stops;
  const SteppedStop stop(stops, warden != nullptr ? options.grace : Duration(0));
  const auto url = context.store_url();
  if (!url) return report(context, url.error());
  auto patience = as_long_as_needed;
  const auto store = open_within(patience, context, Opening::or_make, stops.claiming.get_token());
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
  // First of all, before there is a thread or a connection that a fork would copy. Every run has its own command.
  const auto warden = run::Warden::fork({"leasehold"});
  if (!warden) return report(context, warden.error());
  return serve(context, options, warden->get());
}

}  // namespace

void add_schedule_daemon(CLI::App& parent, Context& context) {
  auto* command =
      add_command(parent, context, "daemon",
                  "Enqueue the jobs and run the commands of due schedules; run any number of daemons, anywhere",
                  {"leasehold schedule daemon", "leasehold schedule daemon --commands --concurrency 8",
                   "leasehold schedule daemon --once --commands    # run what is due now, then exit"});
  auto options = std::make_shared<ScheduleDaemonOptions>();
  command->add_flag("--commands", options->commands,
                    "Run the commands of schedules, as this user: anyone who may set schedules can run anything here. "
                    "The environment is that of `schedule run`; exit code 0 is a success, any other a failure, with "
                    "the end of stderr as its text");
  command->add_flag("--no-enqueue", options->no_enqueue, "Leave schedules with a queue to other daemons");
  add_number(*command, "-c,--concurrency", options->concurrency, 1, bounds::max_concurrency,
             fmt::format("Commands at once (default {})", options->concurrency));
  add_duration(*command, "--grace", options->grace,
               fmt::format("Time for running commands to finish when this process is stopped, and between "
                           "SIGTERM and SIGKILL (default {}; between the signals at most a third of the ttl)",
                           format_duration(options->grace)));
  add_holder(*command, options->holder);
  command->add_flag("--once", options->once,
                    "Run what is due now, then exit: 0 all succeeded, 1 something failed, 3 nothing was due, 76 a run "
                    "was lost");
  set_action(*command, context, [&context, options] { return run_daemon(context, *options); });
}

}  // namespace leasehold::cli
