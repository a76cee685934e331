// The next run at a given time: set with a definition, or with a verdict.
#include <gtest/gtest.h>

#include "support/schedule_helpers.h"

namespace leasehold::support {
namespace {

class ScheduleNextTest : public ScheduleStoreTest {
 protected:
  static ScheduleOptions to_run_at(ScheduleOptions options, Timestamp next) {
    options.next_run_at = next;
    return options;
  }
};
LEASEHOLD_ON_BOTH_STORES(ScheduleNextTest);

TEST_P(ScheduleNextTest, ANewScheduleRunsFirstAtItsGivenTime) {
  const auto tonight = now() + 5h;
  EXPECT_EQ(set_schedule("refresh", to_run_at(every_ten_minutes(), tonight)).next_run_at, tonight);
  EXPECT_TRUE(not_due_until(try_acquire("refresh"), tonight));
  advance(5h);
  EXPECT_EQ(acquire("refresh").occurrence, tonight);
  EXPECT_EQ(next_run("refresh"), now() + 10min) << "from then on by its rule";
}

// The clock of the store is years behind that of this process.
TEST_P(ScheduleNextTest, HowLongFromNowIsCountedFromTheStoresNow) {
  auto options = every_ten_minutes();
  options.next_run_in = 90min;
  EXPECT_EQ(must(schedules().set("refresh", options)).next_run_at, now() + 90min);
  EXPECT_EQ(must(schedules().ensure("cleanup", options)).next_run_at, now() + 90min);
  advance(90min);
  EXPECT_EQ(must(settle(acquire("refresh"), {.next_run_in = 30s})).next_run_at, now() + 30s);
  options.next_run_in = 0s;
  EXPECT_EQ(must(schedules().set("refresh", options)).next_run_at, now());
  auto nightly = daily();
  nightly.next_run_in = 1h;
  EXPECT_EQ(must(schedules().set("report", nightly)).next_run_at, now() + 1h);
}

TEST_P(ScheduleNextTest, AMomentAndHowLongFromNowDoNotGoTogether) {
  auto options = every_ten_minutes();
  options.next_run_at = now();
  options.next_run_in = 1h;
  EXPECT_TRUE(fails(schedules().set("refresh", options), Errc::invalid_argument));
  options.next_run_at.reset();
  options.next_run_in = -1s;
  EXPECT_TRUE(fails(schedules().set("refresh", options), Errc::invalid_argument));
}

TEST_P(ScheduleNextTest, WithCronItIsAnOccurrenceAndTheCalendarGoesOnAfterIt) {
  auto options = daily();
  std::get<CronRule>(options.rule).jitter = 5min;
  const auto noon = at("2026-03-04T12:00:00Z");
  EXPECT_EQ(set_schedule("report", to_run_at(options, noon)).next_run_at, noon) << "without jitter";
  EXPECT_EQ(info("report").next_occurrence, noon);
  go_to("2026-03-04T11:59:59Z");
  EXPECT_TRUE(not_due_until(try_acquire("report"), noon)) << "the days before are not in the plan";
  go_to("2026-03-04T12:00:00Z");
  EXPECT_EQ(acquire("report").occurrence, noon);
  EXPECT_EQ(info("report").next_occurrence, at("2026-03-05T09:00:00Z"));
  EXPECT_EQ(lines("report").size(), 1U) << "nothing was skipped";
}

TEST_P(ScheduleNextTest, AMomentThatHasPassedIsNow) {
  set_schedule("refresh", to_run_at(every_ten_minutes(), now() - 100h));
  EXPECT_EQ(acquire("refresh").occurrence, now());
  set_schedule("report", to_run_at(daily(Misfire::all), Timestamp{}));
  const auto run = acquire("report");
  EXPECT_EQ(run.occurrence, now()) << "and not one for every day since 1970";
  EXPECT_EQ(run.skipped, 0);
  EXPECT_EQ(next_run("report"), at("2026-03-02T09:00:00Z"));
}

TEST_P(ScheduleNextTest, SettingAgainKeepsItAndAnotherTimeReplacesIt) {
  const auto first = now() + 5h;
  set_schedule("refresh", to_run_at(every_ten_minutes(), first));
  const auto before = dump();
  EXPECT_FALSE(set_schedule("refresh", every_ten_minutes()).changed);
  EXPECT_FALSE(set_schedule("refresh", to_run_at(every_ten_minutes(), first)).changed);
  EXPECT_EQ(dump(), before);
  EXPECT_EQ(set_schedule("refresh", {.rule = every(1h), .ttl = 30s}).next_run_at, first)
      << "whatever the new rule says";
  EXPECT_EQ(set_schedule("refresh", daily()).next_run_at, first);
  EXPECT_EQ(info("refresh").next_occurrence, first);
  EXPECT_EQ(set_schedule("refresh", every_ten_minutes()).next_run_at, first);
  const auto other = set_schedule("refresh", to_run_at(every_ten_minutes(), now() + 1h));
  EXPECT_TRUE(other.changed);
  EXPECT_EQ(other.next_run_at, now() + 1h);
}

TEST_P(ScheduleNextTest, AnEarlierRunKeepsTheNextRun) {
  const auto tonight = now() + 5h;
  set_schedule("refresh", to_run_at(with_back_off(every_ten_minutes(), 20min), tonight));
  must(schedules().trigger("refresh"));
  EXPECT_EQ(run_once("refresh").next_run_at, tonight);
  must(settle(acquire_now("refresh"), {.ok = false}));
  EXPECT_EQ(next_run("refresh"), tonight) << "also after a failure";
  acquire_now("refresh");
  advance(31s);
  must(store().recover());
  EXPECT_EQ(outcomes("refresh").at(0), "lost");
  EXPECT_EQ(next_run("refresh"), tonight) << "also after a loss";
  must(release(acquire_now("refresh")));
  EXPECT_EQ(next_run("refresh"), now()) << "a released run is due at once";
}

TEST_P(ScheduleNextTest, APauseKeepsTheNextRunUnlessItsMomentPasses) {
  set_schedule("refresh", to_run_at(every_ten_minutes(), now() + 5h));
  set_schedule("report", to_run_at(daily(), now() + 5h));
  for (const auto* name : {"refresh", "report"}) {
    must(schedules().pause(name));
    EXPECT_EQ(must(schedules().resume(name)), now() + 5h) << name;
    must(schedules().pause(name));
  }
  advance(6h);
  EXPECT_EQ(must(schedules().resume("refresh")), now() - 1h) << "it is due, as any other";
  EXPECT_EQ(must(schedules().resume("report")), at("2026-03-02T09:00:00Z"));
  EXPECT_EQ(lines("report"), Words{"2026-03-01T14:30:00Z scheduled skipped 1 through 2026-03-01T14:30:00Z (paused)"});
}

TEST_P(ScheduleNextTest, AVerdictSaysWhenTheNextRunIs) {
  set_schedule("refresh", with_back_off(every_ten_minutes(), 20min));
  const auto more_to_do = must(settle(acquire("refresh"), {.next_run_at = now() + 30s}));
  EXPECT_EQ(more_to_do.next_run_at, now() + 30s);
  EXPECT_EQ(more_to_do.next_in, 30s);
  EXPECT_EQ(info("refresh").next_cause, "scheduled");
  advance(30s);
  must(settle(acquire("refresh"), {.ok = false, .error = "come back later", .next_run_at = now() + 2h}));
  EXPECT_EQ(next_run("refresh"), now() + 2h) << "and not after the pause for failures";
  EXPECT_EQ(info("refresh").next_cause, "retry");
  advance(2h);
  const auto run = acquire("refresh");
  must(settle(run, {.next_run_at = now() - 1h}));
  EXPECT_EQ(state("refresh"), ScheduleState::due) << "what has passed is now";
  const auto again = must(settle(run, {.next_run_at = now() + 9h}));
  EXPECT_TRUE(again.replayed);
  EXPECT_EQ(again.next_run_at, now()) << "said twice, the first counts";
}

TEST_P(ScheduleNextTest, AVerdictOfCronMovesTheCalendarOrTriesAgainBeforeIt) {
  set_schedule("report", daily());
  go_to("2026-03-02T09:00:00Z");
  must(settle(acquire("report"), {.next_run_at = at("2026-03-02T10:00:00Z")}));
  EXPECT_EQ(info("report").next_occurrence, at("2026-03-02T10:00:00Z"));
  go_to("2026-03-02T10:00:00Z");
  must(settle(acquire("report"), {.ok = false, .next_run_at = at("2026-03-02T11:00:00Z")}));
  EXPECT_EQ(next_run("report"), at("2026-03-02T11:00:00Z"));
  EXPECT_EQ(info("report").next_occurrence, at("2026-03-03T09:00:00Z")) << "a retry leaves the calendar as it is";
  go_to("2026-03-02T11:00:00Z");
  must(settle(acquire("report"), {.ok = false, .next_run_at = at("2026-03-05T07:00:00Z")}));
  EXPECT_EQ(info("report").next_occurrence, at("2026-03-05T07:00:00Z"));
  go_to("2026-03-05T07:00:00Z");
  run_once("report");
  EXPECT_EQ(next_run("report"), at("2026-03-05T09:00:00Z"));
  EXPECT_EQ(lines("report"),
            (Words{"2026-03-05T07:00:00Z scheduled completed", "2026-03-02T11:00:00Z retry failed",
                   "2026-03-02T10:00:00Z scheduled failed", "2026-03-02T09:00:00Z scheduled completed"}));
}

TEST_P(ScheduleNextTest, AHeldRunAsksForItToo) {
  set_schedule("refresh", every_ten_minutes());
  auto held = must(schedules().hold("refresh"));
  EXPECT_EQ(must(held.settle({.next_run_at = now() + 1h})).next_run_at, now() + 1h);
}

TEST_P(ScheduleNextTest, AMomentAfterTheYear9999IsRefused) {
  const Timestamp too_late{std::chrono::seconds(253'402'300'800)};
  EXPECT_TRUE(fails(schedules().set("refresh", to_run_at(every_ten_minutes(), too_late)), Errc::invalid_argument));
  EXPECT_TRUE(fails(schedules().show("refresh"), Errc::not_found));
  set_schedule("refresh", every_ten_minutes());
  const auto run = acquire("refresh");
  EXPECT_TRUE(fails(settle(run, {.next_run_at = too_late}), Errc::invalid_argument));
  EXPECT_TRUE(ok(settle(run)));
}

TEST_P(ScheduleNextTest, EnsureCreatesWhatIsNotThereAndChangesNothing) {
  const auto first = must(schedules().ensure("refresh", every_ten_minutes()));
  EXPECT_TRUE(first.created);
  EXPECT_FALSE(first.differs);
  EXPECT_EQ(first.next_run_at, now());
  const auto before = dump();
  const auto again = must(schedules().ensure("refresh", every_ten_minutes()));
  EXPECT_FALSE(again.created || again.differs);
  const auto other = must(schedules().ensure("refresh", to_run_at(daily(), now() + 9h)));
  EXPECT_FALSE(other.created);
  EXPECT_TRUE(other.differs);
  EXPECT_EQ(other.next_run_at, now());
  EXPECT_EQ(dump(), before);
  EXPECT_EQ(must(schedules().ensure("report", daily())).next_run_at, at("2026-03-02T09:00:00Z"));
  EXPECT_TRUE(fails(schedules().ensure("mail", into_a_queue(daily())), Errc::invalid_argument))
      << "a role that may only work does not change what others run";
}

}  // namespace
}  // namespace leasehold::support
