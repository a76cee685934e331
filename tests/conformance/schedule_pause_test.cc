// Operators stop a schedule, let it go on, and want a run out of turn.
#include <gtest/gtest.h>

#include "support/schedule_helpers.h"

namespace leasehold::support {
namespace {

class SchedulePauseTest : public ScheduleStoreTest {};
LEASEHOLD_ON_BOTH_STORES(SchedulePauseTest);

TEST_P(SchedulePauseTest, NothingRunsAndTheRefusalSaysWhy) {
  set_schedule("refresh", into_a_queue(every_ten_minutes()));
  must(schedules().pause("refresh", "the moon is \"full\""));
  advance(2min);
  const auto before = dump();
  const auto refused = try_acquire("refresh");
  ASSERT_TRUE(fails(refused, Errc::paused));
  EXPECT_NE(refused.error().message.find("2m ago"), std::string::npos) << refused.error().message;
  EXPECT_NE(refused.error().message.find("the moon is \"full\""), std::string::npos) << refused.error().message;
  EXPECT_TRUE(fails(schedules().acquire("refresh", {.now = true}, by("ann")), Errc::paused))
      << "now never skips a pause";
  EXPECT_TRUE(fails(schedules().trigger("refresh"), Errc::paused));
  EXPECT_TRUE(fails(schedules().fire("refresh"), Errc::paused));
  EXPECT_TRUE(must(schedules().due()).due.empty());
  EXPECT_FALSE(must(schedules().due()).next_in);
  EXPECT_EQ(dump(), before);
  EXPECT_EQ(state("refresh"), ScheduleState::paused);
  EXPECT_EQ(info("refresh").paused_at, now() - 2min);
}

TEST_P(SchedulePauseTest, ARunUnderWayGoesOn) {
  set_schedule("refresh", every_ten_minutes());
  const auto run = acquire("refresh");
  must(schedules().pause("refresh"));
  EXPECT_EQ(state("refresh"), ScheduleState::running);
  EXPECT_TRUE(info("refresh").paused_at);
  EXPECT_TRUE(ok(beat(run)));
  EXPECT_TRUE(ok(settle(run)));
  EXPECT_EQ(state("refresh"), ScheduleState::paused);
}

TEST_P(SchedulePauseTest, PausedAgainItKeepsSinceWhenAndTakesTheNewReason) {
  set_schedule("refresh", every_ten_minutes());
  must(schedules().pause("refresh", "one"));
  advance(1h);
  must(schedules().pause("refresh", "two"));
  EXPECT_EQ(info("refresh").paused_at, now() - 1h);
  EXPECT_EQ(info("refresh").pause_reason, "two");
}

TEST_P(SchedulePauseTest, OccurrencesDuringAPauseAreRecordedAsSkipped) {
  set_schedule("report", daily());
  must(schedules().pause("report"));
  go_to("2026-03-05T09:00:00Z");
  EXPECT_EQ(must(schedules().resume("report")), at("2026-03-06T09:00:00Z"));
  EXPECT_EQ(lines("report"), Words{"2026-03-02T09:00:00Z scheduled skipped 4 through 2026-03-05T09:00:00Z (paused)"});
  EXPECT_TRUE(not_due_until(try_acquire("report"), at("2026-03-06T09:00:00Z")));
  EXPECT_FALSE(info("report").paused_at);
  EXPECT_EQ(info("report").pause_reason, "");
}

TEST_P(SchedulePauseTest, APauseWithoutOccurrencesRecordsNothing) {
  set_schedule("report", daily());
  set_schedule("refresh", every_ten_minutes());
  run_once("refresh");
  for (const std::string name : {"report", "refresh"}) {
    must(schedules().pause(name));
    advance(1min);
    const auto next = next_run(name);
    EXPECT_EQ(must(schedules().resume(name)), next);
    const auto before = dump();
    EXPECT_EQ(must(schedules().resume(name)), next) << "it is not paused";
    EXPECT_EQ(dump(), before);
  }
  EXPECT_EQ(lines("report"), Words{});
}

TEST_P(SchedulePauseTest, OneWithAPauseBetweenRunsIsDueIfItsTimeCame) {
  set_schedule("refresh", every_ten_minutes());
  run_once("refresh");
  must(schedules().pause("refresh"));
  advance(72h);
  EXPECT_EQ(must(schedules().resume("refresh")), now() - 72h + 10min);
  EXPECT_EQ(acquire("refresh").cause, "scheduled");
  EXPECT_EQ(outcomes("refresh"), (Words{"running", "completed"}));
}

TEST_P(SchedulePauseTest, ARetryIsNoMoreWhereTheCalendarHasGoneOn) {
  set_schedule("report", with_back_off(daily(), 1h));
  go_to("2026-03-02T09:00:00Z");
  run_once("report", {.ok = false});
  must(schedules().pause("report"));
  go_to("2026-03-03T12:00:00Z");
  EXPECT_EQ(must(schedules().resume("report")), at("2026-03-04T09:00:00Z"));
  EXPECT_EQ(lines("report").at(0), "2026-03-03T09:00:00Z scheduled skipped 1 through 2026-03-03T09:00:00Z (paused)");
  EXPECT_EQ(info("report").next_cause, "scheduled");
}

TEST_P(SchedulePauseTest, ARunThatDiedMeanwhileIsLostAndNoOccurrenceCountsTwice) {
  set_schedule("report", daily());
  go_to("2026-03-02T09:00:00Z");
  acquire("report", "ann");
  must(schedules().pause("report"));
  go_to("2026-03-04T12:00:00Z");
  EXPECT_TRUE(fails(try_acquire("report", "bob"), Errc::paused));
  must(schedules().resume("report"));
  const auto run = acquire("report", "bob");
  EXPECT_EQ(run.cause, "retry");
  EXPECT_EQ(run.skipped, 0);
  EXPECT_EQ(lines("report"), (Words{"2026-03-03T09:00:00Z scheduled skipped 2 through 2026-03-04T09:00:00Z (paused)",
                                    "2026-03-02T09:00:30Z retry running", "2026-03-02T09:00:00Z scheduled lost"}));
  EXPECT_EQ(next_run("report"), at("2026-03-05T09:00:00Z"));
}

TEST_P(SchedulePauseTest, ATriggerMakesItDueNowAndKeepsTheCalendar) {
  set_schedule("report", daily());
  EXPECT_FALSE(must(schedules().trigger("report"))) << "it is not running";
  EXPECT_EQ(state("report"), ScheduleState::due);
  EXPECT_EQ(info("report").next_cause, "triggered");
  EXPECT_EQ(next_run("report"), now());
  advance(5s);
  const auto run = acquire("report");
  EXPECT_EQ(run.cause, "triggered");
  EXPECT_EQ(run.occurrence, now());
  must(settle(run));
  EXPECT_TRUE(not_due_until(try_acquire("report"), at("2026-03-02T09:00:00Z")));
}

TEST_P(SchedulePauseTest, ATriggerWhileItRunsMeansOnceMoreAfterThat) {
  set_schedule("refresh", every_ten_minutes());
  const auto first = acquire("refresh", "ann");
  EXPECT_EQ(must(schedules().trigger("refresh"))->holder.name, "ann");
  must(schedules().trigger("refresh"));
  EXPECT_TRUE(fails(try_acquire("refresh", "bob"), Errc::held));
  advance(1s);
  EXPECT_EQ(must(settle(first)).next_in, Duration(0)) << "it was triggered";
  const auto second = acquire("refresh", "bob");
  EXPECT_EQ(second.cause, "triggered");
  EXPECT_EQ(must(settle(second)).next_in, Duration(10min)) << "twice wanted is wanted";
  EXPECT_EQ(story("refresh"), (Words{"set", "acquired", "triggered", "completed", "acquired", "completed"}));
}

TEST_P(SchedulePauseTest, AnUnscheduledRunReplacesThePendingRetry) {
  set_schedule("report", with_back_off(daily(), 1h));
  set_schedule("refresh", with_back_off(every_ten_minutes(), 1h));
  go_to("2026-03-02T09:00:00Z");
  for (const std::string name : {"report", "refresh"}) {
    run_once(name, {.ok = false});
    must(schedules().trigger(name));
    must(settle(acquire(name)));
    EXPECT_EQ(info(name).next_cause, "scheduled");
  }
  EXPECT_EQ(next_run("report"), at("2026-03-03T09:00:00Z"));
  EXPECT_EQ(next_run("refresh"), now() + 10min);
}

}  // namespace
}  // namespace leasehold::support
