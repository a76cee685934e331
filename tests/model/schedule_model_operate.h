// The model's operators: set, trigger, pause, resume, rename, remove, fire, recover.
#pragma once

#include "model/schedule_model.h"

namespace leasehold::schedule_model {

inline std::string ScheduleModel::set(const std::string& name, const Definition& definition,
                                      std::optional<Moment> next) {
  auto* schedule = find(name);
  const bool created = schedule == nullptr;
  if (next) next = std::max(*next, now_);
  const bool moved = next && (created || schedule->next_run_at != *next || !schedule->next_given ||
                              schedule->next_cause != "scheduled");
  if (!created && !moved && schedule->definition == definition) return say_next("same", schedule->due_at(), now_);
  if (created) {
    schedule = &schedules_[name];
    schedule->id = ++ids_;
  }
  const auto before = schedule->definition;
  schedule->definition = definition;
  if (created || !before.same_rule(definition)) {
    if (schedule->next_given) {
      if (before.cron != definition.cron) {
        schedule->plan_at(schedule->next_occurrence.value_or(schedule->next_run_at), "scheduled");
      }
    } else if (definition.cron) {
      schedule->await(schedule->occurrence_after(now_));
    } else {
      schedule->next_occurrence.reset();
      if (created || schedule->next_run_at > now_ + definition.period) {
        schedule->next_run_at = now_ + definition.period;
        schedule->next_cause = "scheduled";
      }
    }
  }
  if (moved) schedule->plan_at(*next, "scheduled");
  return say_next(created ? "created" : "changed", schedule->due_at(), now_);
}

inline std::string ScheduleModel::ensure(const std::string& name, const Definition& definition,
                                         std::optional<Moment> next) {
  auto wanted = definition;
  wanted.queue = false;
  const auto* schedule = find(name);
  if (schedule == nullptr && !wanted.cron && !next) {
    // A caller with a command wants to run it.
    set(name, wanted, next);
    find(name)->next_run_at = now_;
    return say_next("created", now_, now_);
  }
  if (schedule == nullptr) return set(name, wanted, next);
  return say_next(schedule->definition == wanted ? "there" : "differs", schedule->due_at(), now_);
}

inline std::string ScheduleModel::trigger(const std::string& name) {
  auto* schedule = find(name);
  if (schedule == nullptr) return "not_found";
  if (schedule->paused_at) return refuse("paused", schedule);
  if (!schedule->triggered_at) schedule->triggered_at = now_;
  return refuse("triggered", schedule);
}

inline std::string ScheduleModel::pause(const std::string& name, const std::string& reason) {
  auto* schedule = find(name);
  if (schedule == nullptr) return "not_found";
  schedule->paused_at = schedule->paused_at.value_or(now_);
  schedule->pause_reason = reason;
  return "paused";
}

inline std::string ScheduleModel::resume(const std::string& name) {
  auto* schedule = find(name);
  if (schedule == nullptr) return "not_found";
  if (schedule->paused_at && schedule->next_occurrence && *schedule->next_occurrence <= now_) {
    const auto [latest, earlier] = schedule->latest_until(now_);
    schedule->skip(*schedule->next_occurrence, latest, std::min(earlier + 1, most_missed), "paused", now_);
    schedule->await(schedule->occurrence_after(latest));
  }
  schedule->paused_at.reset();
  schedule->pause_reason.clear();
  return say_next("resumed", schedule->due_at(), now_);
}

inline std::string ScheduleModel::rename(const std::string& name, const std::string& to) {
  if (find(name) == nullptr) return "not_found";
  if (name == to) return "renamed";
  if (find(to) != nullptr) return "invalid_argument";
  auto moved = schedules_.extract(name);
  moved.key() = to;
  schedules_.insert(std::move(moved));
  tokens_[to] = std::move(tokens_[name]);
  tokens_[name].clear();
  return "renamed";
}

inline std::string ScheduleModel::remove(const std::string& name) {
  auto* schedule = find(name);
  if (schedule == nullptr) return "not_found";
  if (auto* run = schedule->under_way(); run != nullptr) {
    if (live(run)) return refuse("held", schedule);
    schedule->lose(*run, now_);
  }
  for (auto& [request, requested] : requests_) {
    if (requested.schedule == schedule->id) requested.ended = schedule->of_token(requested.token)->outcome;
  }
  schedules_.erase(name);
  return "removed";
}

inline std::string ScheduleModel::fire(const std::string& name) {
  auto* schedule = find(name);
  if (schedule == nullptr || !schedule->definition.queue) return "not_found";
  if (schedule->paused_at) return refuse("paused", schedule);
  if (schedule->due_at() > now_) return not_due(*schedule);
  const auto taken = take(*schedule, false);
  if (!taken.occurrence) return not_due(*schedule);
  const auto occurrence = schedule->note(*taken.occurrence, {.cause = taken.cause,
                                                             .outcome = "enqueued",
                                                             .token = next_token(*schedule),
                                                             .started_at = now_,
                                                             .finished_at = now_});
  return "enqueued " + away(occurrence, now_) + " " + taken.cause + " skipped " + std::to_string(taken.skipped);
}

inline std::string ScheduleModel::recover() {
  std::int64_t lost = 0;
  for (auto& [name, schedule] : schedules_) {
    auto* run = schedule.under_way();
    if (run == nullptr || live(run)) continue;
    schedule.lose(*run, now_);
    ++lost;
  }
  return "recovered " + std::to_string(lost);
}

}  // namespace leasehold::schedule_model
