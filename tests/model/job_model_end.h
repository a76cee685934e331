// How the model's jobs end, also by a deadline, and what follows for their dependents and their batch.
#pragma once

#include "model/job_model.h"

namespace leasehold::model {

inline void JobModel::note(ModelJob& job, const std::string& outcome, bool final, int lease, Moment token) {
  job.log.push_back({.token = token, .outcome = outcome, .final = final, .lease = lease, .at = now_});
  job.token = token;
  if (!final) return;
  job.place = Place::final;
  job.unwanted = false;
  job.stage.clear();
  if (outcome == "completed") job.cursor.clear();
  const int id = id_of(job);
  if (const auto key = keys_.find(key_of(job)); key != keys_.end() && key->second.job == id) {
    if (key->second.until.value_or(now_) <= now_) keys_.erase(key);
  }
  if (outcome != "completed") let_down(id, false);
  count_in_batch(job, outcome, 1);
}

inline void JobModel::end_waiting(ModelJob& job, const std::string& outcome) {
  job.after.clear();
  job.batch_open = false;
  note(job, outcome, true, -1, std::max(now_, job.token + 1));
}

inline bool JobModel::lapse(ModelJob& job) {
  if (!job.lapsed(now_)) return false;
  end_waiting(job, "lapsed");
  return true;
}

inline bool JobModel::overdue(const ModelJob& job) const {
  return job.place == Place::granted && job.limit && *job.limit <= now_ && *job.limit <= lease_of(job).expires_at;
}

inline void JobModel::time_out(ModelJob& job, Taken& taken) {
  const auto token = job.tokens.back();
  const bool unwanted = job.unwanted;
  apply(static_cast<int>(&job - jobs_.data()), {.word = "fail"});
  for (auto& entry : job.log) entry.timed_out |= entry.token == token;
  auto& lease = leases_[index(job.lease)];
  if (lease.end_reason == "completed") lease.end_reason = "expired";
  if (!unwanted) ++(job.dead() ? taken.failed : taken.jobs);
}

inline bool JobModel::deadline_passed() const {
  return std::any_of(jobs_.begin(), jobs_.end(), [&](const ModelJob& job) {
    return job.lapsed(now_) || (job.place == Place::granted && job.limit && *job.limit <= now_);
  });
}

inline void JobModel::pass_deadlines(const std::optional<std::string>& queue, Taken& taken) {
  std::vector<std::pair<Moment, int>> passed;
  for (int id = 0; id < jobs(); ++id) {
    const auto& job = at(id);
    if (queue && job.request.queue != *queue) continue;
    if (job.lapsed(now_)) passed.emplace_back(*job.expires_at, id);
    if (overdue(job)) passed.emplace_back(*job.limit, id);
  }
  std::sort(passed.begin(), passed.end());
  for (const auto& [when, id] : passed) {
    lapse(at(id));
    if (overdue(at(id))) time_out(at(id), taken);
  }
}

inline void JobModel::unblock(int done) {
  for (auto& job : jobs_) {
    if (job.after.erase(done) > 0 && job.after.empty() && !job.batch_open) put(job);
  }
}

inline void JobModel::let_down(int id, bool removed) {
  for (auto& job : jobs_) {
    if (!job.after.contains(id)) continue;
    if (job.request.if_failed == "run") {
      job.after.erase(id);
      if (job.after.empty() && !job.batch_open) put(job);
    } else if (job.request.if_failed == "cancel" || removed) {
      end_waiting(job);
    }
  }
}

inline void JobModel::count_in_batch(const ModelJob& job, const std::string& outcome, int count) {
  if (job.request.batch.empty()) return;
  auto& batch = batches_[job.request.batch];
  batch.unfinished -= count;
  batch.ended[outcome == "expired" ? "failed" : outcome] += count;
  batch.ended_at = batch.unfinished == 0 ? std::optional(now_) : std::nullopt;
  if (batch.unfinished > 0 || !exists(batch.end_job) || !at(batch.end_job).batch_open) return;
  auto& last = at(batch.end_job);
  last.batch_open = false;
  if (last.after.empty()) put(last);
}

}  // namespace leasehold::model
