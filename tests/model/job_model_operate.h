// What operators do to the model's jobs: cancel, retry, remove, redrive and purge them, and pause their queue.
#pragma once

#include "model/job_model.h"

namespace leasehold::model {

inline std::string JobModel::cancel(int id) {
  if (!exists(id)) return "not_found";
  auto& job = at(id);
  lapse(job);
  if (job.place == Place::final) return job.state(now_, leases_);
  if (job.place == Place::granted) {
    job.unwanted = true;
    return "running";
  }
  end_waiting(job);
  return "cancelled";
}

inline std::string JobModel::retry(int id) {
  if (!exists(id)) return "not_found";
  auto& job = at(id);
  lapse(job);
  if (job.ready_at(now_)) return "available";
  if (job.place == Place::granted) return "held";
  if (job.place == Place::blocked) return "invalid_argument";
  if (job.completed()) return "invalid_argument";
  if (job.dead() && must_not_run(job)) return "invalid_argument";
  if (const int owner = owner_of_key(job.request); job.dead() && owner != nobody) lapse(at(owner));
  if (job.dead() && key_is_taken(job)) return "invalid_argument";
  bring_back(job);
  return job.place == Place::blocked ? "blocked" : "available";
}

inline void JobModel::bring_back(ModelJob& job) {
  if (job.place == Place::final) {
    count_in_batch(job, job.last_word()->outcome, -1);
    if (!job.request.dedupe_key.empty() && owner_of_key(job.request) == nobody) {
      keys_[key_of(job)] = {.job = id_of(job)};
    }
    for (auto& entry : job.log) entry.final = false;
    if (job.expires_at && *job.expires_at <= now_) job.expires_at.reset();
    note(job, "retried", false, -1, std::max(now_, job.token + 1));
    wait_for_predecessors(job);
  }
  job.solo = false;
  job.due_at = now_;
  put(job);
}

inline std::string JobModel::remove(int id) {
  if (!exists(id)) return "not_found";
  if (at(id).place == Place::granted) return "held";
  lapse(at(id));
  const bool waited = at(id).waits();
  if (const auto key = keys_.find(key_of(at(id))); key != keys_.end() && key->second.job == id) keys_.erase(key);
  at(id).place = Place::deleted;
  at(id).after.clear();
  at(id).batch_open = false;
  let_down(id, true);
  if (waited) count_in_batch(at(id), "cancelled", 1);
  return "removed";
}

inline std::string JobModel::redrive(const std::string& queue) {
  int count = 0;
  for (auto& job : jobs_) {
    if (job.request.queue != queue || job.place != Place::final) continue;
    if (job.state(now_, leases_) != "failed" || key_is_taken(job) || must_not_run(job)) continue;
    bring_back(job);
    ++count;
  }
  return std::to_string(count);
}

inline std::string JobModel::purge(const std::string& queue) {
  std::vector<ModelJob*> waiting;
  for (auto& job : jobs_) {
    if (job.request.queue == queue && job.waits()) waiting.push_back(&job);
  }
  // All at once: none is cancelled because of another one.
  for (auto* job : waiting) {
    job->after.clear();
    job->batch_open = false;
  }
  for (auto* job : waiting) end_waiting(*job);
  return std::to_string(waiting.size());
}

inline std::string JobModel::pause(const std::string& queue, bool paused) {
  // Nothing that was never stopped has to be remembered as going on.
  if (paused || queues_.contains(queue)) queues_[queue].paused = paused;
  const auto seen = show_queue(queue);
  return seen == "not_found" ? say(SeenQueue{}, now_) : seen;
}

}  // namespace leasehold::model
