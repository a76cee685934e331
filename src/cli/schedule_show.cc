// leasehold schedule show: all there is to know about one.
#include <memory>

#include "cli/command.h"
#include "cli/print.h"
#include "cli/report.h"
#include "cli/schedule_options.h"
#include "cli/schedule_text.h"
#include "cli/session_text.h"
#include "core/duration.h"
#include "wire/wire.h"

namespace leasehold::cli {
namespace {

std::string joined(const std::vector<std::string>& words) { return fmt::format("{}", fmt::join(words, " ")); }

void print_definition(const ScheduleOptions& options) {
  print_field("rule", shown_rule(options.rule));
  if (options.on_fail) print_field("on failure", shown_between(*options.on_fail));
  print_field("lease", format_duration(options.ttl));
  if (std::holds_alternative<CronRule>(options.rule)) {
    const auto after = options.misfire == Misfire::skip ? " after " + format_duration(options.misfire_after) : "";
    print_field("misfire", to_string(options.misfire) + after);
  }
  print_text("queue", options.queue);
  print_text("payload", options.payload);
  print_text("command", joined(options.command));
}

void print_pause(const ScheduleInfo& schedule) {
  if (!schedule.paused_at) return;
  print_field("paused", with_distance(*schedule.paused_at, schedule.wall_now));
  print_text("reason", schedule.paused_reason);
}

void print_next(const ScheduleInfo& schedule, const ScheduleClock& clock) {
  const bool known = shown_next(schedule) != "-";
  const auto when = !known                                     ? "-"
                    : schedule.state == ScheduleState::waiting ? clock.time_and_distance(schedule.next_run_at)
                                                               : shown_next(schedule);
  print_field("next run", schedule.next_cause == "scheduled" || !known
                              ? when
                              : fmt::format("{}  ({})", when, printable(schedule.next_cause)));
}

void print_last(const RunInfo& run, const ScheduleClock& clock) {
  print_field("last run",
              fmt::format("{}  {}", coloured_outcome(run.outcome), clock.time_and_distance(run.occurrence)));
  if (const auto took = run.took(); took && !run.job) print_field("took", format_duration(*took));
  print_text("by", run.holder);
  if (run.job) print_field("job", std::to_string(*run.job));
  print_text("error", run.error);
  print_text("counts", run.counts);
}

int show(const Context& context, const std::string& name) {
  auto store = context.open_store();
  if (!store) return report(context, store.error());
  const auto schedule = store->schedules().show(name);
  if (!schedule) return report(context, schedule.error());
  if (context.json) {
    print_line(wire::to_json(*schedule));
    return exit_code::ok;
  }
  const ScheduleClock clock(schedule->options.rule, schedule->wall_now);
  print_field("schedule", printable(schedule->name));
  print_field("state", coloured(schedule->state));
  print_definition(schedule->options);
  print_pause(*schedule);
  print_next(*schedule, clock);
  if (schedule->current) {
    print_field("running", describe_holder(*schedule->current));
    print_field("token", std::to_string(schedule->current->token.value));
  }
  if (schedule->last) print_last(*schedule->last, clock);
  print_field("created", with_distance(schedule->created_at, schedule->wall_now));
  return exit_code::ok;
}

}  // namespace

void add_schedule_show(CLI::App& parent, Context& context) {
  auto* command = add_command(
      parent, context, "show",
      "Tell how a schedule is defined, when it is due, who runs it and how its last run went (exit code 4: unknown)",
      {"leasehold schedule show refresh", "leasehold schedule show refresh --json | jq .next_in_seconds"});
  auto name = std::make_shared<std::string>();
  add_schedule_name(*command, *name);
  set_action(*command, context, [&context, name] { return show(context, *name); });
}

}  // namespace leasehold::cli
