// How the model's schedules look.
#pragma once

#include "model/schedule_model.h"

namespace leasehold::schedule_model {

inline SeenRun ScheduleModel::seen(Moment occurrence, const ModelRun& run, const std::string& outcome) {
  return {.occurrence = occurrence,
          .cause = run.cause,
          .outcome = outcome,
          .token = run.token,
          .holder = run.holder,
          .started_at = run.started_at,
          .finished_at = run.finished_at,
          .reason = run.reason,
          .through = run.through,
          .missed = run.missed};
}

inline std::string ScheduleModel::show(const std::string& name) {
  auto* schedule = find(name);
  if (schedule == nullptr) return "not_found";
  const auto* run = schedule->under_way();
  const auto idle = schedule->paused_at ? "paused" : schedule->due_at() <= now_ ? "due" : "waiting";
  SeenSchedule seen_now{.state = run == nullptr ? idle
                                 : live(run)    ? "running"
                                                : "expired",
                        .next_run_at = schedule->due_at(),
                        .next_cause = schedule->next_cause,
                        .next_occurrence = schedule->next_occurrence,
                        .paused_at = schedule->paused_at,
                        .pause_reason = schedule->pause_reason,
                        .runner = runner(run)};
  if (schedule->triggered_at && *schedule->triggered_at < schedule->next_run_at) seen_now.next_cause = "triggered";
  Moment latest = 0;
  for (const auto& [occurrence, each] : schedule->runs) {
    if (!each.finished_at || each.token <= latest) continue;
    latest = each.token;
    seen_now.last = say(seen(occurrence, each, each.outcome), now_);
  }
  return say(seen_now, now_);
}

inline std::string ScheduleModel::history(const std::string& name) {
  auto* schedule = find(name);
  if (schedule == nullptr) return "not_found";
  std::string text;
  for (auto each = schedule->runs.rbegin(); each != schedule->runs.rend(); ++each) {
    const auto& [occurrence, run] = *each;
    const auto* under_way = live(&run) ? "running" : "expired";
    text += say(seen(occurrence, run, run.outcome.empty() ? under_way : run.outcome), now_) + "; ";
  }
  return text;
}

inline std::string ScheduleModel::due() {
  SeenDue found;
  const auto later = [&](Moment when) { found.next = std::min(when, found.next.value_or(when)); };
  for (auto& [name, schedule] : schedules_) {
    if (schedule.paused_at) continue;
    const auto* run = schedule.under_way();
    const auto due_at = schedule.due_at();
    if (live(run)) {
      later(run->expires_at);
    } else if (run != nullptr) {
      found.due.emplace_back(std::min(due_at, run->expires_at), name);
    } else if (due_at <= now_) {
      found.due.emplace_back(due_at, name);
    } else {
      later(due_at);
    }
  }
  std::sort(found.due.begin(), found.due.end());
  return say(found, now_);
}

}  // namespace leasehold::schedule_model
