// leasehold schedule next: the occurrences to come.
#include <memory>

#include "cli/command.h"
#include "cli/print.h"
#include "cli/report.h"
#include "cli/schedule_options.h"
#include "cli/schedule_text.h"
#include "cli/table.h"
#include "core/duration.h"
#include "wire/wire.h"

namespace leasehold::cli {
namespace {

struct ScheduleNextOptions {
  std::string name;
  int count = 5;
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
    say("each of them is due up to {} later; the next run: {}", format_duration(cron->jitter),
        clock.time_and_distance(schedule.next_run_at));
  }
}

void print_json(const std::vector<Timestamp>& times) {
  std::string text;
  for (const auto when : times) text += fmt::format("{}\"{}\"", text.empty() ? "" : ",", to_string(when));
  print("[{}]", text);
}

int next(const Context& context, const ScheduleNextOptions& options) {
  auto store = context.open_store();
  if (!store) return report(context, store.error());
  const auto times = store->schedules().next(options.name, options.count);
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
      "Tell the next occurrences, in the schedule's time zone and in UTC; of one with a pause only the next is known",
      {"leasehold schedule next report", "leasehold schedule next report -n 20 --json"});
  auto options = std::make_shared<ScheduleNextOptions>();
  add_schedule_name(*command, options->name);
  add_number(*command, "-n,--count", options->count, 1, 10'000, "So many (default 5)");
  set_action(*command, context, [&context, options] { return next(context, *options); });
}

}  // namespace leasehold::cli
