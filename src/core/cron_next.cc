// Finds the next match field by field: months, days, then the time of the day. Nothing is stepped through that cannot
// match.
#include <bit>

#include "core/cron.h"
#include "core/cron_field.h"

namespace leasehold {
namespace {

using std::chrono::days;
using std::chrono::hours;
using std::chrono::local_days;
using std::chrono::local_seconds;
using std::chrono::minutes;
using std::chrono::seconds;
using std::chrono::year_month_day;

/// The smallest number of at least `from`; `from` is at most 60.
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

/// The first matching time of the day that is not before `from`.
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
