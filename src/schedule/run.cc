// A run of a schedule: acquire, heartbeat, settle, release, hold.
#include <algorithm>
#include <system_error>

#include "base/digest.h"
#include "base/text.h"
#include "lease/call.h"
#include "lease/reap.h"
#include "model/bounds.h"
#include "model/described.h"
#include "schedule/schedules.h"

namespace leasehold {

namespace schedule {
namespace {

/// Borrows its arguments.
sql::ScheduleAcquire statement_for(std::string_view name, const ScheduleAcquireOptions& options, const Holder& holder) {
  sql::ScheduleAcquire acquire{};
  acquire.name = name;
  acquire.at_once = options.now;
  acquire.ttl = options.ttl;
  acquire.request_id = options.request_id;
  return lease::with_holder(acquire, holder);
}

ScheduleRun run_from(sql::ScheduleAnswer& answer, BootTime before_sending) {
  return {.grant = grant_from(answer, before_sending),
          .occurrence = answer.occurrence.value_or(Timestamp{}),
          .cause = std::move(answer.cause).value_or(""),
          .skipped = answer.skipped,
          .lost = answer.lost_occurrence,
          .lost_holder = lease::holder_named(std::move(answer.lost_holder))};
}

/// `busy` becomes an error, so that the request is repeated.
Result<sql::ScheduleAnswer> unless_busy(Result<sql::ScheduleAnswer> answer) {
  if (answer && answer->outcome.refusal() == Errc::busy) return refusal_from(*answer);
  return answer;
}

Result<Grant> extend(lease::StoreCall call, std::string_view name, Token token, std::optional<Duration> ttl) {
  auto answer = call.ask_again(sql::ScheduleHeartbeat{.name = name, .token = token.value, .ttl = ttl});
  if (!answer) return std::move(answer).error();
  if (answer->outcome.done()) return lease::grant_from(*answer, call.before_sending());
  return refusal_from(*answer, name);
}

}  // namespace
}  // namespace schedule

Result<ScheduleRun> Schedules::acquire(std::string_view name, const ScheduleAcquireOptions& options,
                                       const Call& call) const {
  auto request = options;
  if (request.request_id.empty()) request.request_id = random_request_id();
  if (auto checked = check_name("schedule name", name); !checked) return std::move(checked).error();
  if (auto checked = model::check_fields_of(request); !checked) return std::move(checked).error();
  if (auto checked = check_call(call); !checked) return std::move(checked).error();
  const auto holder = lease::holder_of(call);
  const auto statement = schedule::statement_for(name, request, holder);
  impl_->housekeeper->before_work();
  auto store = impl_->new_call(call);
  auto answer = lease::ask_past_dead_holders(store, [&] {
    return store.repeat(lease::IfLost::ask_again, [&] {
      return schedule::unless_busy(schedule::ask_with_plan(store, statement, schedule::plan_for_taking));
    });
  });
  if (!answer) return std::move(answer).error();
  if (answer->outcome.done()) return schedule::run_from(*answer, store.before_sending());
  return schedule::refusal_from(*answer);
}

Result<Grant> Schedules::heartbeat(std::string_view name, Token token, std::optional<Duration> ttl) const {
  if (auto checked = check_name("schedule name", name); !checked) return std::move(checked).error();
  if (auto checked = check_new_ttl(ttl); !checked) return std::move(checked).error();
  return schedule::extend(impl_->new_call(), name, token, ttl);
}

Result<RunSettled> Schedules::settle(std::string_view name, Token token, const RunResult& result) const {
  if (auto checked = check_run_result(name, result); !checked) return std::move(checked).error();
  // The last output of a failed program must not keep its run from ending.
  const auto error = clean_text(result.error, bounds::error_bytes);
  sql::ScheduleSettle statement{.name = name, .token = token.value, .ok = result.ok, .error = error};
  if (!result.counts.empty()) statement.counts = result.counts;
  statement.next_run_at = result.next_run_at;
  statement.next_run_in = result.next_run_in;
  auto answer = impl_->new_call().ask_again(statement);
  if (!answer) return std::move(answer).error();
  if (!answer->outcome.done()) return schedule::refusal_from(*answer);
  const auto next = answer->next_run_at.value_or(answer->wall_now);
  return RunSettled{.name = std::string(name),
                    .next_run_at = next,
                    .next_in = std::max(next - answer->wall_now, Duration::zero()),
                    .replayed = answer->replayed};
}

Result<RunSettled> Schedules::complete(std::string_view name, Token token, std::string counts) const {
  return settle(name, token, {.counts = std::move(counts)});
}

Result<RunSettled> Schedules::fail(std::string_view name, Token token, std::string error) const {
  return settle(name, token, {.ok = false, .error = std::move(error)});
}

Result<void> Schedules::release(std::string_view name, Token token) const {
  if (auto checked = check_name("schedule name", name); !checked) return checked;
  const sql::ScheduleRelease statement{.name = name, .token = token.value};
  auto answer = impl_->new_call().ask_again(statement);
  if (!answer) return std::move(answer).error();
  if (answer->outcome.done()) return {};
  return schedule::refusal_from(*answer);
}

Result<RunSettled> HeldRun::settle(const RunResult& result) {
  if (auto checked = check_run_result(run.grant.key, result); !checked) return std::move(checked).error();
  if (!settled_) {
    if (auto ended = lease.end_heartbeats(); !ended) return std::move(ended).error();
    auto done = schedules_.settle(run.grant.key, run.grant.token, result);
    if (!done) return std::move(done).error();
    lease.note_settled();
    settled_ = *done;
    settled_ok_ = result.ok;
  }
  // As the store answers for a run that was settled otherwise.
  if (settled_ok_ != result.ok) {
    return lease::lost_error("the run of " + schedule::describe(run.grant.key), "finished", std::nullopt);
  }
  return *settled_;
}

Result<HeldRun> Schedules::hold(std::string_view name, const ScheduleAcquireOptions& options, const Call& call) const {
  auto run = acquire(name, options, call);
  if (!run) return std::move(run).error();
  const auto release_in_time = [schedules = *this](const Grant& held) -> Result<void> {
    // A run that overran is lost, and must be recorded as such: a release would make it due again without its backoff.
    if (BootClock::now() < held.trusted_until) return schedules.release(held.key, held.token);
    return lease::lost_error("the run of " + schedule::describe(held.key), "expired");
  };
  try {
    HeldLease lease(
        run->grant,
        [impl = impl_](const Grant& held) {
          return schedule::extend(impl->new_heartbeat(held), held.key, held.token, std::nullopt);
        },
        release_in_time);
    return HeldRun(std::move(lease), std::move(*run), *this);
  } catch (const std::system_error& error) {
    // Without the thread, nothing would keep the lease alive: release it.
    static_cast<void>(release(name, run->grant.token));
    return Error{.code = Errc::unavailable, .message = std::string("no thread for heartbeats: ") + error.what()};
  }
}

// Schedules that enqueue a job at each occurrence; and a list of those that are due.
Result<Fired> Schedules::fire(std::string_view name) const {
  if (auto checked = check_name("schedule name", name); !checked) return std::move(checked).error();
  sql::ScheduleFire statement{};
  statement.name = name;
  impl_->housekeeper->before_work();
  // Not repeated if the answer was lost: the occurrence is taken then, and another one may be due by now.
  auto call = impl_->new_call();
  auto answer = schedule::ask_with_plan(call, statement, schedule::plan_for_taking);
  if (!answer) return std::move(answer).error();
  if (answer->outcome.refusal() == Errc::busy) {
    return Error{.code = Errc::busy, .message = schedule::describe(name) + " is being fired or changed right now"};
  }
  if (!answer->outcome.done()) return schedule::refusal_from(*answer);
  return Fired{.job_id = answer->job_id.value_or(0),
               .occurrence = answer->occurrence.value_or(Timestamp{}),
               .cause = std::move(answer->cause).value_or(""),
               .skipped = answer->skipped};
}

Result<DueSchedules> Schedules::due(int max, const DueSchedule* after) const {
  if (auto checked = check_list_max(max); !checked) return std::move(checked).error();
  sql::ScheduleDue statement{};
  statement.max = max;
  if (after != nullptr) {
    statement.after_at = after->due_at;
    statement.after_name = after->name;
  }
  auto rows = impl_->new_call().ask_rows(statement);
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
