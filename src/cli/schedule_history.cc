// leasehold schedule history: what became of each occurrence.
#include <memory>

#include "cli/command.h"
#include "cli/print.h"
#include "cli/report.h"
#include "cli/schedule_options.h"
#include "cli/schedule_text.h"
#include "cli/session_text.h"
#include "cli/table.h"
#include "core/duration.h"
#include "wire/wire.h"

namespace leasehold::cli {
namespace {

struct ScheduleHistoryOptions {
  std::string name;
  int limit = 20;
};

std::string shown_duration(const RunInfo& run) {
  const auto took = run.took();
  return took && !run.job ? format_duration(*took) : "-";
}

void print_table(const std::vector<RunInfo>& runs, const ScheduleInfo& schedule, int limit) {
  if (runs.empty()) return say("no runs yet");
  const ScheduleClock clock(schedule.options.rule, schedule.wall_now);
  Table table({"OCCURRENCE",
               "OUTCOME",
               "CAUSE",
               {"TOOK", Column::to_the_right},
               {"HOLDER", Column::may_be_cut},
               {"NOTE", Column::may_be_cut}});
  for (const auto& run : runs) {
    table.add({clock.time(run.occurrence), coloured_outcome(run.outcome), printable(run.cause), shown_duration(run),
               run.holder.empty() ? "-" : on_one_line(run.holder), shown_note(run)});
  }
  table.print();
  if (runs.size() == static_cast<std::size_t>(limit)) say("only the latest {} are shown: see --limit", limit);
}

int history(const Context& context, const ScheduleHistoryOptions& options) {
  auto store = context.open_store();
  if (!store) return report(context, store.error());
  const auto runs = store->schedules().history(options.name, options.limit);
  if (!runs) return report(context, runs.error());
  if (context.json) {
    print_line(wire::to_json(*runs));
    return exit_code::ok;
  }
  const auto schedule = store->schedules().show(options.name);
  if (!schedule) return report(context, schedule.error());
  print_table(*runs, *schedule, options.limit);
  return exit_code::ok;
}

}  // namespace

void add_schedule_history(CLI::App& parent, Context& context) {
  auto* command = add_command(
      parent, context, "history",
      "Tell what became of each occurrence, the latest first: ok, failed, lost, released, enqueued, skipped",
      {"leasehold schedule history refresh", "leasehold schedule history refresh -n 100",
       "leasehold schedule history refresh --json | jq '.[] | select(.outcome == \"lost\")'"});
  auto options = std::make_shared<ScheduleHistoryOptions>();
  add_schedule_name(*command, options->name);
  add_number(*command, "-n,--limit", options->limit, 1, 1'000'000, "At most N (default 20)");
  set_action(*command, context, [&context, options] { return history(context, *options); });
}

}  // namespace leasehold::cli
