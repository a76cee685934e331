// The calendar in time zones whose clocks change, and clocks that are set.
#include <gtest/gtest.h>

#include "support/schedule_helpers.h"

namespace leasehold::support {
namespace {

class ScheduleCalendarTest : public ScheduleStoreTest {
 protected:
  /// The occurrences that a punctual caller takes, from a moment on.
  Words taken(const std::string& expression, const std::string& zone, std::string_view from, int count) {
    go_to(from);
    set_schedule(zone, with_cron(expression, zone));
    Words moments;
    for (int i = 0; i < count; ++i) {
      advance(next_run(zone) - now());
      const auto run = acquire(zone);
      EXPECT_EQ(run.occurrence, now());
      EXPECT_EQ(run.skipped, 0);
      moments.push_back(to_string(run.occurrence));
      must(settle(run));
    }
    return moments;
  }
};
LEASEHOLD_ON_BOTH_STORES(ScheduleCalendarTest);

TEST_P(ScheduleCalendarTest, ATimeThatTheClockLeavesOutComesAsMuchAfterTheChange) {
  EXPECT_EQ(taken("30 2 * * *", "America/New_York", "2026-03-06T12:00:00Z", 3),
            (Words{"2026-03-07T07:30:00Z", "2026-03-08T07:30:00Z", "2026-03-09T06:30:00Z"}));
  EXPECT_EQ(taken("30 2 * * *", "Europe/Berlin", "2026-03-27T12:00:00Z", 3),
            (Words{"2026-03-28T01:30:00Z", "2026-03-29T01:30:00Z", "2026-03-30T00:30:00Z"}));
}

TEST_P(ScheduleCalendarTest, ATimeThatTheClockShowsTwiceComesTheFirstTime) {
  // On Lord Howe Island the clock goes back by half an hour.
  EXPECT_EQ(taken("45 1 * * *", "Australia/Lord_Howe", "2026-04-03T00:00:00Z", 3),
            (Words{"2026-04-03T14:45:00Z", "2026-04-04T14:45:00Z", "2026-04-05T15:15:00Z"}));
  EXPECT_EQ(taken("30 2 * * *", "Europe/Berlin", "2026-10-23T12:00:00Z", 3),
            (Words{"2026-10-24T00:30:00Z", "2026-10-25T00:30:00Z", "2026-10-26T01:30:00Z"}));
}

TEST_P(ScheduleCalendarTest, ARuleForEveryHourFollowsTheClock) {
  EXPECT_EQ(taken("*/30 * * * *", "Europe/Berlin", "2026-10-24T23:50:00Z", 5),
            (Words{"2026-10-25T00:00:00Z", "2026-10-25T00:30:00Z", "2026-10-25T01:00:00Z", "2026-10-25T01:30:00Z",
                   "2026-10-25T02:00:00Z"}));
}

TEST_P(ScheduleCalendarTest, DaysMissedAcrossAChangeAreAllAccountedFor) {
  go_to("2026-03-27T12:00:00Z");
  set_schedule("report", with_cron("30 2 * * *", "Europe/Berlin"));
  go_to("2026-03-31T12:00:00Z");
  EXPECT_EQ(acquire("report").skipped, 3);
  EXPECT_EQ(lines("report"),
            (Words{"2026-03-31T00:30:00Z scheduled running",
                   "2026-03-28T01:30:00Z scheduled skipped 3 through 2026-03-30T00:30:00Z (misfire)"}));
}

TEST_P(ScheduleCalendarTest, AClockThatGoesBackTakesNoOccurrenceTwice) {
  set_schedule("report", daily());
  go_to("2026-03-02T09:00:00Z");
  run_once("report");
  advance(-1h);
  EXPECT_TRUE(not_due_until(try_acquire("report"), at("2026-03-03T09:00:00Z")));
  advance(1h);
  EXPECT_TRUE(not_due_until(try_acquire("report"), at("2026-03-03T09:00:00Z")));
}

TEST_P(ScheduleCalendarTest, AMomentThatHasARowAlreadyIsAMicrosecondLater) {
  set_schedule("report", daily());
  go_to("2026-03-02T09:00:00Z");
  run_once("report");
  advance(-1h);
  set_schedule("report", with_cron("0 */3 * * *"));
  advance(1h);
  const auto run = acquire("report");
  EXPECT_EQ(run.occurrence, at("2026-03-02T09:00:00.000001Z"));
  EXPECT_EQ(outcomes("report"), (Words{"running", "completed"}));
  EXPECT_EQ(next_run("report"), at("2026-03-02T12:00:00Z"));
}

/// On SQLite the calendar goes by the wall clock, which can be set, and leases by time that has passed.
class ScheduleWallClockTest : public ::testing::Test {
 protected:
  Result<ScheduleRun> acquire(const std::string& name, const std::string& who) {
    return store_.schedules().acquire(name, {}, by(who));
  }
  TestClock& clock() { return test_store_.clock(); }
  [[nodiscard]] Timestamp wall() { return clock().wall_now(); }
  ScheduleInfo info(const std::string& name) { return must(store_.schedules().show(name)); }

  TestStore test_store_{StoreKind::sqlite};
  Store store_ = test_store_.open();
};

TEST_F(ScheduleWallClockTest, Promise02_StepsOfTheWallClockMoveNoLease) {
  must(store_.schedules().set("refresh", due_now(every_ten_minutes())));
  const auto run = must(acquire("refresh", "ann"));
  for (const auto step : {Duration(48h), Duration(-96h)}) {
    clock().step_wall(step);
    EXPECT_TRUE(fails(acquire("refresh", "bob"), Errc::held));
    EXPECT_TRUE(ok(store_.schedules().heartbeat("refresh", run.grant.token)));
    EXPECT_EQ(info("refresh").state, ScheduleState::running);
  }
  clock().advance(30s);
  EXPECT_EQ(info("refresh").state, ScheduleState::expired) << "time that passed counts";
}

TEST_F(ScheduleWallClockTest, TheNextRunIsAMatterOfTheWallClock) {
  must(store_.schedules().set("refresh", due_now(every_ten_minutes())));
  must(store_.schedules().set("report", daily()));
  const auto run = must(acquire("refresh", "ann"));
  clock().step_wall(72h);
  EXPECT_EQ(must(store_.schedules().settle("refresh", run.grant.token)).next_run_at, wall() + 10min);
  const auto report = must(acquire("report", "ann"));
  EXPECT_EQ(report.occurrence, at("2026-03-04T09:00:00Z"));
  EXPECT_EQ(report.skipped, 2);
  must(store_.schedules().settle("report", report.grant.token));
  clock().step_wall(-72h);
  EXPECT_TRUE(not_due_until(acquire("report", "ann"), at("2026-03-05T09:00:00Z"))) << "none is taken twice";
}

TEST_F(ScheduleWallClockTest, ALostRunIsTriedAgainWhenItsLeaseRanOutByTheWallClock) {
  must(store_.schedules().set("refresh", due_now(with_back_off(every_ten_minutes(), 20min))));
  must(acquire("refresh", "ann"));
  clock().step_wall(-1h);
  clock().advance(40s);
  EXPECT_TRUE(not_due_until(acquire("refresh", "bob"), wall() - 10s + 20min));
  EXPECT_EQ(must(store_.schedules().history("refresh")).at(0).outcome, RunOutcome::lost);
}

TEST_F(ScheduleWallClockTest, Promise03_TokensGrowWhileTheWallClockFallsBack) {
  must(store_.schedules().set("refresh", due_now(every_ten_minutes())));
  const auto first = must(acquire("refresh", "ann"));
  must(store_.schedules().settle("refresh", first.grant.token));
  clock().step_wall(-1000h);
  const auto second = must(store_.schedules().acquire("refresh", {.now = true}, by("ann")));
  EXPECT_GT(second.grant.token, first.grant.token);
  EXPECT_EQ(second.occurrence, wall());
}

}  // namespace
}  // namespace leasehold::support
