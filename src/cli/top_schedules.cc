// The panel of schedules: what is due, what runs, how it went.
#include <algorithm>
#include <tuple>

#include "cli/print.h"
#include "cli/schedule_text.h"
#include "cli/top_panel.h"

namespace leasehold::cli {
namespace {

std::vector<std::string> row_of(const ScheduleInfo& schedule) {
  return {short_text(schedule.name), coloured(schedule.state), shown_next(schedule),
          shown_last(schedule),      shown_holder(schedule),   short_text(shown_rule(schedule.options.rule))};
}

/// Whoever has fallen silent, then what runs or should, then what waits, then what is not to run.
int urgency(ScheduleState state) {
  switch (state) {
    case ScheduleState::expired: return 0;
    case ScheduleState::running: return 1;
    case ScheduleState::due: return 2;
    case ScheduleState::waiting: return 3;
    case ScheduleState::paused: break;
  }
  return 4;
}

std::vector<ScheduleInfo> in_order(std::vector<ScheduleInfo> schedules) {
  const auto place = [](const ScheduleInfo& schedule) {
    return std::tuple(urgency(schedule.state), schedule.next_run_at, std::string_view(schedule.name));
  };
  std::sort(schedules.begin(), schedules.end(),
            [&](const ScheduleInfo& a, const ScheduleInfo& b) { return place(a) < place(b); });
  return schedules;
}

TopCount count_of(const std::vector<ScheduleInfo>& schedules, ScheduleState state) {
  const auto is_so = [&](const ScheduleInfo& schedule) { return schedule.state == state; };
  return {static_cast<std::size_t>(std::count_if(schedules.begin(), schedules.end(), is_so)), coloured(state)};
}

}  // namespace

TopPanel schedule_panel(const TopPicture& picture) {
  const auto& schedules = picture.schedules;
  TopPanel panel{
      .name = "schedules",
      .summary = summary_of({count_of(schedules, ScheduleState::running), count_of(schedules, ScheduleState::expired),
                             count_of(schedules, ScheduleState::due), count_of(schedules, ScheduleState::waiting),
                             count_of(schedules, ScheduleState::paused)},
                            schedules.size()),
      .columns = {{"SCHEDULE", Column::may_be_cut},
                  "STATE",
                  "NEXT",
                  "LAST",
                  {"HOLDER", Column::may_be_cut},
                  {"RULE", Column::may_be_cut}},
      .rows = {}};
  for (const auto& schedule : in_order(schedules)) panel.rows.push_back(row_of(schedule));
  return panel;
}

}  // namespace leasehold::cli
