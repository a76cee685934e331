#include "schedule/schedules.h"

#include "model/words.h"

namespace leasehold::schedule {
namespace {

struct Calendar {
  Cron cron;
  Zone zone;
};

Result<Calendar> calendar_of(const sql::ScheduleAnswer& asked) {
  auto cron = parse_cron(asked.cron.value_or(""));
  if (!cron) return std::move(cron).error();
  auto zone = find_zone(asked.zone.value_or("UTC"));
  if (!zone) return std::move(zone).error();
  return Calendar{*cron, std::move(*zone)};
}

}  // namespace

Result<DuePlan> plan_for_taking(const sql::ScheduleAnswer& asked) {
  const auto calendar = calendar_of(asked);
  if (!calendar) return calendar.error();
  const auto policy = from_word<Misfire>(asked.misfire.value_or("")).value_or(Misfire::once);
  // An occurrence is in time even if it is late by its jitter.
  const auto in_time = asked.misfire_after.value_or(Duration{}) + asked.jitter.value_or(Duration{});
  const Upcoming upcoming{.occurrence = asked.next_occurrence.value_or(Timestamp{}),
                          .retry = asked.cause == "retry" ? asked.next_run_at : std::nullopt};
  return plan_due(calendar->cron, calendar->zone, policy, in_time, upcoming, asked.wall_now);
}

Result<DuePlan> plan_for_resuming(const sql::ScheduleAnswer& asked) {
  const auto calendar = calendar_of(asked);
  if (!calendar) return calendar.error();
  return plan_resume(calendar->cron, calendar->zone, asked.next_occurrence.value_or(Timestamp{}), asked.wall_now);
}

}  // namespace leasehold::schedule
