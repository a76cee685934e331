// On which days of a month it happens.
#include "core/cron.h"
#include "core/cron_field.h"

namespace leasehold {
namespace {

using std::chrono::local_days;
using std::chrono::year_month;

/// What lies within a month, and where its weekdays fall.
struct Month {
  explicit Month(year_month month)
      : length(static_cast<unsigned>((month / std::chrono::last).day())),
        first_weekday(std::chrono::weekday(local_days(month / 1)).c_encoding()) {}

  [[nodiscard]] unsigned weekday_of(unsigned day) const { return (first_weekday + day - 1) % 7; }
  /// The first day of the month that is such a weekday.
  [[nodiscard]] unsigned first(unsigned weekday) const { return 1 + (weekday + 7 - first_weekday) % 7; }

  /// Monday to Friday, nearest to that day and within the month.
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

}  // namespace leasehold
