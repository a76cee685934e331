// leasehold schedule next, history.
#include <fmt/format.h>
#include <memory>

#include "act/answers.h"
#include "base/time_text.h"
#include "cli/bind/schedule_options.h"
#include "cli/command.h"
#include "cli/print/list.h"
#include "cli/print/print.h"
#include "cli/print/report.h"
#include "cli/print/schedule_text.h"
#include "cli/print/session_text.h"
#include "cli/print/table.h"
#include "leasehold/limits.h"
#include "model/json.h"

namespace leasehold::cli {

// leasehold schedule next: the coming occurrences.
namespace {

struct ScheduleNextOptions {
  std::string name;
  int max = defaults::schedule_next_max;
};

void print_times(const ScheduleInfo& schedule, const std::vector<Timestamp>& times) {
  const auto* cron = std::get_if<CronRule>(&schedule.options.rule);
  const auto zone = cron != nullptr ? cron->zone : std::string();
  const ScheduleClock clock(schedule.options.rule, schedule.wall_now);
  Table table({zone.empty() ? "LOCAL TIME" : zone.c_str(), "UTC", "OCCURRENCE"});
  for (const auto when : times) {
    const auto left = when - schedule.wall_now;
    table.add({clock.time(when), to_string(std::chrono::floor<std::chrono::seconds>(when)),
               left > Duration::zero() ? "in " + format_duration(left) : "now"});
  }
  table.print();
  if (cron != nullptr && cron->jitter > Duration::zero()) {
    say("each of them is due up to {} later; next run: {}", format_duration(cron->jitter),
        clock.time_and_distance(schedule.next_run_at));
  }
}

void print_json(const std::vector<Timestamp>& times) {
  std::vector<act::Occurrence> occurrences;
  for (const auto when : times) occurrences.push_back({when});
  print_line(model::to_json(occurrences));
}

int next(const Context& context, const ScheduleNextOptions& options) {
  auto store = context.open_store();
  if (!store) return report(context, store.error());
  const auto times = store->schedules().next(options.name, options.max);
  if (!times) return report(context, times.error());
  if (context.json) {
    print_json(*times);
    return exit_code::ok;
  }
  const auto schedule = store->schedules().show(options.name);
  if (!schedule) return report(context, schedule.error());
  print_times(*schedule, *times);
  if (schedule->paused_at) say("it is paused: none of them runs before it is resumed");
  return exit_code::ok;
}

}  // namespace

void add_schedule_next(CLI::App& parent, Context& context) {
  auto* command = add_command(
      parent, context, "next",
      "Show the next occurrences, in the schedule's time zone and in UTC; with --every only the next is known",
      {"leasehold schedule next report", "leasehold schedule next report -n 20 --json"});
  auto options = std::make_shared<ScheduleNextOptions>();
  add_schedule_name(*command, options->name);
  add_number(*command, "-n,--max", options->max, 1, bounds::max_next,
             fmt::format("At most N (default {})", options->max));
  set_action(*command, context, [&context, options] { return next(context, *options); });
}

// leasehold schedule history: the result of each occurrence.
namespace {

struct ScheduleHistoryOptions {
  std::string name;
  RunFilter filter;
};

std::string shown_duration(const RunInfo& run) {
  const auto took = run.took();
  return took && !run.job_id ? format_duration(*took) : "-";
}

void print_table(const Page<RunInfo>& runs, const ScheduleInfo& schedule) {
  if (runs.empty()) return say("no runs yet");
  const ScheduleClock clock(schedule.options.rule, schedule.wall_now);
  Table table({"OCCURRENCE",
               {"OUTCOME", Column::as_it_is, 2},
               {"CAUSE", Column::as_it_is, -1},
               {"TOOK", Column::to_the_right},
               {"HOLDER", Column::may_be_cut},
               {"NOTE", Column::may_be_cut, 1}});
  for (const auto& run : runs) {
    table.add({clock.time(run.occurrence), coloured_outcome(run.outcome), printable(run.cause), shown_duration(run),
               run.holder ? on_one_line(run.holder->name) : "-", shown_note(run)});
  }
  table.print();
  say_next_page(runs.next);
}

int history(const Context& context, const ScheduleHistoryOptions& options) {
  auto store = context.open_store();
  if (!store) return report(context, store.error());
  const auto runs = store->schedules().history(options.name, options.filter);
  if (!runs) return report(context, runs.error());
  if (context.json) {
    print_line(model::to_json(*runs));
    return exit_code::ok;
  }
  const auto schedule = store->schedules().show(options.name);
  if (!schedule) return report(context, schedule.error());
  print_table(*runs, *schedule);
  return exit_code::ok;
}

}  // namespace

void add_schedule_history(CLI::App& parent, Context& context) {
  auto* command = add_command(
      parent, context, "history",
      "Show the outcome of each occurrence, latest first: completed, failed, lost, released, enqueued, skipped",
      {"leasehold schedule history refresh", "leasehold schedule history refresh -n 100",
       "leasehold schedule history refresh --json | jq '.items[] | select(.outcome == \"lost\")'"});
  auto options = std::make_shared<ScheduleHistoryOptions>();
  add_schedule_name(*command, options->name);
  add_paging(*command, options->filter.max, options->filter.page);
  set_action(*command, context, [&context, options] { return history(context, *options); });
}

}  // namespace leasehold::cli
