// The model's enqueue: the job that has the dedupe key, batches, and what a new job waits for.
#pragma once

#include "model/job_model.h"

namespace leasehold::model {

inline std::string JobModel::enqueue(const Request& request) {
  if (const int owner = owner_of_key(request); owner != nobody && !lapse(at(owner))) {
    const bool updated = rewrite(at(owner), request);
    return "known " + job_name(owner) + (updated ? " updated " : " ") + at(owner).state(now_, leases_);
  }
  if (!std::all_of(request.after.begin(), request.after.end(), [&](int id) { return exists(id); })) {
    return "invalid_argument";
  }
  if (!request.on_batch_end.empty() && (request.on_batch_end == request.batch || has_end_job(request.on_batch_end))) {
    return "invalid_argument";
  }
  jobs_.push_back({.request = request, .created_at = now_, .due_at = now_ + request.delay});
  const int id = jobs() - 1;
  auto& job = at(id);
  if (!request.dedupe_key.empty()) {
    keys_[key_of(job)] = {.job = id, .until = after(request.dedupe_for)};
  }
  if (!request.batch.empty()) {
    ++batches_[request.batch].unfinished;
    batches_[request.batch].ended_at.reset();
  }
  if (!request.on_batch_end.empty()) batches_[request.on_batch_end].end_job = id;
  if (must_not_run(job)) {
    end_waiting(job);
  } else {
    job.expires_at = after(request.expires_in);
    wait_for_predecessors(job);
    put(job);
    lapse(job);
  }
  return "new " + job_name(id) + " " + job.state(now_, leases_);
}

inline std::string JobModel::enqueue(const Request& request, int count) {
  std::string reported;
  for (int i = 0; i < count; ++i) reported += enqueue(request) + "; ";
  return reported;
}

inline int JobModel::owner_of_key(const Request& request) const {
  const auto found = request.dedupe_key.empty() ? keys_.end() : keys_.find(key_of(request));
  if (found == keys_.end()) return nobody;
  const auto& [job, until] = found->second;
  return at(job).place != Place::final || until.value_or(now_) > now_ ? job : nobody;
}

inline bool JobModel::key_is_taken(const ModelJob& job) const {
  const int owner = owner_of_key(job.request);
  return owner != nobody && owner != id_of(job);
}

inline bool JobModel::rewrite(ModelJob& job, const Request& by) {
  if (by.dedupe_mode == DedupeMode::keep || !job.waits()) return false;
  job.due_at = now_ + by.delay;
  if (by.dedupe_mode == DedupeMode::replace) {
    job.request.payload = by.payload;
    job.request.metadata = by.metadata;
    job.request.priority = by.priority;
    job.request.timeout = by.timeout;
    job.expires_at = after(by.expires_in);
  }
  put(job);
  lapse(job);
  return true;
}

inline bool JobModel::has_end_job(const std::string& batch) const {
  const auto found = batches_.find(batch);
  return found != batches_.end() && exists(found->second.end_job) && at(found->second.end_job).place != Place::final;
}

inline std::set<int> JobModel::predecessors(const ModelJob& job) const {
  std::set<int> all;
  for (const int id : job.request.after) {
    if (exists(id)) all.insert(id);
  }
  return all;
}

inline bool JobModel::must_not_run(const ModelJob& job) const {
  const auto all = predecessors(job);
  return job.request.if_failed == "cancel" &&
         std::any_of(all.begin(), all.end(), [&](int id) { return at(id).dead(); });
}

inline void JobModel::wait_for_predecessors(ModelJob& job) const {
  for (const int id : predecessors(job)) {
    if (at(id).completed() || (at(id).dead() && job.request.if_failed == "run")) continue;
    job.after.insert(id);
  }
  const auto batch = batches_.find(job.request.on_batch_end);
  job.batch_open = batch != batches_.end() && batch->second.end_job == id_of(job) && !batch->second.ended_at;
}

inline void JobModel::put(ModelJob& job) const {
  job.place = !job.after.empty() || job.batch_open ? Place::blocked
              : job.due_at > now_                  ? Place::deferred
                                                   : Place::ready;
}

}  // namespace leasehold::model
