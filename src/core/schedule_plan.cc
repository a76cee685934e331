#include "core/schedule_plan.h"

#include <algorithm>

namespace leasehold {
namespace {

/// What is due by now.
struct DueOnes {
  Timestamp first{};
  Timestamp latest{};
  std::optional<Timestamp> before_latest{};
  std::int64_t earlier = 0;  ///< how many come before the latest, up to most_missed
  Timestamp next{};          ///< the first that is not due
};

/// The last one up to `now`, where `counted` is one of them. There is no way to look backwards, so the span in which
/// it lies is halved: from its middle on another one comes in time, or none does.
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

/// Counting has come to its end, and more is due.
void jump_to_latest(const Cron& cron, const Zone& zone, Timestamp now, DueOnes& due) {
  const auto counted = due.latest;
  due.latest = latest_until(cron, zone, counted, now);
  due.before_latest = latest_until(cron, zone, counted, due.latest - Duration(1));
  due.next = next_occurrence_after(cron, zone, due.latest);
}

/// The calendar goes on from its next occurrence, not from the retry: what lies between the two may have been skipped
/// already.
DueOnes due_ones(const Cron& cron, const Zone& zone, const Upcoming& upcoming, Timestamp now) {
  const auto& [occurrence, retry] = upcoming;
  if (retry && occurrence > now) return {.first = *retry, .latest = *retry, .next = occurrence};
  DueOnes due{.first = retry.value_or(occurrence), .latest = occurrence, .before_latest = retry};
  due.earlier = retry ? 1 : 0;
  due.next = next_occurrence_after(cron, zone, occurrence);
  while (due.next <= now && due.earlier < most_missed) {
    due.before_latest = due.latest;
    due.latest = due.next;
    due.next = next_occurrence_after(cron, zone, due.latest);
    ++due.earlier;
  }
  if (due.next <= now) jump_to_latest(cron, zone, now, due);
  return due;
}

/// The latest one is taken; those before it are skipped.
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
          .missed = std::min(due.earlier + 1, most_missed)};
}

}  // namespace

Timestamp next_occurrence_after(const Cron& cron, const Zone& zone, Timestamp after) {
  constexpr Timestamp end_of_calendar = std::chrono::sys_days(std::chrono::year(10000) / 1 / 1);
  return next_after(cron, zone, after).value_or(end_of_calendar);
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
