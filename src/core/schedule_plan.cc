#include "core/schedule_plan.h"

#include <algorithm>

namespace leasehold {
namespace {

using std::chrono::local_seconds;
using std::chrono::seconds;
using std::chrono::sys_days;
using std::chrono::sys_seconds;
using std::chrono::year;

constexpr sys_seconds end_of_calendar = sys_days(year(bounds::last_year + 1) / 1 / 1);

local_seconds to_local(sys_seconds when, seconds offset) { return local_seconds(when.time_since_epoch() + offset); }

/// The first match that a clock with this offset shows in [from, until) of real time.
std::optional<sys_seconds> next_shown(const Cron& cron, seconds offset, sys_seconds from, sys_seconds until) {
  const auto found = next_local(cron, to_local(from, offset), to_local(until, offset));
  if (!found) return std::nullopt;
  return sys_seconds(found->time_since_epoch() - offset);
}

/// The first match in [from, period.end); `from` lies in the period. `before` is the offset of the previous period.
std::optional<sys_seconds> next_in(const Cron& cron, const ZonePeriod& period, seconds before, sys_seconds from) {
  const auto forward = period.offset - before;
  if (is_every_hour(cron) || forward == seconds(0)) return next_shown(cron, period.offset, from, period.end);
  if (forward < seconds(0)) {
    // Clocks were set back: skip the local times that have already occurred.
    return next_shown(cron, period.offset, std::max(from, period.begin - forward), period.end);
  }
  // Clocks were set forward: an unadjusted clock would still show the skipped times.
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
                                   std::size_t max) {
  std::vector<Timestamp> found;
  while (found.size() < max) {
    const auto next = next_after(cron, zone, after);
    if (!next || *next > until) break;
    found.push_back(*next);
    after = *next;
  }
  return found;
}

namespace {

/// The due occurrences.
struct DueOnes {
  Timestamp first{};
  Timestamp latest{};
  std::optional<Timestamp> before_latest{};
  std::int64_t earlier = 0;  ///< occurrences before the latest, up to bounds::max_missed
  Timestamp next{};          ///< the first occurrence that is not due
};

/// The last occurrence up to `now`; `counted` is one of them. There is no backward search, so this halves the interval:
/// either an occurrence up to `now` follows its middle, or none does.
Timestamp latest_until(const Cron& cron, const Zone& zone, Timestamp counted, Timestamp now) {
  auto end = now;
  while (counted < end) {
    const auto middle = counted + (end - counted) / 2;
    const auto found = next_after(cron, zone, middle);
    if (found && *found <= now) {
      counted = *found;
    } else {
      end = middle;
    }
  }
  return counted;
}

/// Called when counting reaches its bound and more occurrences are due.
void jump_to_latest(const Cron& cron, const Zone& zone, Timestamp now, DueOnes& due) {
  const auto counted = due.latest;
  due.latest = latest_until(cron, zone, counted, now);
  due.before_latest = latest_until(cron, zone, counted, due.latest - Duration(1));
  due.next = next_occurrence_after(cron, zone, due.latest);
}

/// The calendar continues from its next occurrence, not from the retry: the occurrences between the two may already
/// have been skipped.
DueOnes due_ones(const Cron& cron, const Zone& zone, const Upcoming& upcoming, Timestamp now) {
  const auto& [occurrence, retry] = upcoming;
  if (retry && occurrence > now) return {.first = *retry, .latest = *retry, .next = occurrence};
  DueOnes due{.first = retry.value_or(occurrence), .latest = occurrence, .before_latest = retry};
  due.earlier = retry ? 1 : 0;
  due.next = next_occurrence_after(cron, zone, occurrence);
  while (due.next <= now && due.earlier < bounds::max_missed) {
    due.before_latest = due.latest;
    due.latest = due.next;
    due.next = next_occurrence_after(cron, zone, due.latest);
    ++due.earlier;
  }
  if (due.next <= now) jump_to_latest(cron, zone, now, due);
  return due;
}

/// Takes the latest occurrence and skips the earlier ones.
DuePlan take_latest(const DueOnes& due) {
  DuePlan plan{.taken = due.latest, .next_occurrence = due.next};
  if (due.earlier > 0) {
    plan.skipped_from = due.first;
    plan.skipped_through = due.before_latest;
    plan.missed = due.earlier;
  }
  return plan;
}

DuePlan skip_all(const DueOnes& due) {
  return {.next_occurrence = due.next,
          .skipped_from = due.first,
          .skipped_through = due.latest,
          .missed = std::min(due.earlier + 1, bounds::max_missed)};
}

}  // namespace

Timestamp next_occurrence_after(const Cron& cron, const Zone& zone, Timestamp after) {
  return next_after(cron, zone, after).value_or(Timestamp(end_of_calendar));
}

DuePlan plan_due(const Cron& cron, const Zone& zone, Misfire policy, Duration misfire_after, const Upcoming& upcoming,
                 Timestamp now) {
  const auto& [occurrence, retry] = upcoming;
  if (retry.value_or(occurrence) > now) return {.next_occurrence = occurrence};
  if (policy == Misfire::all) {
    return {.taken = retry.value_or(occurrence),
            .next_occurrence = retry ? occurrence : next_occurrence_after(cron, zone, occurrence)};
  }
  const auto due = due_ones(cron, zone, upcoming, now);
  const bool in_time = policy == Misfire::once || now - due.latest <= misfire_after;
  return in_time ? take_latest(due) : skip_all(due);
}

DuePlan plan_resume(const Cron& cron, const Zone& zone, Timestamp next_occurrence, Timestamp now) {
  if (next_occurrence > now) return {.next_occurrence = next_occurrence};
  return skip_all(due_ones(cron, zone, {.occurrence = next_occurrence}, now));
}

}  // namespace leasehold
