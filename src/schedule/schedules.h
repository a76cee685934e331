// From the store's answers about schedules to what a caller gets.
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

/// The run that an answer tells of.
Grant grant_from(const sql::ScheduleAnswer& answer, BootTime before_sending);
/// Whoever runs it; nothing where nobody does.
std::optional<LeaseInfo> current_from(const sql::ScheduleAnswer& answer);

/// Whatever an act on a schedule is refused with.
Error refusal_from(const sql::ScheduleAnswer& answer);
/// The same of a heartbeat, which tells less.
Error refusal_from(const sql::LeaseAnswer& answer, std::string_view name);

}  // namespace schedule

// Moving on along the calendar, for stores that cannot read cron.
//
// Such a store answers `plan`, with the rule and the version of its row; the plan is made here and sent along with the
// same request, and counts while the row is still of that version. A store that reads cron itself never asks.
namespace schedule {

/// Which occurrence to take.
Result<DuePlan> plan_for_taking(const sql::ScheduleAnswer& asked);
/// What came while the schedule was paused.
Result<DuePlan> plan_for_resuming(const sql::ScheduleAnswer& asked);

template <typename Statement>
void fill_in(Statement& statement, const DuePlan& plan) {
  if constexpr (requires { statement.taken; }) statement.taken = plan.taken;
  statement.next_occurrence = plan.next_occurrence;
  statement.skipped_from = plan.skipped_from;
  statement.skipped_through = plan.skipped_through;
  statement.missed = plan.missed;
}

/// Each try fails only because somebody else has moved the schedule on meanwhile.
constexpr int most_plans = 10;

template <typename Statement, typename MakePlan>
Result<sql::ScheduleAnswer> ask_with_plan(lease::StoreCall& call, Statement statement, MakePlan make_plan) {
  for (int plans = 0; plans <= most_plans; ++plans) {
    auto answer = call.ask(statement);
    if (!answer || !answer->outcome.is("plan")) return answer;
    auto plan = make_plan(*answer);
    if (!plan) return std::move(plan).error();
    statement.version = answer->version;
    fill_in(statement, *plan);
  }
  return Error{.code = Errc::busy, .message = describe(statement.name) + " changes all the time; try again"};
}

}  // namespace schedule

// What Schedules holds.
struct Schedules::Impl : lease::StoreAccess {};

}  // namespace leasehold
