// Occurrences that were not taken in time: each is accounted for, whatever the policy.
#include <gtest/gtest.h>

#include "support/schedule_helpers.h"

namespace leasehold::support {
namespace {

/// A daily schedule without a caller from March 1st to March 5th at noon.
class ScheduleMisfireTest : public ScheduleStoreTest {
 protected:
  void neglect(const ScheduleOptions& options, std::string_view until = "2026-03-05T12:00:00Z") {
    set_schedule("report", options);
    go_to(until);
  }
  const std::string all_skipped_ = "2026-03-02T09:00:00Z scheduled skipped 4 through 2026-03-05T09:00:00Z (misfire)";
  const std::string all_but_the_latest_ =
      "2026-03-02T09:00:00Z scheduled skipped 3 through 2026-03-04T09:00:00Z (misfire)";
};
LEASEHOLD_ON_BOTH_STORES(ScheduleMisfireTest);

TEST_P(ScheduleMisfireTest, OnceRunsTheLatestAndSkipsTheOthers) {
  neglect(daily(Misfire::once));
  const auto run = acquire("report");
  EXPECT_EQ(run.occurrence, at("2026-03-05T09:00:00Z"));
  EXPECT_EQ(run.cause, "scheduled");
  EXPECT_EQ(run.skipped, 3);
  EXPECT_EQ(next_run("report"), at("2026-03-06T09:00:00Z"));
  EXPECT_EQ(lines("report"), (Words{"2026-03-05T09:00:00Z scheduled running", all_but_the_latest_}));
  const auto skipped = history("report")[1];
  EXPECT_FALSE(skipped.started_at);
  EXPECT_FALSE(skipped.took());
  EXPECT_EQ(skipped.finished_at, now());
  EXPECT_EQ(name_of(skipped.holder) + host_of(skipped.holder), "");
  EXPECT_EQ(skipped.token, Token{0});
  EXPECT_FALSE(info("report").last) << "nothing has run yet";
}

TEST_P(ScheduleMisfireTest, AllRunsEachOfThem) {
  neglect(daily(Misfire::all));
  Words taken;
  for (int i = 0; i < 4; ++i) {
    const auto run = acquire("report");
    EXPECT_EQ(run.skipped, 0);
    taken.push_back(to_string(run.occurrence));
    must(settle(run));
  }
  EXPECT_EQ(taken,
            (Words{"2026-03-02T09:00:00Z", "2026-03-03T09:00:00Z", "2026-03-04T09:00:00Z", "2026-03-05T09:00:00Z"}));
  EXPECT_TRUE(not_due_until(try_acquire("report"), at("2026-03-06T09:00:00Z")));
  EXPECT_EQ(outcomes("report"), (Words{"completed", "completed", "completed", "completed"}));
}

TEST_P(ScheduleMisfireTest, SkipRunsNoneThatCameTooLongAgo) {
  neglect(daily(Misfire::skip));
  EXPECT_TRUE(not_due_until(try_acquire("report"), at("2026-03-06T09:00:00Z")));
  EXPECT_EQ(lines("report"), Words{all_skipped_});
  EXPECT_TRUE(not_due_until(try_acquire("report"), at("2026-03-06T09:00:00Z")));
  EXPECT_EQ(lines("report"), Words{all_skipped_}) << "noted once";
  go_to("2026-03-06T09:00:00Z");
  EXPECT_EQ(acquire("report").skipped, 0);
}

TEST_P(ScheduleMisfireTest, SkipRunsTheLatestWhileItIsInTime) {
  neglect(daily(Misfire::skip), "2026-03-05T09:05:00Z");
  set_schedule("too late", daily(Misfire::skip));
  const auto run = acquire("report");
  EXPECT_EQ(run.occurrence, at("2026-03-05T09:00:00Z"));
  EXPECT_EQ(lines("report"), (Words{"2026-03-05T09:00:00Z scheduled running", all_but_the_latest_}));
  go_to("2026-03-06T09:05:00.000001Z");
  EXPECT_TRUE(not_due_until(try_acquire("too late"), at("2026-03-07T09:00:00Z")));
  EXPECT_EQ(lines("too late"),
            Words{"2026-03-06T09:00:00Z scheduled skipped 1 through 2026-03-06T09:00:00Z (misfire)"});
}

TEST_P(ScheduleMisfireTest, JitterDoesNotMakeARunLate) {
  const ScheduleOptions options{
      .rule = CronRule{.expression = "0 9 * * *", .jitter = 1h}, .misfire = Misfire::skip, .misfire_after = 0s};
  set_schedule("late", options);
  neglect(options, "2026-03-02T10:00:00Z");
  EXPECT_EQ(acquire("report").occurrence, at("2026-03-02T09:00:00Z"));
  advance(1us);
  EXPECT_TRUE(fails(try_acquire("late"), Errc::not_due));
  EXPECT_EQ(outcomes("late"), Words{"skipped"});
}

TEST_P(ScheduleMisfireTest, ACallerGetsARunEvenIfAllOccurrencesWereSkipped) {
  neglect(daily(Misfire::skip));
  const auto run = acquire_now("report");
  EXPECT_EQ(run.cause, "triggered");
  EXPECT_EQ(run.occurrence, now());
  EXPECT_EQ(run.skipped, 4);
  EXPECT_EQ(lines("report"), (Words{"2026-03-05T12:00:00Z triggered running", all_skipped_}));
  set_schedule("triggered", daily(Misfire::skip));
  must(schedules().trigger("triggered"));
  go_to("2026-03-06T12:00:00Z");
  EXPECT_EQ(acquire("triggered").cause, "triggered");
  EXPECT_EQ(outcomes("triggered"), (Words{"running", "skipped"}));
}

TEST_P(ScheduleMisfireTest, OneRunServesBothTheCalendarAndATrigger) {
  neglect(daily());
  must(schedules().trigger("report"));
  const auto run = acquire("report");
  EXPECT_EQ(run.cause, "scheduled");
  EXPECT_EQ(run.occurrence, at("2026-03-05T09:00:00Z"));
  must(settle(run));
  EXPECT_TRUE(not_due_until(try_acquire("report"), at("2026-03-06T09:00:00Z")));
}

TEST_P(ScheduleMisfireTest, TenThousandAndMoreAreCountedAsTenThousand) {
  neglect(with_cron("* * * * *"), "2026-03-31T09:30:30Z");
  const auto run = acquire("report");
  EXPECT_EQ(run.occurrence, at("2026-03-31T09:30:00Z"));
  EXPECT_EQ(run.skipped, 10'000);
  EXPECT_EQ(next_run("report"), at("2026-03-31T09:31:00Z"));
  EXPECT_EQ(lines("report").at(1),
            "2026-03-01T09:31:00Z scheduled skipped 10000 through 2026-03-31T09:29:00Z (misfire (10000 or more))");
}

TEST_P(ScheduleMisfireTest, JustUnderTenThousandAreCountedExactly) {
  neglect(with_cron("* * * * *"));
  go_to("2026-03-01T09:31:00Z");
  advance(9'999min);
  EXPECT_EQ(acquire("report").skipped, 9'999);
  EXPECT_EQ(history("report")[1].reason, "misfire");
}

TEST_P(ScheduleMisfireTest, APauseBetweenRunsMissesNothing) {
  neglect(every_ten_minutes());
  const auto run = acquire("report");
  EXPECT_EQ(run.skipped, 0);
  EXPECT_EQ(run.occurrence, test_start);
  EXPECT_EQ(must(settle(run)).next_in, Duration(10min));
}

}  // namespace
}  // namespace leasehold::support
