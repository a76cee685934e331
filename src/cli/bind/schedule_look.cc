// leasehold schedule show, ls.
#include <memory>

#include "base/time_text.h"
#include "cli/bind/schedule_options.h"
#include "cli/command.h"
#include "cli/print/print.h"
#include "cli/print/report.h"
#include "cli/print/schedule_text.h"
#include "cli/print/session_text.h"
#include "cli/print/table.h"
#include "wire/wire.h"

namespace leasehold::cli {

// leasehold schedule show: all there is to know about one.
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
  print_block("error", run.error);
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

// leasehold schedule ls: all schedules, one line each.
namespace {

struct ScheduleLsOptions {
  int limit = defaults::list_limit;
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

/// What is worth a line of its own when it changes.
std::string gist_of(const ScheduleInfo& schedule) {
  auto text = fmt::format("{}, {}", to_string(schedule.state), shown_rule(schedule.options.rule));
  if (schedule.current) text += ", held by " + shown_holder(schedule);
  if (schedule.last) {
    text += fmt::format(", last run {} at {}", schedule.last->outcome,
                        local_time(schedule.last->finished_at.value_or(schedule.last->occurrence), schedule.wall_now));
  }
  return schedule.paused_reason.empty() ? text : fmt::format("{}: {}", text, on_one_line(schedule.paused_reason));
}

Result<ListPicture> look_at(const Store& store, int limit) {
  const auto schedules = store.schedules().list(limit);
  if (!schedules) return schedules.error();
  ListPicture picture{.table = table_of(*schedules), .entries = {}, .json = wire::to_json(*schedules)};
  for (const auto& schedule : *schedules) picture.entries[schedule.name] = gist_of(schedule);
  return picture;
}

int list(const Context& context, const ScheduleLsOptions& options) {
  auto store = context.open_store();
  if (!store) return report(context, store.error());
  const WatchedList list{
      .what = "schedules", .limit = options.limit, .look = [&] { return look_at(*store, options.limit); }};
  return options.watch ? watch_list(context, *store, list) : print_list(context, list);
}

}  // namespace

void add_schedule_ls(CLI::App& parent, Context& context) {
  auto* command = add_command(parent, context, "ls", "List schedules: when they are due, how they went, who runs them",
                              {"leasehold schedule ls", "leasehold schedule ls --watch",
                               "leasehold schedule ls --json | jq -r '.[] | select(.state == \"due\") | .name'"});
  auto options = std::make_shared<ScheduleLsOptions>();
  add_limit(*command, "--limit", options->limit, "At most N");
  command->add_flag("-w,--watch", options->watch,
                    "Go on until interrupted: redrawn in place on a terminal, otherwise a line for every change");
  set_action(*command, context, [&context, options] { return list(context, *options); });
}

}  // namespace leasehold::cli
