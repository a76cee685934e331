// A store of schedules, and short functions for their callers.
//
//   class ScheduleAcquireTest : public ScheduleStoreTest {};
//   LEASEHOLD_ON_BOTH_STORES(ScheduleAcquireTest);
//
//   TEST_P(ScheduleAcquireTest, WhatIsDueIsTaken) {
//     set_schedule("refresh", every_ten_minutes());
//     EXPECT_EQ(acquire("refresh", "ann").occurrence, now());
//   }
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/time_text.h"
#include "support/session_helpers.h"

namespace leasehold::support {

using leasehold::to_string;  // of a moment, which is not of our namespace

/// Ten minutes from the end of a run to the next; a run is lost after thirty silent seconds.
inline ScheduleOptions every_ten_minutes() { return {.rule = every(10min), .ttl = 30s}; }

inline ScheduleOptions with_cron(const std::string& expression, const std::string& zone = "UTC") {
  return {.rule = CronRule{.expression = expression, .zone = zone}, .ttl = 30s};
}

/// At nine, UTC. Tests begin on 2026-03-01 at half past nine.
inline ScheduleOptions daily(Misfire misfire = Misfire::once) {
  auto options = with_cron("0 9 * * *");
  options.misfire = misfire;
  return options;
}

/// Each occurrence is a job in the queue `mail`.
inline ScheduleOptions into_a_queue(ScheduleOptions options) {
  options.queue = "mail";
  options.payload = "news";
  return options;
}

inline ScheduleOptions with_back_off(ScheduleOptions options, Duration pause) {
  options.on_fail = Between{pause, pause};
  return options;
}

/// Its first run is at once.
inline ScheduleOptions due_now(ScheduleOptions options) {
  options.next_run_in = 0s;
  return options;
}

inline Timestamp at(std::string_view text) { return parse_moment(text, {}).value(); }

/// "2026-03-02T09:00:00Z scheduled ok": a line of the history. What was skipped says how many and up to when.
inline std::string line_of(const RunInfo& run) {
  auto text = leasehold::to_string(run.occurrence) + " " + run.cause + " " + to_string(run.outcome);
  if (run.missed == 0) return text;
  return text + " " + std::to_string(run.missed) + " through " + leasehold::to_string(run.through.value()) + " (" +
         run.reason + ")";
}

class ScheduleStoreTest : public StoreTest {
 protected:
  Schedules schedules() { return store().schedules(); }

  /// A new one with a pause is due at once here, as when `ensure` has made it.
  ScheduleSaved set_schedule(const std::string& name, const ScheduleOptions& options) {
    auto saved = must(schedules().set(name, options));
    const bool given = options.next_run_at || options.next_run_in;
    if (!saved.created || given || !std::holds_alternative<Every>(options.rule)) return saved;
    saved.next_run_at = now();
    under_test().run("UPDATE " + under_test().table("schedule") + " SET next_run_at = " + moment_in_sql(now()) +
                     " WHERE name = '" + name + "'");
    return saved;
  }
  std::string moment_in_sql(Timestamp moment) {
    const auto micros = std::to_string(moment.time_since_epoch().count());
    if (GetParam() == StoreKind::sqlite) return micros;
    return "timestamptz 'epoch' + " + micros + " * interval '1 microsecond'";
  }
  Result<ScheduleRun> try_acquire(const std::string& name, const std::string& who = "ann") {
    return schedules().acquire(name, {}, by(who));
  }
  ScheduleRun acquire(const std::string& name, const std::string& who = "ann") { return must(try_acquire(name, who)); }
  ScheduleRun acquire_now(const std::string& name, const std::string& who = "ann") {
    return must(schedules().acquire(name, {.now = true}, by(who)));
  }
  Result<Grant> beat(const ScheduleRun& run) { return schedules().heartbeat(run.grant.key, run.grant.token); }
  Result<leasehold::RunSettled> settle(const ScheduleRun& run, const RunResult& result = {}) {
    return schedules().settle(run.grant.key, run.grant.token, result);
  }
  Result<void> release(const ScheduleRun& run) { return schedules().release(run.grant.key, run.grant.token); }
  /// One run from beginning to end, in no time.
  leasehold::RunSettled run_once(const std::string& name, const RunResult& result = {}) {
    return must(settle(acquire(name), result));
  }

  void go_to(std::string_view moment) { advance(at(moment) - now()); }

  ScheduleInfo info(const std::string& name) { return must(schedules().show(name)); }
  ScheduleState state(const std::string& name) { return info(name).state; }
  Timestamp next_run(const std::string& name) { return info(name).next_run_at; }
  std::vector<RunInfo> history(const std::string& name) { return must(schedules().history(name, {.max = 1000})).items; }
  /// The latest first.
  Words lines(const std::string& name) {
    Words words;
    for (const auto& run : history(name)) words.push_back(line_of(run));
    return words;
  }
  /// "completed", "lost", ...: the latest first.
  Words outcomes(const std::string& name) {
    Words words;
    for (const auto& run : history(name)) words.emplace_back(to_string(run.outcome));
    return words;
  }

  /// Everything that a holder may try with a run that it has lost: the answer is lost, and nothing changes.
  void everything_is_lost(const ScheduleRun& late, LostReason why) {
    const auto before = dump();
    EXPECT_TRUE(lost(beat(late), why));
    EXPECT_TRUE(lost(settle(late), why));
    EXPECT_TRUE(lost(settle(late, {.ok = false, .error = "late"}), why));
    EXPECT_TRUE(lost(release(late), why));
    EXPECT_EQ(dump(), before) << "a run that is lost has moved something";
  }

  /// "set", "acquired", ...: what happened to a schedule, in order.
  Words story(const std::string& name) {
    Words words;
    for (const auto& event : must(store().events({.key = name}))) words.push_back(event.what);
    return words;
  }
  Event last_event(const std::string& name) { return must(store().events({.key = name, .max = 1})).at(0); }
  RecoveryTotal recovered(const std::string& reason) {
    for (const auto& total : must(store().recovery_stats()).totals) {
      if (total.reason == reason) return total;
    }
    return {};
  }
};

/// Refused because its time has not come; the refusal contains that time.
template <typename T>
::testing::AssertionResult not_due_until(const Result<T>& result, Timestamp when) {
  const auto code = fails(result, Errc::not_due);
  if (!code) return code;
  const auto reported = result.error().retry_at;
  if (reported == when) return ::testing::AssertionSuccess();
  return ::testing::AssertionFailure() << "not until " << (reported ? to_string(*reported) : "at an unknown time");
}

}  // namespace leasehold::support
