// leasehold schedule ls: all schedules, one line each.
#include <memory>

#include "cli/command.h"
#include "cli/print.h"
#include "cli/report.h"
#include "cli/schedule_text.h"
#include "cli/session_live.h"
#include "cli/session_text.h"
#include "cli/table.h"
#include "wire/wire.h"

namespace leasehold::cli {
namespace {

struct ScheduleLsOptions {
  int limit = 1000;
  bool watch = false;
};

std::vector<std::string> table_of(const std::vector<ScheduleInfo>& schedules) {
  Table table({{"NAME", Column::may_be_cut},
               "STATE",
               {"RULE", Column::may_be_cut},
               "NEXT",
               "LAST",
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
  add_number(*command, "--limit", options->limit, 1, 1'000'000, "At most N (default 1000)");
  command->add_flag("-w,--watch", options->watch,
                    "Go on until interrupted: redrawn in place on a terminal, otherwise a line for every change");
  set_action(*command, context, [&context, options] { return list(context, *options); });
}

}  // namespace leasehold::cli
