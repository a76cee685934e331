// The model's leases: those that workers open, and what recovery takes from holders that died.
#pragma once

#include "model/job_model.h"

namespace leasehold::model {

inline std::vector<int> JobModel::held_by(int lease) const {
  std::vector<int> held;
  for (int id = 0; id < jobs(); ++id) {
    if (at(id).place == Place::granted && at(id).lease == lease) held.push_back(id);
  }
  return held;
}

inline int JobModel::dead_leases(const std::string& queue) const {
  std::set<int> dead;
  for (const auto& job : jobs_) {
    if (holds(job, queue) && !lease_of(job).live(now_)) dead.insert(job.lease);
  }
  return static_cast<int>(dead.size());
}

inline std::string JobModel::open(const std::string& holder, Moment ttl, const std::string& queue) {
  leases_.push_back({.holder = holder, .of_worker = true, .listens_to = queue, .ttl = ttl, .expires_at = now_ + ttl});
  workers_.push_back(static_cast<int>(leases_.size()) - 1);
  return "open until " + away(now_ + ttl, now_);
}

inline std::string JobModel::extend(int worker) {
  auto& lease = leases_[index(workers_[index(worker)])];
  if (!lease.live(now_)) return "lost " + lease.loss();
  std::set<std::string> queues;
  for (const int id : held_by(workers_[index(worker)])) queues.insert(at(id).request.queue);
  Taken taken;
  for (const auto& queue : queues) pass_deadlines(queue, taken);
  lease.expires_at = now_ + lease.ttl;
  std::vector<int> unwanted;
  for (const int id : held_by(workers_[index(worker)])) {
    if (at(id).unwanted) unwanted.push_back(id);
  }
  return "extended until " + away(lease.expires_at, now_) + " unwanted " + names(unwanted);
}

inline std::string JobModel::close(int worker) {
  auto& lease = leases_[index(workers_[index(worker)])];
  if (lease.ended() && lease.end_reason != "closed") return "lost " + lease.loss();
  lease.end_reason = "closed";
  for (const int id : held_by(workers_[index(worker)])) give_back(at(id), "returned", at(id).solo);
  return "closed";
}

inline std::string JobModel::recover() {
  Taken taken;
  for (int id = 0; id < static_cast<int>(leases_.size()); ++id) {
    if (!leases_[index(id)].ended() && !leases_[index(id)].live(now_)) take_over(id, taken);
  }
  pass_deadlines(std::nullopt, taken);
  return say_recovered(taken.jobs, taken.failed);
}

inline void JobModel::take_over(int lease, Taken& taken) {
  leases_[index(lease)].end_reason = "expired";
  const auto held = held_by(lease);
  for (const int id : held) {
    auto& job = at(id);
    if (overdue(job) && !job.unwanted) {
      time_out(job, taken);
      continue;
    }
    const bool last_crash = held.size() == 1 && !job.unwanted && job.count("expired") + 1 >= job.request.max_crashes;
    if (last_crash) {
      note(job, "expired", true, lease, job.tokens.back());
      ++taken.failed;
      continue;
    }
    give_back(job, held.size() == 1 ? "expired" : "returned", held.size() > 1 || job.solo);
    if (job.place != Place::final) ++taken.jobs;
  }
}

inline void JobModel::give_back(ModelJob& job, const std::string& outcome, bool solo) {
  const bool unwanted = job.unwanted;
  note(job, unwanted ? "cancelled" : outcome, unwanted, job.lease, job.tokens.back());
  if (unwanted) return;
  job.solo = solo;
  job.due_at = now_;
  put(job);
}

}  // namespace leasehold::model
