#include "core/schedule_plan.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "base/time_text.h"
#include "support/results.h"

namespace leasehold::support {
namespace {

using namespace std::chrono_literals;

Timestamp at(std::string_view text) { return parse_moment(text, {}).value(); }

/// "took ... skipped 3 from ... through ... next ..."
std::string tell(const DuePlan& plan) {
  std::string text = plan.taken ? "took " + to_string(*plan.taken) : "took none";
  if (plan.missed > 0) {
    text += " skipped " + std::to_string(plan.missed) + " from " + to_string(plan.skipped_from.value()) + " through " +
            to_string(plan.skipped_through.value());
  } else {
    EXPECT_FALSE(plan.skipped_from);
    EXPECT_FALSE(plan.skipped_through);
  }
  return text + " next " + to_string(plan.next_occurrence);
}

struct Rule {
  std::string_view expression = "0 9 * * *";
  std::string_view zone = "UTC";
};

std::string due(Misfire policy, std::string_view next, std::string_view now, const Rule& rule = {}) {
  const auto cron = parse_cron(rule.expression).value();
  const auto zone = find_zone(rule.zone).value();
  return tell(plan_due(cron, zone, policy, 5min, {.occurrence = at(next)}, at(now)));
}

/// Every day at nine.
std::string due_with_retry(Misfire policy, std::string_view retry, std::string_view next, std::string_view now) {
  const Upcoming upcoming{.occurrence = at(next), .retry = at(retry)};
  return tell(plan_due(parse_cron("0 9 * * *").value(), Zone(), policy, 5min, upcoming, at(now)));
}

std::string resumed(std::string_view first, std::string_view now) {
  return tell(plan_resume(parse_cron("0 9 * * *").value(), Zone(), at(first), at(now)));
}

constexpr auto every_policy = {Misfire::skip, Misfire::once, Misfire::all};

TEST(SchedulePlanTest, APunctualOccurrenceIsTakenWhateverThePolicy) {
  for (const auto policy : every_policy) {
    EXPECT_EQ(due(policy, "2026-01-01T09:00:00Z", "2026-01-01T09:00:00Z"),
              "took 2026-01-01T09:00:00Z next 2026-01-02T09:00:00Z");
    EXPECT_EQ(due(policy, "2026-01-01T09:00:00Z", "2026-01-01T09:05:00Z"),
              "took 2026-01-01T09:00:00Z next 2026-01-02T09:00:00Z");
  }
}

TEST(SchedulePlanTest, AFutureOccurrenceStaysTheNext) {
  for (const auto policy : every_policy) {
    EXPECT_EQ(due(policy, "2026-01-01T09:00:00Z", "2026-01-01T08:59:59.999999Z"),
              "took none next 2026-01-01T09:00:00Z");
  }
}

TEST(SchedulePlanTest, AfterThreeMissedDaysOnceTakesTheLatest) {
  EXPECT_EQ(due(Misfire::once, "2026-01-01T09:00:00Z", "2026-01-04T12:00:00Z"),
            "took 2026-01-04T09:00:00Z skipped 3 from 2026-01-01T09:00:00Z through 2026-01-03T09:00:00Z "
            "next 2026-01-05T09:00:00Z");
}

TEST(SchedulePlanTest, AfterThreeMissedDaysAllTakesTheFirst) {
  EXPECT_EQ(due(Misfire::all, "2026-01-01T09:00:00Z", "2026-01-04T12:00:00Z"),
            "took 2026-01-01T09:00:00Z next 2026-01-02T09:00:00Z");
}

TEST(SchedulePlanTest, AfterThreeMissedDaysSkipTakesTheLatestOnlyIfItIsInTime) {
  EXPECT_EQ(due(Misfire::skip, "2026-01-01T09:00:00Z", "2026-01-04T09:05:00Z"),
            "took 2026-01-04T09:00:00Z skipped 3 from 2026-01-01T09:00:00Z through 2026-01-03T09:00:00Z "
            "next 2026-01-05T09:00:00Z");
  EXPECT_EQ(due(Misfire::skip, "2026-01-01T09:00:00Z", "2026-01-04T09:05:00.000001Z"),
            "took none skipped 4 from 2026-01-01T09:00:00Z through 2026-01-04T09:00:00Z next 2026-01-05T09:00:00Z");
}

TEST(SchedulePlanTest, ASingleSkippedOccurrenceIsFirstAndLast) {
  EXPECT_EQ(due(Misfire::skip, "2026-01-01T09:00:00Z", "2026-01-01T09:06:00Z"),
            "took none skipped 1 from 2026-01-01T09:00:00Z through 2026-01-01T09:00:00Z next 2026-01-02T09:00:00Z");
  EXPECT_EQ(due(Misfire::once, "2026-01-01T09:00:00Z", "2026-01-02T09:00:00Z"),
            "took 2026-01-02T09:00:00Z skipped 1 from 2026-01-01T09:00:00Z through 2026-01-01T09:00:00Z "
            "next 2026-01-03T09:00:00Z");
}

TEST(SchedulePlanTest, ARetryComesBeforeTheOccurrencesAfterIt) {
  const auto retry = "2026-01-01T09:17:33.250001Z";
  const auto next = "2026-01-02T09:00:00Z";
  for (const auto policy : every_policy) {
    EXPECT_EQ(due_with_retry(policy, retry, next, "2026-01-01T09:17:33.25Z"), "took none next 2026-01-02T09:00:00Z");
    EXPECT_EQ(due_with_retry(policy, retry, next, "2026-01-01T09:18:00Z"),
              "took 2026-01-01T09:17:33.250001Z next 2026-01-02T09:00:00Z");
  }
  EXPECT_EQ(due_with_retry(Misfire::once, retry, next, "2026-01-02T09:00:00Z"),
            "took 2026-01-02T09:00:00Z skipped 1 from 2026-01-01T09:17:33.250001Z through "
            "2026-01-01T09:17:33.250001Z next 2026-01-03T09:00:00Z");
  EXPECT_EQ(due_with_retry(Misfire::skip, retry, next, "2026-01-03T10:00:00Z"),
            "took none skipped 3 from 2026-01-01T09:17:33.250001Z through 2026-01-03T09:00:00Z "
            "next 2026-01-04T09:00:00Z");
  EXPECT_EQ(due_with_retry(Misfire::all, retry, next, "2026-01-03T10:00:00Z"),
            "took 2026-01-01T09:17:33.250001Z next 2026-01-02T09:00:00Z");
}

TEST(SchedulePlanTest, AfterARetryTheCalendarGoesOnWhereItWas) {
  // The days from the second to the fourth have been skipped by a pause, while the run that is tried again went on.
  const auto retry = "2026-01-01T09:17:00Z";
  const auto next = "2026-01-05T09:00:00Z";
  for (const auto policy : {Misfire::once, Misfire::all}) {
    EXPECT_EQ(due_with_retry(policy, retry, next, "2026-01-04T10:00:00Z"),
              "took 2026-01-01T09:17:00Z next 2026-01-05T09:00:00Z");
  }
  EXPECT_EQ(due_with_retry(Misfire::skip, retry, next, "2026-01-04T10:00:00Z"),
            "took none skipped 1 from 2026-01-01T09:17:00Z through 2026-01-01T09:17:00Z next 2026-01-05T09:00:00Z");
  EXPECT_EQ(due_with_retry(Misfire::once, retry, next, "2026-01-06T10:00:00Z"),
            "took 2026-01-06T09:00:00Z skipped 2 from 2026-01-01T09:17:00Z through 2026-01-05T09:00:00Z "
            "next 2026-01-07T09:00:00Z");
}

TEST(SchedulePlanTest, MissedDaysAreDaysOfTheZone) {
  const Rule berlin{.expression = "30 2 * * *", .zone = "Europe/Berlin"};
  EXPECT_EQ(due(Misfire::once, "2026-03-28T01:30:00Z", "2026-03-30T12:00:00Z", berlin),
            "took 2026-03-30T00:30:00Z skipped 2 from 2026-03-28T01:30:00Z through 2026-03-29T01:30:00Z "
            "next 2026-03-31T00:30:00Z");
}

TEST(SchedulePlanTest, TenThousandAreCountedAndTheRestIsJumpedOver) {
  const Rule secondly{.expression = "* * * * * *"};
  const auto midnight = "2026-01-01T00:00:00Z";
  EXPECT_EQ(due(Misfire::once, midnight, "2026-01-01T02:46:39.5Z", secondly),
            "took 2026-01-01T02:46:39Z skipped 9999 from 2026-01-01T00:00:00Z through 2026-01-01T02:46:38Z "
            "next 2026-01-01T02:46:40Z");
  EXPECT_EQ(due(Misfire::once, midnight, "2026-01-01T02:46:40Z", secondly),
            "took 2026-01-01T02:46:40Z skipped 10000 from 2026-01-01T00:00:00Z through 2026-01-01T02:46:39Z "
            "next 2026-01-01T02:46:41Z");
  EXPECT_EQ(due(Misfire::once, midnight, "2027-01-01T12:00:00.75Z", secondly),
            "took 2027-01-01T12:00:00Z skipped 10000 from 2026-01-01T00:00:00Z through 2027-01-01T11:59:59Z "
            "next 2027-01-01T12:00:01Z");
  EXPECT_EQ(due(Misfire::skip, midnight, "2026-06-01T12:30:00Z", {.expression = "* * * 1-2 *"}),
            "took none skipped 10000 from 2026-01-01T00:00:00Z through 2026-02-28T23:59:00Z "
            "next 2027-01-01T00:00:00Z");
}

TEST(SchedulePlanTest, TheLatestIsFoundWhereverItLies) {
  const auto cron = parse_cron("*/7 3,5 * * 1-5").value();
  const auto zone = find_zone("America/New_York").value();
  const auto first = next_after(cron, zone, at("2020-01-01T00:00:00Z")).value();
  for (auto now = at("2026-03-06T00:00:00Z"); now < at("2026-03-10T00:00:00Z"); now += 433min) {
    const auto recent = occurrences(cron, zone, now - 96h, now, 1000);
    const auto plan = plan_due(cron, zone, Misfire::once, 5min, {.occurrence = first}, now);
    ASSERT_GE(recent.size(), 2U);
    EXPECT_EQ(plan.taken, recent.back()) << to_string(now);
    EXPECT_EQ(plan.skipped_through, recent[recent.size() - 2]) << to_string(now);
    EXPECT_EQ(plan.missed, bounds::max_missed);
    EXPECT_EQ(plan.next_occurrence, next_after(cron, zone, now)) << to_string(now);
  }
}

TEST(SchedulePlanTest, OccurrencesDuringAPauseAreSkipped) {
  EXPECT_EQ(resumed("2026-01-01T09:00:00Z", "2026-01-03T09:00:00Z"),
            "took none skipped 3 from 2026-01-01T09:00:00Z through 2026-01-03T09:00:00Z next 2026-01-04T09:00:00Z");
  EXPECT_EQ(resumed("2026-01-01T09:00:00Z", "2026-01-01T08:00:00Z"), "took none next 2026-01-01T09:00:00Z");
}

TEST(SchedulePlanTest, AtTheEndOfTheCalendarTheNextRunIsThere) {
  EXPECT_EQ(due(Misfire::once, "9999-12-31T09:00:00Z", "9999-12-31T10:00:00Z"),
            "took 9999-12-31T09:00:00Z next +10000-01-01T00:00:00Z");
}

}  // namespace
}  // namespace leasehold::support
