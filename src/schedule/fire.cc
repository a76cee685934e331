// Schedules that put a job into a queue at each occurrence; and which ones are due.
#include "core/limits.h"
#include "lease/retry.h"
#include "schedule/plan.h"
#include "schedule/schedules.h"

namespace leasehold {

Result<Fired> Schedules::fire(std::string_view name) const {
  if (auto checked = check_name("schedule name", name); !checked) return std::move(checked).error();
  sql::ScheduleFire statement{};
  statement.name = name;
  // Not repeated where the answer was lost: the occurrence is taken then, and another one may be due by now.
  const auto deadline = impl_->deadline();
  auto answer = schedule::ask_with_plan(*impl_->backend, statement, deadline, schedule::plan_for_taking);
  if (!answer) return std::move(answer).error();
  if (answer->outcome == "busy") {
    return Error{.code = Errc::busy, .message = schedule::describe(name) + " is being fired or changed right now"};
  }
  if (answer->outcome != "enqueued") return schedule::refusal_from(*answer);
  return Fired{.job = answer->job_id.value_or(0),
               .occurrence = answer->occurrence.value_or(Timestamp{}),
               .cause = std::move(answer->cause).value_or(""),
               .skipped = answer->skipped};
}

Result<DueSchedules> Schedules::due(int most, const DueSchedule* after) const {
  if (auto checked = check_limit(most); !checked) return std::move(checked).error();
  sql::ScheduleDue statement{};
  statement.most = most;
  if (after != nullptr) {
    statement.after_at = after->due_at;
    statement.after_name = after->name;
  }
  auto rows = storage::query(*impl_->backend, statement, impl_->deadline());
  if (!rows) return std::move(rows).error();
  DueSchedules found;
  for (auto& row : *rows) {
    if (row.next_run_at > row.wall_now) {
      found.next_in = row.next_run_at - row.wall_now;
    } else {
      found.due.push_back(
          {.name = std::move(row.name), .enqueues = row.fires, .has_command = row.runs, .due_at = row.next_run_at});
    }
  }
  return found;
}

}  // namespace leasehold
