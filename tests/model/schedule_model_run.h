// The model's runs: what is due and free is taken, and comes to an end.
#pragma once

#include "model/schedule_model.h"

namespace leasehold::schedule_model {

/// The holder of this token does not have the run any more.
inline std::string ScheduleModel::lost(ModelSchedule& schedule, Moment token) {
  const auto* run = schedule.of_token(token);
  const bool gave_it_back = run != nullptr && !run->outcome.empty() && run->outcome != "lost";
  const auto* why = schedule.token != token ? "superseded" : gave_it_back ? "finished" : "expired";
  return refuse(std::string("lost ") + why, &schedule);
}

inline std::string ScheduleModel::granted(ModelSchedule& schedule, const ModelRun& run, std::int64_t skipped,
                                          bool replayed) {
  const auto [lost, lost_holder] = schedule.lost_before(run.token);
  return say(Granted{.occurrence = schedule.occurrence_of(run),
                     .cause = run.cause,
                     .skipped = skipped,
                     .token = run.token,
                     .expires_at = run.expires_at,
                     .lost = lost,
                     .lost_holder = lost_holder,
                     .replayed = replayed},
             now_);
}

/// The first answer again with what remains of the lease, or lost.
inline std::string ScheduleModel::acquired_before(ModelSchedule* schedule, const Requested& before) {
  if (schedule == nullptr) return "lost superseded";
  auto* run = schedule->under_way();
  if (run != nullptr && (schedule->id != before.schedule || run->token != before.token)) {
    return refuse("lost superseded", schedule);
  }
  if (!live(run)) {
    auto ended = before.ended;
    for (auto& [name, other] : schedules_) {
      if (other.id == before.schedule) ended = other.of_token(before.token)->outcome;
    }
    return refuse(ended.empty() || ended == "lost" ? "lost expired" : "lost finished", schedule);
  }
  std::int64_t skipped = 0;
  for (const auto& [occurrence, each] : schedule->runs) {
    const bool with_it = each.reason.rfind("misfire", 0) == 0 && each.finished_at == run->started_at;
    skipped += with_it ? each.missed : 0;
  }
  return granted(*schedule, *run, skipped, true);
}

/// Takes what is due or wanted, and moves the schedule on. No occurrence: all that was due came too long ago.
inline ScheduleModel::Taken ScheduleModel::take(ModelSchedule& schedule, bool at_once) {
  Taken taken;
  const bool wanted = at_once || schedule.triggered_at;
  const bool is_due = schedule.next_run_at <= now_;
  if (is_due && schedule.definition.cron) {
    const auto plan = schedule.plan(now_);
    if (plan.missed > 0) schedule.skip(plan.skipped_from, plan.skipped_through, plan.missed, "misfire", now_);
    taken = {.occurrence = plan.taken, .cause = plan.cause, .skipped = plan.missed};
    schedule.await(plan.next_occurrence);
  } else if (is_due) {
    taken = {.occurrence = schedule.next_run_at, .cause = schedule.next_cause};
  }
  if (!taken.occurrence && wanted) {
    taken.occurrence = now_;
    taken.cause = "triggered";
  }
  if (!schedule.definition.cron && (is_due || !schedule.next_given)) {
    schedule.next_run_at = now_ + schedule.definition.period;
    schedule.next_cause = "scheduled";
    schedule.next_given = false;
  } else if (schedule.definition.cron && schedule.next_cause == "retry") {
    schedule.await(*schedule.next_occurrence);
  }
  schedule.triggered_at.reset();
  return taken;
}

inline std::string ScheduleModel::acquire(const std::string& name, const AcquireAsk& ask) {
  auto* schedule = find(name);
  if (const auto before = requests_.find(ask.request); before != requests_.end()) {
    return acquired_before(schedule, before->second);
  }
  if (schedule == nullptr) return "not_found";
  if (schedule->paused_at) return refuse("paused", schedule);
  auto* before = schedule->under_way();
  if (live(before)) return refuse("held", schedule);
  if (before != nullptr) schedule->lose(*before, now_);
  if (!ask.at_once && schedule->due_at() > now_) return not_due(*schedule);
  const auto taken = take(*schedule, ask.at_once);
  if (!taken.occurrence) return not_due(*schedule);
  const auto token = next_token(*schedule);
  tokens_[name].push_back(token);
  if (!ask.request.empty()) requests_[ask.request] = {.schedule = schedule->id, .token = token};
  const auto occurrence = schedule->note(*taken.occurrence, {.cause = taken.cause,
                                                             .token = token,
                                                             .holder = ask.holder,
                                                             .ttl = schedule->definition.ttl,
                                                             .expires_at = now_ + schedule->definition.ttl,
                                                             .started_at = now_});
  return granted(*schedule, schedule->runs.at(occurrence), taken.skipped, false);
}

inline std::string ScheduleModel::heartbeat(const std::string& name, int ago) {
  auto* schedule = find(name);
  if (schedule == nullptr) return "not_found";
  const auto token = given(name, ago);
  auto* run = schedule->of_token(token);
  if (run == nullptr || !run->outcome.empty() || !live(run)) return lost(*schedule, token);
  run->expires_at = now_ + run->ttl;
  return "extended until " + away(run->expires_at, now_);
}

/// A holder's verdict on its run: a repetition, new, or lost.
inline std::string ScheduleModel::ended(const std::string& name, int ago, const std::string& verdict,
                                        std::optional<Moment> next) {
  auto* schedule = find(name);
  if (schedule == nullptr) return "not_found";
  const auto token = given(name, ago);
  auto* run = schedule->of_token(token);
  const bool said_before = run != nullptr && run->outcome == verdict;
  if (run == nullptr || (!run->outcome.empty() && !said_before)) return lost(*schedule, token);
  if (!said_before) {
    if (verdict == "released") {
      schedule->retry(now_);
      schedule->next_given = schedule->next_given && schedule->definition.cron;
      schedule->next_run_at = std::min(schedule->next_run_at, now_);
    } else {
      go_on_after(*schedule, verdict == "completed", next);
    }
    run->end(verdict, now_);
  }
  if (verdict == "released") return "released";
  return say_next(said_before ? "finished again" : "finished", schedule->due_at(), now_);
}

/// A next run from the verdict, or one that was set before, replaces the one of the rule.
inline void ScheduleModel::go_on_after(ModelSchedule& schedule, bool ok, std::optional<Moment> next) const {
  const auto& definition = schedule.definition;
  if (next) next = std::max(*next, now_);
  if (next && !ok && schedule.next_occurrence && *next < *schedule.next_occurrence) return schedule.retry(*next);
  if (next) return schedule.plan_at(*next, ok || definition.cron ? "scheduled" : "retry");
  if (schedule.next_given) return;
  if (!ok && definition.on_fail) return schedule.retry(now_ + *definition.on_fail);
  if (definition.cron) return;
  schedule.next_run_at = now_ + definition.period;
  schedule.next_cause = "scheduled";
}

inline std::string ScheduleModel::settle(const std::string& name, int ago, bool ok, std::optional<Moment> next) {
  return ended(name, ago, ok ? "completed" : "failed", next);
}

inline std::string ScheduleModel::release(const std::string& name, int ago) {
  return ended(name, ago, "released", std::nullopt);
}

}  // namespace leasehold::schedule_model
