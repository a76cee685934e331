#include "core/calendar.h"

#include <algorithm>

namespace leasehold {
namespace {

using std::chrono::local_seconds;
using std::chrono::seconds;
using std::chrono::sys_days;
using std::chrono::sys_seconds;
using std::chrono::year;

constexpr sys_seconds end_of_calendar = sys_days(year(10000) / 1 / 1);

local_seconds to_local(sys_seconds when, seconds offset) { return local_seconds(when.time_since_epoch() + offset); }

/// The first match that a clock with this offset shows in [from, until) of real time.
std::optional<sys_seconds> next_shown(const Cron& cron, seconds offset, sys_seconds from, sys_seconds until) {
  const auto found = next_local(cron, to_local(from, offset), to_local(until, offset));
  if (!found) return std::nullopt;
  return sys_seconds(found->time_since_epoch() - offset);
}

/// The first match in [from, period.end); `from` lies in the period. `before` is the offset of the period before it.
std::optional<sys_seconds> next_in(const Cron& cron, const ZonePeriod& period, seconds before, sys_seconds from) {
  const auto forward = period.offset - before;
  if (is_every_hour(cron) || forward == seconds(0)) return next_shown(cron, period.offset, from, period.end);
  if (forward < seconds(0)) {
    // Clocks were put back: the times until they show something new have been.
    return next_shown(cron, period.offset, std::max(from, period.begin - forward), period.end);
  }
  // Clocks were put forward: one that nobody touched would still show the times that were left out.
  const auto left_out = next_shown(cron, before, from, std::min(period.begin + forward, period.end));
  const auto shown = next_shown(cron, period.offset, from, period.end);
  return left_out && shown ? std::min(left_out, shown) : left_out ? left_out : shown;
}

}  // namespace

std::optional<Timestamp> next_after(const Cron& cron, const Zone& zone, Timestamp after) {
  if (after >= end_of_calendar) return std::nullopt;
  auto from = std::chrono::floor<seconds>(after) + seconds(1);
  while (from < end_of_calendar) {
    auto period = zone.period_at(from);
    const auto before = zone.period_at(period.begin - seconds(1)).offset;
    period.end = std::min(period.end, end_of_calendar);
    if (const auto found = next_in(cron, period, before, from)) return *found;
    from = period.end;
  }
  return std::nullopt;
}

std::vector<Timestamp> occurrences(const Cron& cron, const Zone& zone, Timestamp after, Timestamp until,
                                   std::size_t most) {
  std::vector<Timestamp> found;
  while (found.size() < most) {
    const auto next = next_after(cron, zone, after);
    if (!next || *next > until) break;
    found.push_back(*next);
    after = *next;
  }
  return found;
}

}  // namespace leasehold
