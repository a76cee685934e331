// A run of a schedule: acquire, heartbeat, finish, release, hold.
#include <algorithm>
#include <system_error>

#include "base/random_id.h"
#include "base/text.h"
#include "core/job_limits.h"
#include "core/limits.h"
#include "core/schedule_limits.h"
#include "lease/heartbeat.h"
#include "lease/past_dead_holders.h"
#include "lease/retry.h"
#include "lease/with_holder.h"
#include "schedule/plan.h"
#include "schedule/schedules.h"

namespace leasehold {
namespace schedule {
namespace {

/// With everything in it that may be left out.
ScheduleAcquireOptions completed(ScheduleAcquireOptions options) {
  if (options.request_id.empty()) options.request_id = random_request_id();
  if (!options.holder) options.holder = Holder::self();
  return options;
}

/// Borrows the options.
sql::ScheduleAcquire statement_for(std::string_view name, const ScheduleAcquireOptions& options) {
  sql::ScheduleAcquire acquire{};
  acquire.name = name;
  acquire.at_once = options.now;
  if (options.ttl != Duration(0)) acquire.ttl = options.ttl;
  acquire.request_id = options.request_id;
  return lease::with_holder(acquire, *options.holder);
}

ScheduleRun run_from(sql::ScheduleAnswer& answer, BootTime before_sending) {
  return {.grant = grant_from(answer, before_sending),
          .occurrence = answer.occurrence.value_or(Timestamp{}),
          .cause = std::move(answer.cause).value_or(""),
          .skipped = answer.skipped,
          .lost = answer.lost_occurrence,
          .lost_holder = std::move(answer.lost_holder).value_or("")};
}

/// `busy` is an error, so that it is asked again.
Result<sql::ScheduleAnswer> unless_busy(Result<sql::ScheduleAnswer> answer) {
  if (answer && answer->outcome == "busy") return refusal_from(*answer);
  return answer;
}

Result<Grant> extend(storage::Backend& backend, std::string_view name, Token token, std::optional<Duration> ttl,
                     BootTime deadline) {
  const sql::ScheduleHeartbeat statement{.name = name, .token = token.value, .ttl = ttl};
  BootTime before_sending;
  auto answer = lease::ask_again(deadline, [&] {
    before_sending = BootClock::now();
    return storage::query_one(backend, statement, deadline);
  });
  if (!answer) return std::move(answer).error();
  if (answer->outcome == "extended") return lease::grant_from(*answer, before_sending);
  return refusal_from(*answer, name);
}

}  // namespace
}  // namespace schedule

Result<Grant> Schedules::Impl::keep_alive(const Grant& held) const {
  const auto patience = std::min(call_timeout, held.ttl / 3);
  return schedule::extend(*backend, held.key, held.token, std::nullopt, BootClock::now() + patience);
}

Result<ScheduleRun> Schedules::acquire(std::string_view name, const ScheduleAcquireOptions& options) const {
  const auto wish = schedule::completed(options);
  if (auto checked = check_schedule_acquire(name, wish); !checked) return std::move(checked).error();
  const auto statement = schedule::statement_for(name, wish);
  const auto deadline = impl_->deadline();
  BootTime before_sending;
  auto answer = lease::ask_past_dead_holders(*impl_->backend, deadline, [&] {
    return lease::ask_again(deadline, [&] {
      before_sending = BootClock::now();
      return schedule::unless_busy(
          schedule::ask_with_plan(*impl_->backend, statement, deadline, schedule::plan_for_taking));
    });
  });
  if (!answer) return std::move(answer).error();
  if (answer->outcome == "granted") return schedule::run_from(*answer, before_sending);
  return schedule::refusal_from(*answer);
}

Result<Grant> Schedules::heartbeat(std::string_view name, Token token, Duration ttl) const {
  if (auto checked = check_name("schedule name", name); !checked) return std::move(checked).error();
  auto new_ttl = lease::new_ttl(ttl);
  if (!new_ttl) return std::move(new_ttl).error();
  return schedule::extend(*impl_->backend, name, token, *new_ttl, impl_->deadline());
}

Result<Finished> Schedules::finish(std::string_view name, Token token, const RunResult& result) const {
  if (auto checked = check_run_result(name, result); !checked) return std::move(checked).error();
  // Whatever a failed program has said last must not keep its run from ending.
  const auto error = clean_text(result.error, max_error_bytes);
  sql::ScheduleFinish statement{.name = name, .token = token.value, .ok = result.ok, .error = error};
  if (!result.counts.empty()) statement.counts = result.counts;
  const auto deadline = impl_->deadline();
  auto answer = lease::ask_again(deadline, [&] { return storage::query_one(*impl_->backend, statement, deadline); });
  if (!answer) return std::move(answer).error();
  if (answer->outcome != "finished") return schedule::refusal_from(*answer);
  const auto next = answer->next_run_at.value_or(answer->wall_now);
  return Finished{.next_run_at = next,
                  .next_in = std::max(next - answer->wall_now, Duration::zero()),
                  .replayed = answer->replayed};
}

Result<void> Schedules::release(std::string_view name, Token token) const {
  if (auto checked = check_name("schedule name", name); !checked) return checked;
  const sql::ScheduleRelease statement{.name = name, .token = token.value};
  const auto deadline = impl_->deadline();
  auto answer = lease::ask_again(deadline, [&] { return storage::query_one(*impl_->backend, statement, deadline); });
  if (!answer) return std::move(answer).error();
  if (answer->outcome == "released") return {};
  return schedule::refusal_from(*answer);
}

/// How a held run is given back. Its texts are its own: the run may outlive what its holder said.
struct HeldRun::Ending {
  explicit Ending(Schedules of) : schedules(std::move(of)) {}

  void keep_verdict(const RunResult& result) {
    said = true;
    ok = result.ok;
    error = result.error;
    counts = result.counts;
  }

  Result<Grant> note(Result<Grant> extended) {
    if (!extended && extended.error().code == Errc::lost) lost = true;
    return extended;
  }

  Result<void> give_back(const Grant& held) {
    if (!said) return release(held);
    auto done = schedules.finish(held.key, held.token, {.ok = ok, .error = error, .counts = counts});
    if (!done) return std::move(done).error();
    finished = *done;
    return {};
  }

  /// A run that overran is lost, and has to be noted as such: released it would be due again without its back-off.
  Result<void> release(const Grant& held) const {
    if (!lost && BootClock::now() < held.trusted_until) return schedules.release(held.key, held.token);
    return Error{.code = Errc::lost,
                 .message = "the run of " + schedule::describe(held.key) + " is lost: its lease ran out"};
  }

  Schedules schedules;
  bool lost = false;
  bool said = false;
  bool ok = true;
  std::string error;
  std::string counts;
  std::optional<Finished> finished;
};

Result<Finished> HeldRun::finish(const RunResult& result) {
  if (auto checked = check_run_result(run.grant.key, result); !checked) return std::move(checked).error();
  if (!ending_->finished) {
    ending_->keep_verdict(result);
    if (auto given_back = lease.release(); !given_back) return std::move(given_back).error();
  }
  // As the store says it: released before without a verdict, or finished with another one.
  if (!ending_->finished || ending_->ok != result.ok) {
    return lease::lost_error("the run of " + schedule::describe(run.grant.key), "finished", std::nullopt);
  }
  return *ending_->finished;
}

Result<HeldRun> Schedules::hold(std::string_view name, const ScheduleAcquireOptions& options) const {
  auto run = acquire(name, options);
  if (!run) return std::move(run).error();
  auto ending = std::make_shared<HeldRun::Ending>(*this);
  try {
    HeldLease lease(
        run->grant, [impl = impl_, ending](const Grant& held) { return ending->note(impl->keep_alive(held)); },
        [ending](const Grant& held) { return ending->give_back(held); });
    return HeldRun(std::move(lease), std::move(*run), std::move(ending));
  } catch (const std::system_error& error) {
    // Without its thread nobody would keep the lease alive: better not to have it.
    static_cast<void>(release(name, run->grant.token));
    return Error{.code = Errc::unavailable, .message = std::string("no thread for heartbeats: ") + error.what()};
  }
}

}  // namespace leasehold
