// leasehold schedule show, ls.
#include <memory>

#include "base/time_text.h"
#include "cli/bind/schedule_options.h"
#include "cli/command.h"
#include "cli/print/list.h"
#include "cli/print/print.h"
#include "cli/print/report.h"
#include "cli/print/schedule_text.h"
#include "cli/print/session_text.h"
#include "cli/print/table.h"
#include "model/json.h"

namespace leasehold::cli {

// leasehold schedule show: one schedule in full.
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
  print_text("reason", schedule.pause_reason);
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
  if (const auto took = run.took(); took && !run.job_id) print_field("took", format_duration(*took));
  if (run.holder) print_text("by", run.holder->name);
  if (run.job_id) print_field("job", std::to_string(*run.job_id));
  print_block("error", run.error);
  print_text("counts", run.counts);
}

int show(const Context& context, const std::string& name) {
  auto store = context.open_store();
  if (!store) return report(context, store.error());
  const auto schedule = store->schedules().show(name);
  if (!schedule) return report(context, schedule.error());
  if (context.json) {
    print_line(model::to_json(*schedule));
    return exit_code::ok;
  }
  const ScheduleClock clock(schedule->options.rule, schedule->wall_now);
  print_field("schedule", printable(schedule->name));
  print_field("state", coloured(schedule->state));
  print_definition(schedule->options);
  print_pause(*schedule);
  print_next(*schedule, clock);
  if (schedule->held_by) {
    print_field("running", describe_holder(*schedule->held_by));
    print_field("token", std::to_string(schedule->held_by->token.value));
  }
  if (schedule->last) print_last(*schedule->last, clock);
  print_field("created", with_distance(schedule->created_at, schedule->wall_now));
  return exit_code::ok;
}

}  // namespace

void add_schedule_show(CLI::App& parent, Context& context) {
  auto* command =
      add_command(parent, context, "show",
                  "Show a schedule: its rule, when it is due, its holder and its last run (exit code 4: unknown)",
                  {"leasehold schedule show refresh", "leasehold schedule show refresh --json | jq .next_in_seconds"});
  auto name = std::make_shared<std::string>();
  add_schedule_name(*command, *name);
  set_action(*command, context, [&context, name] { return show(context, *name); });
}

// leasehold schedule ls: all schedules, one line each.
namespace {

struct ScheduleLsOptions {
  ScheduleFilter filter;
  bool watch = false;
};

std::vector<std::string> table_of(const std::vector<ScheduleInfo>& schedules) {
  Table table({{"NAME", Column::may_be_cut},
               {"STATE", Column::as_it_is, 2},
               {"RULE", Column::may_be_cut},
               {"NEXT", Column::as_it_is, 2},
               {"LAST", Column::as_it_is, 1},
               {"HOLDER", Column::may_be_cut}});
  for (const auto& schedule : schedules) {
    table.add({printable(schedule.name), coloured(schedule.state), shown_rule(schedule.options.rule),
               shown_next(schedule), shown_last(schedule), shown_holder(schedule)});
  }
  return table.lines();
}

/// The text that is worth a line when it changes.
std::string gist_of(const ScheduleInfo& schedule) {
  auto text = fmt::format("{}, {}", to_string(schedule.state), shown_rule(schedule.options.rule));
  if (schedule.held_by) text += ", held by " + shown_holder(schedule);
  if (schedule.last) {
    text += fmt::format(", last run {} at {}", to_string(schedule.last->outcome),
                        local_time(schedule.last->finished_at.value_or(schedule.last->occurrence), schedule.wall_now));
  }
  return schedule.pause_reason.empty() ? text : fmt::format("{}: {}", text, on_one_line(schedule.pause_reason));
}

Result<ListPicture> look_at(const Store& store, const ScheduleFilter& filter) {
  const auto schedules = store.schedules().list(filter);
  if (!schedules) return schedules.error();
  return picture_of(
      *schedules, table_of(schedules->items), [](const auto& schedule) { return schedule.name; },
      [](const auto& each) { return gist_of(each); });
}

int list(const Context& context, const ScheduleLsOptions& options) {
  auto store = context.open_store();
  if (!store) return report(context, store.error());
  return show_list(context, *store, {.what = "schedules", .watch = options.watch, .look = [&] {
                                       return look_at(*store, options.filter);
                                     }});
}

}  // namespace

void add_schedule_ls(CLI::App& parent, Context& context) {
  auto* command = add_command(parent, context, "ls", "List schedules: when they are due, last outcome, holder",
                              {"leasehold schedule ls", "leasehold schedule ls --watch",
                               "leasehold schedule ls --json | jq -r '.items[] | select(.state == \"due\") | .name'"});
  auto options = std::make_shared<ScheduleLsOptions>();
  add_paging(*command, options->filter.max, options->filter.page);
  add_watch(*command, options->watch);
  set_action(*command, context, [&context, options] { return list(context, *options); });
}

}  // namespace leasehold::cli
