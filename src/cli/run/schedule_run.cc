// leasehold schedule run: runs a command when it is due, once, however many callers try.
#include <fmt/format.h>
#include <memory>
#include <stop_token>
#include <thread>

#include "base/text.h"
#include "base/time_text.h"
#include "cli/bind/schedule_options.h"
#include "cli/command.h"
#include "cli/print/print.h"
#include "cli/print/report.h"
#include "cli/print/schedule_text.h"
#include "cli/run/command_runner.h"
#include "cli/run/command_stops.h"
#include "cli/run/schedule_command.h"
#include "cli/run/wrapped_command.h"
#include "cli/store_trouble.h"
#include "leasehold/limits.h"
#include "run/supervisor.h"

namespace leasehold::cli {
namespace {

using run::Ending;
using run::Supervisor;

constexpr Duration between_tries = std::chrono::seconds(1);

constexpr const char* schedule_command_help =
    "After --: the program and its arguments; no shell is involved. The environment has LEASEHOLD_SCHEDULE, "
    "_SCHEDULE_TOKEN, _SCHEDULE_DB, _OCCURRENCE, _CAUSE, _TOKEN, _EXPIRES_AT and _DB; the command "
    "may write its counts to the file LEASEHOLD_COUNTS_FILE, as JSON. Exit code 0 is a success, any other a failure; a "
    "run stopped by a signal to this process is released, and due again. Whatever happens to this process, leasehold "
    "kills the command and all it started before the lease expires";

struct ScheduleRunOptions {
  std::string name;
  std::string holder;
  ScheduleDefinition definition;
  bool sets = false;
  std::optional<Duration> ttl;  ///< unset: the schedule's ttl
  bool now = false;
  Grace grace;
  std::optional<Duration> timeout;
  SkipManner skip;
  std::string program;
  std::vector<std::string> command;
};

/// One run of the command under its schedule.
class RunOfSchedule {
 public:
  RunOfSchedule(const Context& context, const ScheduleRunOptions& options, Supervisor& supervisor, CountsFile counts,
                HeldRun held)
      : context_(context),
        options_(options),
        supervisor_(supervisor),
        counts_(std::move(counts)),
        held_(std::move(held)),
        text_{.what = "the run of " + leasehold::quoted(options.name), .expiry = "counts as lost"} {}

  int run(const std::string& url) {
    report_missed_runs();
    supervisor_.set_grace(options_.grace.fitting(held_.run.grant.ttl));
    held_.lease.on_extended([this](const Grant& extended) { supervisor_.extend(extended.trusted_until); });
    auto environment = schedule_environment(held_.run, url);
    environment.push_back(counts_.variable());
    supervisor_.set_timeout(options_.timeout);
    supervisor_.start(environment, held_.lease.grant().trusted_until);
    const std::stop_callback on_lost(held_.lease.stop_token(), [this] { supervisor_.stop(); });
    return conclude(supervisor_.wait());
  }

 private:
  void report_missed_runs() const {
    if (options_.skip.quiet) return;
    const auto& run = held_.run;
    if (run.lost) say("leasehold: the previous run was lost: {}", shown_name(run.lost_holder));
    if (run.skipped > 0) say("leasehold: skipped before this run: {}", counted(run.skipped, "occurrence"));
  }

  int conclude(const Ending& ending) {
    if (ending.timed_out && ending.kind != Ending::Kind::survived) {
      say("leasehold: the command {}", timed_out_text(*options_.timeout));
      return settle(ending, timed_out_code);
    }
    switch (ending.kind) {
      case Ending::Kind::exited: return after_exit(ending);
      case Ending::Kind::start_failed:
        say("leasehold: {}", not_started_text(options_.command[0], ending.error));
        // For lack of processes or descriptors: not a failure of the run.
        if (ending.out_of_resources()) return exit_after(held_.lease.release(), ending.exit_code);
        return settle(ending, ending.exit_code);
      case Ending::Kind::lease_lost: return after_loss();
      case Ending::Kind::guardian_died: say("leasehold: {}", guardian_died_text); return settle(ending, own_failure);
      case Ending::Kind::survived: break;
    }
    text_.leave_to_expiry(held_.lease.grant().expires_at);
  }

  int after_exit(const Ending& ending) {
    // The reason for the stop is unknown here; the work is neither done nor failed.
    if (ending.exit_code != 0 && supervisor_.asked_to_stop())
      return exit_after(held_.lease.release(), ending.exit_code);
    return settle(ending, ending.exit_code);
  }

  int settle(const Ending& ending, int code) {
    const bool ok = ending.kind == Ending::Kind::exited && ending.exit_code == 0 && !ending.timed_out;
    const auto error = ok ? "" : ending.timed_out ? timed_out_text(*options_.timeout) : describe_exit(ending);
    const auto counts = counts_reported(counts_, options_.name);
    const RunResult result{.ok = ok, .error = error, .counts = counts};
    auto settled = held_.settle(result);
    // A store that is briefly unreachable does not turn a finished run into a lost one.
    while (!settled && may_come_back(settled.error()) && has_time_for_another_try()) {
      std::this_thread::sleep_for(between_tries);
      settled = held_.settle(result);
    }
    return exit_after(settled ? Result<void>() : Result<void>(settled.error()), code);
  }

  [[nodiscard]] bool has_time_for_another_try() const {
    return BootClock::now() + between_tries < held_.lease.grant().trusted_until;
  }

  /// The exit code after the store has recorded the result, or could not.
  int exit_after(const Result<void>& answer, int code) {
    if (answer) return report_ended(context_, "name", held_.run.grant, code);
    if (answer.error().code == Errc::lost) {
      text_.report_late_loss();
      return report(context_, answer.error());
    }
    text_.report_unreported_end(answer.error(), held_.lease.grant().expires_at);
    return report_ended(context_, "name", held_.run.grant, code);
  }

  [[nodiscard]] int after_loss() const {
    const auto why = held_.lease.lost();
    text_.report_forced_end(why);
    if (why) report(context_, *why);
    return exit_code::lost;
  }

  const Context& context_;
  const ScheduleRunOptions& options_;
  Supervisor& supervisor_;
  const CountsFile counts_;
  HeldRun held_;
  const HeldText text_;
};

/// Makes sure that the schedule has this rule. A role with scope `work` can create a schedule, but not change one: then
/// the run follows the existing rule, and this reports it.
Result<void> set_schedule(const Schedules& schedules, const ScheduleRunOptions& options) {
  auto definition = options.definition.options();
  if (!definition) return std::move(definition).error();
  if (options.ttl) definition->ttl = *options.ttl;
  auto ensured = schedules.ensure(options.name, *definition);
  if (!ensured) return std::move(ensured).error();
  if (!ensured->differs) return {};
  auto saved = schedules.set(options.name, *definition);
  if (saved) return {};
  if (saved.error().code != Errc::denied) return std::move(saved).error();
  say("leasehold: {} has another rule, and only the scope admin may change it: this run follows the stored rule",
      printable(options.name));
  return {};
}

int run_with(const Context& context, const ScheduleRunOptions& options, Supervisor& supervisor) {
  const auto url = context.store_url();
  if (!url) return report_failure(context, url.error());
  auto counts = CountsFile::open();
  if (!counts) return report_failure(context, counts.error());
  const auto store = context.open_or_make_store();
  if (!store) return report_failure(context, store.error());
  const auto schedules = store->schedules();
  if (options.sets) {
    if (const auto saved = set_schedule(schedules, options); !saved) return report_failure(context, saved.error());
  }
  auto held = schedules.hold(options.name, {.now = options.now, .ttl = options.sets ? std::nullopt : options.ttl},
                             {.holder = holder_guarded_by(supervisor.guardian(), options.holder)});
  if (!held && is_skip(held.error())) return report_skip(context, options.name, held.error(), options.skip);
  if (!held) return report_failure(context, held.error());
  return RunOfSchedule(context, options, supervisor, std::move(*counts), std::move(*held)).run(*url);
}

int run_scheduled(const Context& context, const ScheduleRunOptions& options) {
  if (const auto definition = options.definition.options(); !definition) return report(context, definition.error());
  if (const auto checked = check_timeout(options.timeout); !checked) return report(context, checked.error());
  // First of all, before there is a thread or a connection that a fork would copy.
  auto supervisor = Supervisor::fork_guardian(options.command, options.grace.asked_for,
                                              [](const std::string& line) { say("leasehold: {}", line); });
  if (!supervisor) return report_failure(context, supervisor.error());
  return run_with(context, options, **supervisor);
}

}  // namespace

void add_schedule_run(CLI::App& parent, Context& context) {
  auto* command = add_command(
      parent, context, "run",
      "Run a command if its schedule is due and not held; kill it before the lease expires (exit code 3: not due or "
      "paused, 75: held)",
      {"leasehold schedule run refresh --every 10m-15m --on-fail 20m-40m -- ./refresh",
       "leasehold schedule run report --cron '0 6 * * *' --tz Europe/Berlin -q -E 0 -- ./report    # from cron, "
       "anywhere",
       R"(leasehold schedule run refresh --now -- sh -c './refresh > "$LEASEHOLD_COUNTS_FILE"')"});
  auto options = std::make_shared<ScheduleRunOptions>();
  add_schedule_name(*command, options->name);
  options->definition.add_rule(*command);
  add_duration(*command, "--ttl", options->ttl,
               fmt::format("How long the lease lasts without a heartbeat (default: the schedule's, {} unless set)",
                           format_duration(defaults::schedule_ttl)));
  command->add_flag("--now", options->now, "Run even if it is not due, but never while it is held");
  add_grace(*command, options->grace, "at most a third of the ttl");
  add_timeout(*command, options->timeout,
              "then SIGTERM, after the grace SIGKILL; the run has failed, and the exit code is 124");
  add_holder(*command, options->holder);
  add_skip_exit_code(*command, options->skip.code);
  command->add_flag("-q,--quiet", options->skip.quiet, "Print nothing when it is not due, held or paused");
  // The parser knows only the program; prefix_command leaves the words after it unchanged.
  command->prefix_command();
  command->add_option("COMMAND", options->program, schedule_command_help)->required()->type_name("");
  command->callback([&context, options, command] {
    options->command = words_after_mark(
        *command, context, {"NAME", options->name, "leasehold schedule run NAME -- COMMAND..."}, options->program);
    options->sets = options->definition.given();
    context.action = [&context, options] { return run_scheduled(context, *options); };
  });
}

}  // namespace leasehold::cli
