// The matching days of a month.
#include <bit>

#include "core/cron.h"
#include "core/cron_field.h"

namespace leasehold {
namespace {

using std::chrono::local_days;
using std::chrono::year_month;

/// The length of a month, and where its weekdays fall.
struct Month {
  explicit Month(year_month month)
      : length(static_cast<unsigned>((month / std::chrono::last).day())),
        first_weekday(std::chrono::weekday(local_days(month / 1)).c_encoding()) {}

  [[nodiscard]] unsigned weekday_of(unsigned day) const { return (first_weekday + day - 1) % 7; }
  /// The first day of the month that falls on this weekday.
  [[nodiscard]] unsigned first(unsigned weekday) const { return 1 + (weekday + 7 - first_weekday) % 7; }

  /// The weekday from Monday to Friday nearest to that day, within the month.
  [[nodiscard]] unsigned workday_near(unsigned day) const {
    constexpr unsigned sunday = 0;
    constexpr unsigned saturday = 6;
    if (weekday_of(day) == saturday) return day == 1 ? 3 : day - 1;
    if (weekday_of(day) == sunday) return day == length ? day - 2 : day + 1;
    return day;
  }

  unsigned length;
  unsigned first_weekday;
};

Bits days_of_month_in(const Cron::DaysOfMonth& rule, const Month& month) {
  Bits found = rule.on;
  for (unsigned day = 1; day <= month.length; ++day) {
    if (has(rule.before_last, month.length - day)) found |= Bits{1} << day;
    if (has(rule.workday_near, day)) found |= Bits{1} << month.workday_near(day);
  }
  if (rule.last_workday) found |= Bits{1} << month.workday_near(month.length);
  return found;
}

Bits days_of_week_in(const Cron::DaysOfWeek& rule, const Month& month) {
  Bits found = 0;
  for (unsigned weekday = 0; weekday < 7; ++weekday) {
    const auto first = month.first(weekday);
    for (unsigned week = 0; first + 7 * week <= month.length; ++week) {
      const auto day = first + 7 * week;
      const bool is_last = day + 7 > month.length;
      if (has(rule.on | rule.nth.at(week) | (is_last ? rule.last : 0), weekday)) found |= Bits{1} << day;
    }
  }
  return found;
}

}  // namespace

Bits days_in(const Cron& cron, year_month month) {
  const Month facts(month);
  const auto by_day = days_of_month_in(cron.days, facts);
  const auto by_weekday = days_of_week_in(cron.weekdays, facts);
  const bool both_restrict = cron.days.on != all_of(day_field) && cron.weekdays.on != all_of(weekday_field);
  const auto in_month = ((Bits{1} << facts.length) - 1) << 1;
  return (both_restrict ? by_day | by_weekday : by_day & by_weekday) & in_month;
}

// Finds the next match field by field: months, days, then the time of day. It never steps through values that cannot
// match.
namespace {

using std::chrono::days;
using std::chrono::hours;
using std::chrono::local_days;
using std::chrono::local_seconds;
using std::chrono::minutes;
using std::chrono::seconds;
using std::chrono::year_month_day;

/// The smallest set bit that is at least `from`; `from` is at most 60.
std::optional<unsigned> first_from(Bits bits, unsigned from) {
  const auto rest = bits >> from;
  if (rest == 0) return std::nullopt;
  return from + static_cast<unsigned>(std::countr_zero(rest));
}

/// The first matching day in [from, until).
std::optional<local_days> next_day(const Cron& cron, local_days from, local_days until) {
  const year_month_day start(from);
  auto day = static_cast<unsigned>(start.day());
  for (auto month = start.year() / start.month(); local_days(month / 1) < until; month += std::chrono::months(1)) {
    if (has(cron.months, static_cast<unsigned>(month.month()))) {
      if (const auto found = first_from(days_in(cron, month), day)) return local_days(month / static_cast<int>(*found));
    }
    day = 1;
  }
  return std::nullopt;
}

/// The first matching time of day that is not before `from`.
std::optional<seconds> next_time(const Cron& cron, seconds from) {
  const auto at = [](unsigned hour, unsigned minute, unsigned second) {
    return hours(hour) + minutes(minute) + seconds(second);
  };
  const auto hour = static_cast<unsigned>(from / hours(1));
  const auto minute = static_cast<unsigned>(from % hours(1) / minutes(1));
  const auto second = static_cast<unsigned>(from % minutes(1) / seconds(1));
  const auto first_second = *first_from(cron.seconds, 0);
  if (has(cron.hours, hour)) {
    const auto later_second = first_from(cron.seconds, second);
    if (has(cron.minutes, minute) && later_second) return at(hour, minute, *later_second);
    if (const auto later = first_from(cron.minutes, minute + 1)) return at(hour, *later, first_second);
  }
  const auto later_hour = first_from(cron.hours, hour + 1);
  if (!later_hour) return std::nullopt;
  return at(*later_hour, *first_from(cron.minutes, 0), first_second);
}

}  // namespace

bool is_every_hour(const Cron& cron) { return cron.hours == all_of(hour_field); }

std::optional<local_seconds> next_local(const Cron& cron, local_seconds from, local_seconds until) {
  auto start = std::chrono::floor<days>(from);
  auto time = next_time(cron, from - start);
  if (!time) {
    start += days(1);
    time = next_time(cron, seconds(0));
  }
  const auto day = next_day(cron, start, std::chrono::ceil<days>(until));
  if (!day) return std::nullopt;
  const auto found = *day + (*day == start ? *time : *next_time(cron, seconds(0)));
  if (found >= until) return std::nullopt;
  return found;
}

}  // namespace leasehold
