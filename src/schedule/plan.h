// Moving on along the calendar, for stores that cannot read cron.
//
// Such a store answers `plan`, with the rule and the version of its row; the plan is made here and sent along with the
// same request, and counts while the row is still of that version. A store that reads cron itself never asks.
#pragma once

#include "core/schedule_plan.h"
#include "schedule/answer.h"
#include "storage/query.h"

namespace leasehold::schedule {

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
Result<sql::ScheduleAnswer> ask_with_plan(storage::Backend& backend, Statement statement, BootTime deadline,
                                          MakePlan make_plan) {
  for (int plans = 0; plans <= most_plans; ++plans) {
    auto answer = storage::query_one(backend, statement, deadline);
    if (!answer || answer->outcome != "plan") return answer;
    auto plan = make_plan(*answer);
    if (!plan) return std::move(plan).error();
    statement.version = answer->version;
    fill_in(statement, *plan);
  }
  return Error{.code = Errc::busy, .message = describe(statement.name) + " changes all the time; try again"};
}

}  // namespace leasehold::schedule
