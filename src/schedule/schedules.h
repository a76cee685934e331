// Converts the store's answers about schedules to results of the public API.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "core/schedule_plan.h"
#include "lease/answer.h"
#include "lease/call.h"
#include "leasehold/result.h"
#include "leasehold/schedule.h"
#include "storage/statements.h"

namespace leasehold {

namespace schedule {

/// "schedule \"refresh\""
std::string describe(std::string_view name);

Error no_such_schedule(std::string_view name);

/// The run in an answer.
Grant grant_from(const sql::ScheduleAnswer& answer, BootTime before_sending);
/// The lease of the current run; nothing if there is none.
std::optional<LeaseInfo> current_from(const sql::ScheduleAnswer& answer);

/// The refusal of an action on a schedule.
Error refusal_from(const sql::ScheduleAnswer& answer);
/// The refusal of a heartbeat, which contains less.
Error refusal_from(const sql::LeaseAnswer& answer, std::string_view name);

}  // namespace schedule

// Moves a schedule on along the calendar, for stores that cannot read cron.
//
// Such a store answers `plan`, with the rule and the version of its row. The plan is made here and sent with the same
// request; it counts while the row still has that version. A store that reads cron never answers `plan`.
namespace schedule {

/// Chooses the occurrence to acquire.
Result<DuePlan> plan_for_taking(const sql::ScheduleAnswer& asked);
/// Finds the occurrences during the pause.
Result<DuePlan> plan_for_resuming(const sql::ScheduleAnswer& asked);

template <typename Statement>
void fill_in(Statement& statement, const DuePlan& plan) {
  if constexpr (requires { statement.taken; }) statement.taken = plan.taken;
  statement.next_occurrence = plan.next_occurrence;
  statement.skipped_from = plan.skipped_from;
  statement.skipped_through = plan.skipped_through;
  statement.missed = plan.missed;
}

/// An attempt fails only if another process has moved the schedule on meanwhile.
constexpr int most_plans = 10;

template <typename Statement, typename MakePlan>
Result<sql::ScheduleAnswer> ask_with_plan(lease::StoreCall& call, Statement statement, MakePlan make_plan) {
  for (int plans = 0; plans <= most_plans; ++plans) {
    auto answer = call.ask(statement);
    if (!answer || !answer->outcome.is(Reply::plan)) return answer;
    auto plan = make_plan(*answer);
    if (!plan) return std::move(plan).error();
    statement.version = answer->version;
    fill_in(statement, *plan);
  }
  return Error{.code = Errc::busy, .message = describe(statement.name) + " keeps changing; try again"};
}

}  // namespace schedule

// The state of Schedules.
struct Schedules::Impl : lease::StoreAccess {};

}  // namespace leasehold
