// Pauses and jitter are drawn from their whole range, evenly. What is counted here goes wrong by itself less than once
// in a thousand million runs.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <set>

#include "support/schedule_helpers.h"

namespace leasehold::support {
namespace {

class ScheduleDrawTest : public ScheduleStoreTest {
 protected:
  static constexpr int draws = 150;

  /// How long the pause is after each of many runs.
  std::vector<Duration> pauses_after(const RunResult& result) {
    std::vector<Duration> pauses;
    for (int i = 0; i < draws; ++i) {
      const auto done = must(settle(acquire_now("refresh"), result));
      EXPECT_EQ(done.next_run_at, now() + done.next_in) << "counted by the store's clock";
      pauses.push_back(done.next_in);
      advance(1s);
    }
    return pauses;
  }
  /// Within the bounds, up to both of them, and a third of the range as often as another: 50 of 150, give or take 38,
  /// which is six and a half standard deviations.
  static void expect_even(const std::vector<Duration>& drawn, Duration min, Duration max) {
    std::array<int, 3> in_third{};
    for (const auto length : drawn) {
      ASSERT_GE(length, min);
      ASSERT_LE(length, max);
      ++in_third[static_cast<std::size_t>(std::min<std::int64_t>((length - min) * 3 / (max - min), 2))];
    }
    for (const int count : in_third) EXPECT_NEAR(count, draws / 3, 38);
    const auto fifth = (max - min) / 5;
    EXPECT_LT(*std::min_element(drawn.begin(), drawn.end()), min + fifth);
    EXPECT_GT(*std::max_element(drawn.begin(), drawn.end()), max - fifth);
    EXPECT_GT(std::set(drawn.begin(), drawn.end()).size(), draws - 10U) << "drawn to the microsecond";
  }
};
LEASEHOLD_ON_BOTH_STORES(ScheduleDrawTest);

TEST_P(ScheduleDrawTest, AfterASuccessFromTheRangeOfThePause) {
  set_schedule("refresh", {.rule = every(10min, 15min), .on_fail = Between{20min, 40min}});
  expect_even(pauses_after({}), 10min, 15min);
}

TEST_P(ScheduleDrawTest, AfterAFailureFromItsOwnRange) {
  set_schedule("refresh", {.rule = every(10min, 15min), .on_fail = Between{20min, 40min}});
  expect_even(pauses_after({.ok = false}), 20min, 40min);
}

TEST_P(ScheduleDrawTest, JitterPutsEachOccurrenceOffAnew) {
  std::vector<Duration> delays;
  for (int i = 0; i < draws; ++i) {
    const CronRule rule{.expression = std::to_string(i % 60) + " 12 * * *", .jitter = 1h};
    const auto saved = set_schedule("report", {.rule = rule});
    delays.push_back(saved.next_run_at - info("report").next_occurrence.value());
  }
  expect_even(delays, 0s, 1h);
}

TEST_P(ScheduleDrawTest, AnOccurrenceIsItsMomentHoweverLateJitterMakesIt) {
  set_schedule("report", {.rule = CronRule{.expression = "0 * * * *", .jitter = 30min}});
  std::set<Duration> delays;
  for (int hour = 10; hour < 20; ++hour) {
    const auto moment = at("2026-03-01T00:00:00Z") + hour * 1h;
    delays.insert(next_run("report") - moment);
    advance(next_run("report") - 1us - now());
    EXPECT_TRUE(fails(try_acquire("report"), Errc::not_due));
    advance(1us);
    const auto run = acquire("report");
    EXPECT_EQ(run.occurrence, moment);
    must(settle(run));
  }
  EXPECT_GT(delays.size(), 5U);
  EXPECT_LE(*delays.rbegin(), Duration(30min));
}

TEST_P(ScheduleDrawTest, ALostRunBacksOffByARangeTooFromWhenItsLeaseRanOut) {
  set_schedule("refresh", {.rule = every(10min), .on_fail = Between{20min, 40min}, .ttl = 30s});
  std::set<Duration> pauses;
  for (int i = 0; i < 10; ++i) {
    const auto run = acquire_now("refresh");
    advance(5min);
    ASSERT_TRUE(fails(try_acquire("refresh"), Errc::not_due));
    pauses.insert(next_run("refresh") - run.grant.expires_at);
  }
  EXPECT_GE(*pauses.begin(), Duration(20min));
  EXPECT_LE(*pauses.rbegin(), Duration(40min));
  EXPECT_GT(pauses.size(), 5U);
}

}  // namespace
}  // namespace leasehold::support
