// Random rules in random zones against a model that knows no shortcut: it looks at every minute, asks of each whether
// the rule names it, and lets the zone say when that is.
//
// RC_PARAMS="seed=..." replays a run.
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>

#include "core/schedule_plan.h"
#include "model/drawing.h"
#include "support/random_cron.h"

namespace leasehold::support {
namespace {

using std::chrono::days;
using std::chrono::hours;
using std::chrono::local_days;
using std::chrono::local_seconds;
using std::chrono::minutes;
using std::chrono::seconds;
using std::chrono::sys_seconds;

constexpr auto how_far = days(2);

bool has(Bits bits, unsigned number) { return (bits >> number & 1) != 0; }

unsigned weekday_of(local_days day) { return std::chrono::weekday(day).c_encoding(); }
unsigned number_of(local_days day) { return static_cast<unsigned>(std::chrono::year_month_day(day).day()); }
std::chrono::month month_of(local_days day) { return std::chrono::year_month_day(day).month(); }
bool is_workday(local_days day) { return weekday_of(day) != 0 && weekday_of(day) != 6; }

/// How many days are left in its month.
unsigned days_left(local_days day) {
  unsigned left = 0;
  while (month_of(day + days(left + 1)) == month_of(day)) ++left;
  return left;
}

/// No workday of the month is nearer to `wanted`; of two as near, Friday goes with Saturday and Monday with Sunday.
bool is_workday_nearest_to(local_days day, local_days wanted) {
  if (!is_workday(day) || month_of(day) != month_of(wanted)) return false;
  for (int away = 0; away <= 2; ++away) {
    for (const auto candidate : {wanted - days(away), wanted + days(away)}) {
      if (is_workday(candidate) && month_of(candidate) == month_of(wanted)) return candidate == day;
    }
  }
  return false;
}

bool day_of_month_matches(const Cron::DaysOfMonth& rule, local_days day) {
  if (has(rule.on, number_of(day)) || has(rule.before_last, days_left(day))) return true;
  for (int away = -2; away <= 2; ++away) {
    const auto near = day + days(away);
    const bool wanted = has(rule.workday_near, number_of(near)) || (rule.last_workday && days_left(near) == 0);
    if (wanted && is_workday_nearest_to(day, near)) return true;
  }
  return false;
}

bool day_of_week_matches(const Cron::DaysOfWeek& rule, local_days day) {
  const auto weekday = weekday_of(day);
  return has(rule.on, weekday) || has(rule.nth.at((number_of(day) - 1) / 7), weekday) ||
         (days_left(day) < 7 && has(rule.last, weekday));
}

bool day_matches(const Cron& cron, local_days day) {
  constexpr Bits every_day = 0xFFFF'FFFE;
  constexpr Bits every_weekday = 0x7F;
  const bool by_day = day_of_month_matches(cron.days, day);
  const bool by_weekday = day_of_week_matches(cron.weekdays, day);
  const bool either = cron.days.on != every_day && cron.weekdays.on != every_weekday;
  return has(cron.months, static_cast<unsigned>(month_of(day))) &&
         (either ? by_day || by_weekday : by_day && by_weekday);
}

seconds offset_at(const Zone& zone, sys_seconds when) { return zone.period_at(when).offset; }

/// When a clock first shows that time; if it never does, when a clock that was not put forward would show it.
sys_seconds moment_of(const Zone& zone, local_seconds shown) {
  const sys_seconds as_utc(shown.time_since_epoch());
  const auto before = offset_at(zone, as_utc - hours(36));
  const auto after = offset_at(zone, as_utc + hours(36));
  for (const auto offset : {std::max(before, after), std::min(before, after)}) {
    if (offset_at(zone, as_utc - offset) == offset) return as_utc - offset;
  }
  return as_utc - before;
}

/// The second of the minute does not depend on anything else.
sys_seconds with_second(const Cron& cron, sys_seconds minute, sys_seconds after) {
  for (unsigned second = 0; second < 60; ++second) {
    if (has(cron.seconds, second) && minute + seconds(second) > after) return minute + seconds(second);
  }
  return sys_seconds::max();
}

bool matches(const Cron& cron, local_seconds shown) {
  const auto day = std::chrono::floor<days>(shown);
  const auto time = shown - day;
  return has(cron.minutes, static_cast<unsigned>(time % hours(1) / minutes(1))) &&
         has(cron.hours, static_cast<unsigned>(time / hours(1))) && day_matches(cron, day);
}

/// The next one within a few days, by looking at every minute: of real time for every hour, otherwise of what clocks
/// show.
std::optional<Timestamp> model_next(const Cron& cron, const Zone& zone, sys_seconds after) {
  const bool every_hour = cron.hours == (Bits{1} << 24) - 1;
  const auto first = std::chrono::floor<minutes>(after);
  auto earliest = sys_seconds::max();
  for (auto minute = first; every_hour && minute < first + how_far; minute += minutes(1)) {
    const local_seconds shown(minute.time_since_epoch() + offset_at(zone, minute));
    if (matches(cron, shown)) earliest = std::min(earliest, with_second(cron, minute, after));
  }
  const local_seconds start(first.time_since_epoch() - hours(30));
  for (auto shown = start; !every_hour && shown < start + hours(60) + how_far; shown += minutes(1)) {
    if (matches(cron, shown)) earliest = std::min(earliest, with_second(cron, moment_of(zone, shown), after));
  }
  if (earliest == sys_seconds::max()) return std::nullopt;
  return earliest;
}

/// Draws one rule and holds it against the model. True if there was something to compare.
bool compare_one(RandomCron& random) {
  const auto expression = random.expression();
  const auto cron = parse_cron(expression);
  if (!cron) return false;
  const auto zone = find_zone(random.zone()).value();
  const auto after = std::chrono::floor<seconds>(random.moment(zone));
  const auto next = next_after(*cron, zone, after);
  const auto expected = model_next(*cron, zone, after);
  RC_ASSERT(next.has_value());
  RC_ASSERT(*next > after);
  if (!expected) {
    RC_ASSERT(*next >= std::chrono::floor<minutes>(after) + how_far);
    return false;
  }
  if (*next != *expected) {
    RC_FAIL(expression + " in " + zone.name() + " after " + to_string(Timestamp(after)) + ": expected " +
            to_string(*expected) + ", found " + to_string(*next));
  }
  return true;
}

TEST(CalendarModelTest, TheNextOneIsWhatLookingAtEveryMinuteFinds) {
  draw(100);
  int compared = 0;
  EXPECT_TRUE(rc::check([&] {
    RandomCron random(*rc::gen::arbitrary<std::uint64_t>(), RandomCron::Grammar::full);
    // Changes of the clocks are rare, and most rules are not about the hour of it.
    for (int rules = 0; rules < 8; ++rules) compared += compare_one(random) ? 1 : 0;
  }));
  EXPECT_GT(compared, 0);
}

TEST(CalendarModelTest, TheNormalFormReadsAsTheSameRule) {
  draw(100);
  EXPECT_TRUE(rc::check([] {
    RandomCron random(*rc::gen::arbitrary<std::uint64_t>(), RandomCron::Grammar::full);
    const auto text = *rc::gen::arbitrary<bool>() ? random.expression() : random.broken_expression();
    RC_LOG() << text << '\n';
    const auto cron = parse_cron(text);
    if (!cron) {
      RC_ASSERT(cron.error().message.starts_with("cron: "));
      return;
    }
    const auto again = parse_cron(to_string(*cron));
    RC_ASSERT(again.ok());
    RC_ASSERT(*again == *cron);
    RC_ASSERT(to_string(*again) == to_string(*cron));
  }));
}

}  // namespace
}  // namespace leasehold::support
