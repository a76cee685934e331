#include "core/schedule_plan.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/time_text.h"
#include "support/results.h"

namespace leasehold::support {
namespace {

Timestamp at(std::string_view text) { return parse_moment(text, {}).value(); }

/// The next ones, a blank between them; those of one day by their time only.
std::string next_ones(std::string_view expression, std::string_view zone, std::string_view after, std::size_t max = 1) {
  const auto cron = parse_cron(expression);
  const auto found_zone = find_zone(zone);
  if (!cron) return cron.error().message;
  if (!found_zone) return found_zone.error().message;
  std::string text;
  std::string day;
  for (const auto moment : occurrences(*cron, *found_zone, at(after), Timestamp::max(), max)) {
    const auto full = to_string(moment);
    const auto this_day = full.substr(0, 10);
    text += (text.empty() ? "" : " ") + (this_day == day ? full.substr(11) : full);
    day = this_day;
  }
  return text;
}

struct Row {
  std::string_view expression;
  std::string_view zone;
  std::string_view after;
  std::string_view next;
};

TEST(CalendarTest, TheNextOneIsLater) {
  for (const auto& [expression, zone, after, next] : std::vector<Row>{
           {"0 9 * * *", "UTC", "2026-01-01T08:59:59Z", "2026-01-01T09:00:00Z"},
           {"0 9 * * *", "UTC", "2026-01-01T08:59:59.999999Z", "2026-01-01T09:00:00Z"},
           {"0 9 * * *", "UTC", "2026-01-01T09:00:00Z", "2026-01-02T09:00:00Z"},
           {"0 9 * * *", "UTC", "2026-01-01T09:00:00.000001Z", "2026-01-02T09:00:00Z"},
           {"* * * * * *", "UTC", "2026-12-31T23:59:59Z", "2027-01-01T00:00:00Z"},
           {"0 9 * * *", "Europe/Berlin", "2026-01-01T09:00:00Z", "2026-01-02T08:00:00Z"},
           {"0 9 * * *", "Europe/Berlin", "2026-07-01T09:00:00Z", "2026-07-02T07:00:00Z"},
           {"0 0 1 * *", "Asia/Tokyo", "2026-01-15T00:00:00Z", "2026-01-31T15:00:00Z"},
           {"0 12 * * *", "Asia/Kathmandu", "2026-01-15T00:00:00Z", "2026-01-15T06:15:00Z"},
           {"0 0 29 2 *", "America/New_York", "2097-01-01T00:00:00Z", "2104-02-29T05:00:00Z"},
           {"0 12 1 7 *", "Europe/Berlin", "2499-01-01T00:00:00Z", "2499-07-01T10:00:00Z"},
           {"0 0 L * *", "Pacific/Kiritimati", "2026-02-01T00:00:00Z", "2026-02-27T10:00:00Z"},
           {"0 0 1 1 *", "Europe/Berlin", "9999-06-01T00:00:00Z", "9999-12-31T23:00:00Z"},
           {"0 0 1 1 *", "America/New_York", "9999-06-01T00:00:00Z", ""},
           {"* * * * *", "UTC", "9999-12-31T23:58:30Z", "9999-12-31T23:59:00Z"},
           {"* * * * *", "UTC", "9999-12-31T23:59:00Z", ""},
       }) {
    EXPECT_EQ(next_ones(expression, zone, after), next) << expression << " in " << zone << " after " << after;
  }
}

TEST(CalendarTest, ATimeThatIsLeftOutHappensAsMuchAfterTheChange) {
  for (const auto& [expression, zone, after, next] : std::vector<Row>{
           // 02:00 -> 03:00
           {"30 2 * * *", "Europe/Berlin", "2026-03-28T12:00:00Z", "2026-03-29T01:30:00Z 2026-03-30T00:30:00Z"},
           {"30 2 * * *", "Europe/Berlin", "2026-03-29T01:00:00Z", "2026-03-29T01:30:00Z 2026-03-30T00:30:00Z"},
           {"30 2 * * *", "Europe/Berlin", "2026-03-29T01:30:00Z", "2026-03-30T00:30:00Z 2026-03-31T00:30:00Z"},
           {"30 2 29 3 *", "Europe/Berlin", "2026-03-28T12:00:00Z", "2026-03-29T01:30:00Z 2027-03-29T00:30:00Z"},
           {"30 2 * * *", "America/New_York", "2026-03-07T12:00:00Z", "2026-03-08T07:30:00Z 2026-03-09T06:30:00Z"},
           // 02:00 -> 02:30
           {"15 2 * * *", "Australia/Lord_Howe", "2026-10-03T00:00:00Z", "2026-10-03T15:45:00Z 2026-10-04T15:15:00Z"},
           // 00:00 -> 01:00
           {"0 0 * * *", "Africa/Cairo", "2026-04-23T12:00:00Z", "2026-04-23T22:00:00Z 2026-04-24T21:00:00Z"},
           {"0 0 24 * *", "Africa/Cairo", "2026-04-23T12:00:00Z", "2026-04-23T22:00:00Z 2026-05-23T21:00:00Z"},
           // 23:00 -> 00:00 of the next day
           {"30 23 * * 6", "America/Nuuk", "2026-03-28T12:00:00Z", "2026-03-29T01:30:00Z 2026-04-05T00:30:00Z"},
           // 01:00 -> 03:00
           {"30 2 * * *", "Antarctica/Troll", "2026-03-28T12:00:00Z", "2026-03-29T02:30:00Z 2026-03-30T00:30:00Z"},
           // A whole day: there was no 30 December 2011
           {"0 12 30 12 *", "Pacific/Apia", "2011-12-01T00:00:00Z", "2011-12-30T22:00:00Z 2012-12-29T22:00:00Z"},
           {"0 12 * * *", "Pacific/Apia", "2011-12-29T12:00:00Z", "2011-12-29T22:00:00Z 2011-12-30T22:00:00Z"},
           // By the rule, past the end of the file
           {"30 2 * * *", "Europe/Berlin", "2100-03-27T12:00:00Z", "2100-03-28T01:30:00Z 2100-03-29T00:30:00Z"},
       }) {
    EXPECT_EQ(next_ones(expression, zone, after, 2), next) << expression << " in " << zone << " after " << after;
  }
}

TEST(CalendarTest, SeveralTimesThatAreLeftOutKeepTheirDistance) {
  EXPECT_EQ(next_ones("*/15 2 * * *", "Europe/Berlin", "2026-03-28T12:00:00Z", 5),
            "2026-03-29T01:00:00Z 01:15:00Z 01:30:00Z 01:45:00Z 2026-03-30T00:00:00Z");
  EXPECT_EQ(next_ones("0,30 2,3 * * *", "Europe/Berlin", "2026-03-28T12:00:00Z", 4),
            "2026-03-29T01:00:00Z 01:30:00Z 2026-03-30T00:00:00Z 00:30:00Z")
      << "two times that fall together are one occurrence";
  EXPECT_EQ(next_ones("20 1-4 * * *", "Europe/Berlin", "2026-03-28T12:00:00Z", 4),
            "2026-03-29T00:20:00Z 01:20:00Z 02:20:00Z 23:20:00Z");
  EXPECT_EQ(next_ones("15,45 2,3 * * *", "Australia/Lord_Howe", "2026-10-03T12:00:00Z", 4),
            "2026-10-03T15:45:00Z 16:15:00Z 16:45:00Z 2026-10-04T15:15:00Z");
}

TEST(CalendarTest, ATimeThatComesTwiceHappensTheFirstTime) {
  for (const auto& [expression, zone, after, next] : std::vector<Row>{
           // 03:00 -> 02:00
           {"30 2 * * *", "Europe/Berlin", "2026-10-24T12:00:00Z", "2026-10-25T00:30:00Z 2026-10-26T01:30:00Z"},
           {"30 2 * * *", "Europe/Berlin", "2026-10-25T00:30:00Z", "2026-10-26T01:30:00Z 2026-10-27T01:30:00Z"},
           {"30 2 * * *", "Europe/Berlin", "2026-10-25T01:10:00Z", "2026-10-26T01:30:00Z 2026-10-27T01:30:00Z"},
           {"0 2-3 * * *", "Europe/Berlin", "2026-10-24T12:00:00Z", "2026-10-25T00:00:00Z 02:00:00Z"},
           {"*/30 2 * * *", "Europe/Berlin", "2026-10-25T00:00:00Z", "2026-10-25T00:30:00Z 2026-10-26T01:00:00Z"},
           // 02:00 -> 01:30
           {"45 1 * * *", "Australia/Lord_Howe", "2026-04-04T00:00:00Z", "2026-04-04T14:45:00Z 2026-04-05T15:15:00Z"},
           {"15 1 * * *", "Australia/Lord_Howe", "2026-04-04T00:00:00Z", "2026-04-04T14:15:00Z 2026-04-05T14:45:00Z"},
           // 00:00 -> 23:00 of the day before
           {"30 23 * * *", "Africa/Cairo", "2026-10-29T12:00:00Z", "2026-10-29T20:30:00Z 2026-10-30T21:30:00Z"},
           // By the rule, past the end of the file
           {"30 2 * * *", "Europe/Berlin", "2100-10-30T12:00:00Z", "2100-10-31T00:30:00Z 2100-11-01T01:30:00Z"},
       }) {
    EXPECT_EQ(next_ones(expression, zone, after, 2), next) << expression << " in " << zone << " after " << after;
  }
}

TEST(CalendarTest, ARuleForEveryHourFollowsTheClock) {
  EXPECT_EQ(next_ones("30 * * * *", "Europe/Berlin", "2026-03-29T00:00:00Z", 3),
            "2026-03-29T00:30:00Z 01:30:00Z 02:30:00Z");
  EXPECT_EQ(next_ones("*/20 * * * *", "Europe/Berlin", "2026-03-29T00:20:00Z", 4),
            "2026-03-29T00:40:00Z 01:00:00Z 01:20:00Z 01:40:00Z");
  EXPECT_EQ(next_ones("30 * * * *", "Europe/Berlin", "2026-10-24T23:45:00Z", 3),
            "2026-10-25T00:30:00Z 01:30:00Z 02:30:00Z");
  EXPECT_EQ(next_ones("*/20 0-23 * * *", "Europe/Berlin", "2026-10-25T00:20:00Z", 4),
            "2026-10-25T00:40:00Z 01:00:00Z 01:20:00Z 01:40:00Z");
  EXPECT_EQ(next_ones("*/15 * * * *", "Australia/Lord_Howe", "2026-10-03T15:00:00Z", 4),
            "2026-10-03T15:15:00Z 15:30:00Z 15:45:00Z 16:00:00Z");
  EXPECT_EQ(next_ones("*/15 * * * *", "Australia/Lord_Howe", "2026-04-04T14:30:00Z", 4),
            "2026-04-04T14:45:00Z 15:00:00Z 15:15:00Z 15:30:00Z");
  EXPECT_EQ(next_ones("10 * * * *", "Australia/Lord_Howe", "2026-10-03T14:00:00Z", 3),
            "2026-10-03T14:40:00Z 16:10:00Z 17:10:00Z")
      << "02:10 is not shown that night";
}

TEST(CalendarTest, EveryOtherHourNamesTimesOfTheDay) {
  EXPECT_EQ(next_ones("0 */2 * * *", "Europe/Berlin", "2026-03-28T22:00:00Z", 4),
            "2026-03-28T23:00:00Z 2026-03-29T01:00:00Z 02:00:00Z 04:00:00Z");
  EXPECT_EQ(next_ones("0 */2 * * *", "Europe/Berlin", "2026-10-24T21:00:00Z", 4),
            "2026-10-24T22:00:00Z 2026-10-25T00:00:00Z 03:00:00Z 05:00:00Z");
}

TEST(CalendarTest, OccurrencesEndWithTheLastMomentOrTheirNumber) {
  const auto cron = parse_cron("0 * * * *").value();
  const auto noon = at("2026-01-01T12:00:00Z");
  using std::chrono::hours;
  EXPECT_EQ(occurrences(cron, Zone(), noon, noon + hours(2), 10).size(), 2U);
  EXPECT_EQ(occurrences(cron, Zone(), noon, noon + hours(2) - Duration(1), 10).size(), 1U);
  EXPECT_EQ(occurrences(cron, Zone(), noon, noon + hours(100), 10).size(), 10U);
  EXPECT_TRUE(occurrences(cron, Zone(), noon, noon, 10).empty());
  EXPECT_TRUE(occurrences(cron, Zone(), noon, noon + hours(2), 0).empty());
  EXPECT_TRUE(occurrences(cron, Zone(), Timestamp::max(), Timestamp::max(), 10).empty());
}

}  // namespace
}  // namespace leasehold::support
