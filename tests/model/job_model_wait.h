// The model's answer to the question why a job does not run.
#pragma once

#include "model/job_model.h"

namespace leasehold::model {

/// The first reason in the order in which people must act on them.
inline std::string JobModel::wait_of(int id) const {
  const auto& job = at(id);
  const auto state = job.state(now_, leases_);
  const auto& queue = job.request.queue;
  if (state == "running" || state == "lapsed" || job.place == Place::final) return "";
  if (queues_.contains(queue) && queues_.at(queue).paused) return "paused";
  if (state == "blocked") return blocked_wait(job);
  if (state == "deferred") return say_wait("not_due", nobody, job.due_at, now_);
  if (state == "available") {
    if (const auto reason = available_wait(job); !reason.empty()) return reason;
  }
  if (!is_worked(queue)) return "no_worker";
  return state != "expired" ? "turn" : overdue(job) ? "timed_out" : "recovering";
}

/// A predecessor that has ended without completing comes first: it needs an operator.
inline std::string JobModel::blocked_wait(const ModelJob& job) const {
  int first = nobody;
  for (const int id : job.after) {
    if (first == nobody || (at(id).place == Place::final && at(first).place != Place::final)) first = id;
  }
  return say_wait("blocked", first, std::nullopt, now_);
}

/// A limit or a rate that is in the way.
inline std::string JobModel::available_wait(const ModelJob& job) const {
  const auto found = queues_.find(job.request.queue);
  if (found == queues_.end()) return "";
  const auto& queue = found->second;
  const auto say_runner = [&](const std::string& reason, const std::vector<int>& running) {
    return say_wait(reason, running.front(), runs_until(at(running.front())), now_);
  };
  const auto all = runners(job.request.queue);
  if (queue.max_running > 0 && std::ssize(all) >= queue.max_running) return say_runner("at_capacity", all);
  if (queue.rate_count > 0) {
    const auto step = queue.rate_period / queue.rate_count;
    const auto until = std::max(queue.rate_tat, now_) + step - queue.rate_period;
    if (until > now_) return say_wait("rate_limited", nobody, until, now_);
  }
  const auto of_group = runners(job.request.queue, &job.request.group);
  const bool is_full = queue.max_per_group > 0 && std::ssize(of_group) >= queue.max_per_group;
  return is_full && !job.request.group.empty() ? say_runner("group_full", of_group) : "";
}

inline std::vector<int> JobModel::runners(const std::string& queue, const std::string* group) const {
  std::vector<int> ids;
  for (int id = 0; id < jobs(); ++id) {
    if (!holds(at(id), queue) || lease_of(at(id)).ended() || runs_until(at(id)) <= now_) continue;
    if (group == nullptr || at(id).request.group == *group) ids.push_back(id);
  }
  std::stable_sort(ids.begin(), ids.end(), [&](int a, int b) { return runs_until(at(a)) < runs_until(at(b)); });
  return ids;
}

/// A claim has asked for the queue in the last five minutes, or a living worker listens to it.
inline bool JobModel::is_worked(const std::string& queue) const {
  const bool asked = asked_.contains(queue) && asked_.at(queue) > now_ - 300'000'000;
  return asked || std::any_of(leases_.begin(), leases_.end(), [&](const ModelLease& lease) {
           return lease.of_worker && lease.listens_to == queue && lease.live(now_);
         });
}

}  // namespace leasehold::model
