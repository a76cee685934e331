// What operators do to a schedule: trigger, pause, resume, rename, remove.
#include <fmt/format.h>

#include "core/limits.h"
#include "lease/past_dead_holders.h"
#include "lease/retry.h"
#include "schedule/plan.h"
#include "schedule/schedules.h"

namespace leasehold {

Result<std::optional<LeaseInfo>> Schedules::trigger(std::string_view name) const {
  if (auto checked = check_name("schedule name", name); !checked) return std::move(checked).error();
  const sql::ScheduleTrigger statement{.name = name};
  const auto deadline = impl_->deadline();
  auto answer =
      lease::ask_until_free(deadline, [&] { return storage::query_one(*impl_->backend, statement, deadline); });
  if (!answer) return std::move(answer).error();
  if (answer->outcome == "triggered") return schedule::current_from(*answer);
  return schedule::refusal_from(*answer);
}

Result<void> Schedules::pause(std::string_view name, std::string_view reason) const {
  if (auto checked = check_name("schedule name", name); !checked) return checked;
  if (auto checked = check_text("reason", reason); !checked) return checked;
  const sql::SchedulePause statement{.name = name, .reason = reason};
  const auto deadline = impl_->deadline();
  auto answer = lease::ask_again(deadline, [&] { return storage::query_one(*impl_->backend, statement, deadline); });
  if (!answer) return std::move(answer).error();
  if (answer->outcome == "paused") return {};
  if (answer->outcome == "not_found") return schedule::no_such_schedule(name);
  return lease::odd_answer(schedule::describe(name), answer->outcome);
}

Result<Timestamp> Schedules::resume(std::string_view name) const {
  if (auto checked = check_name("schedule name", name); !checked) return std::move(checked).error();
  sql::ScheduleResume statement{};
  statement.name = name;
  const auto deadline = impl_->deadline();
  auto answer = lease::ask_again(deadline, [&] {
    return schedule::ask_with_plan(*impl_->backend, statement, deadline, schedule::plan_for_resuming);
  });
  if (!answer) return std::move(answer).error();
  if (answer->outcome == "resumed") return answer->next_run_at.value_or(answer->wall_now);
  return schedule::refusal_from(*answer);
}

Result<void> Schedules::rename(std::string_view name, std::string_view to) const {
  if (auto checked = check_name("schedule name", name); !checked) return checked;
  if (auto checked = check_name("new schedule name", to); !checked) return checked;
  const sql::ScheduleRename statement{.name = name, .new_name = to};
  const auto deadline = impl_->deadline();
  auto answer =
      lease::ask_until_free(deadline, [&] { return storage::query_one(*impl_->backend, statement, deadline); });
  if (!answer) return std::move(answer).error();
  if (answer->outcome == "renamed") return {};
  if (answer->outcome == "not_found") return schedule::no_such_schedule(name);
  if (answer->outcome == "exists") {
    return Error{.code = Errc::invalid_argument,
                 .message = schedule::describe(to) + " exists already: remove it first"};
  }
  return lease::odd_answer(schedule::describe(name), answer->outcome);
}

Result<void> Schedules::remove(std::string_view name) const {
  if (auto checked = check_name("schedule name", name); !checked) return checked;
  const sql::ScheduleRemove statement{.name = name};
  const auto deadline = impl_->deadline();
  auto answer = lease::ask_past_dead_holders(*impl_->backend, deadline, [&] {
    return lease::ask_until_free(deadline, [&] { return storage::query_one(*impl_->backend, statement, deadline); });
  });
  if (!answer) return std::move(answer).error();
  if (answer->outcome == "removed") return {};
  return schedule::refusal_from(*answer);
}

}  // namespace leasehold
