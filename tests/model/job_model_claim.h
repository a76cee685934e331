// The model's claim: repeat, paused, what is due, what the dead have left, limits, order.
#pragma once

#include "model/job_model.h"

namespace leasehold::model {

inline std::string JobModel::claim(const Ask& ask) {
  if (!asked_.contains(ask.queue) || asked_[ask.queue] <= now_ - 60'000'000) asked_[ask.queue] = now_;
  if (ask.lease) {
    const auto& lease = leases_[index(workers_[index(*ask.lease)])];
    if (!lease.live(now_)) return "lost " + lease.loss();
  } else if (!ask.request.empty()) {
    for (int id = 0; id < static_cast<int>(leases_.size()); ++id) {
      if (leases_[index(id)].request == ask.request) return replay(ask, id);
    }
  }
  Taken passed;
  if (queues_.contains(ask.queue) && queues_.at(ask.queue).paused) {
    pass_deadlines(std::nullopt, passed);
    return "paused";
  }
  pass_deadlines(ask.queue, passed);
  std::set<int> dead;
  for (auto& job : jobs_) {
    if (holds(job, ask.queue) && !lease_of(job).live(now_)) dead.insert(job.lease);
    if (job.request.queue == ask.queue && job.ready_at(now_)) job.place = Place::ready;
  }
  Taken taken;
  for (const int lease : dead) take_over(lease, taken);
  const auto terms = terms_of(ask);
  if (!terms.refusal.empty()) {
    pass_deadlines(std::nullopt, passed);
    return terms.refusal;
  }
  auto chosen = choose(ask, terms.room);
  remember_turn(ask.queue, chosen);
  // Dead holders may have left jobs that are not started again; they had their turn.
  std::erase_if(chosen, [&](int id) { return lapse(at(id)); });
  if (chosen.empty() && deadline_passed()) {
    pass_deadlines(std::nullopt, passed);
    chosen = choose(ask, terms.room);
    remember_turn(ask.queue, chosen);
    std::erase_if(chosen, [&](int id) { return lapse(at(id)); });
  }
  if (chosen.empty()) return nothing(ask);
  if (terms.rate_step > 0) {
    queues_[ask.queue].rate_tat = terms.rate_tat + terms.rate_step * static_cast<Moment>(chosen.size());
  }
  return grant(ask, chosen);
}

inline std::string JobModel::replay(const Ask& ask, int lease) const {
  const auto& known = leases_[index(lease)];
  if (!known.live(now_)) return "lost " + known.loss();
  Claimed claim{.replayed = true, .holder = ask.holder, .ttl = known.ttl, .expires_at = known.expires_at};
  auto held = held_by(lease);
  std::stable_sort(held.begin(), held.end(),
                   [&](int a, int b) { return at(a).request.priority > at(b).request.priority; });
  for (const int id : held) {
    if (at(id).request.queue != ask.queue || std::ssize(claim.jobs) == ask.max) continue;
    claim.jobs.push_back(id);
    claim.attempts.push_back(static_cast<int>(at(id).tokens.size()));
    // The first attempt had no cursor to get.
    claim.luggage.push_back(at(id).request.metadata + (at(id).tokens.size() > 1 ? at(id).cursor : std::string{}));
    claim.solo = at(id).solo;
  }
  return claim.jobs.empty() ? "lost finished" : say(claim, now_);
}

inline JobModel::Terms JobModel::terms_of(const Ask& ask) const {
  Terms terms{.room = ask.max};
  const auto found = queues_.find(ask.queue);
  if (found == queues_.end()) return terms;
  const auto& queue = found->second;
  if (queue.max_running > 0) {
    terms.room = std::min(terms.room, queue.max_running - running(ask.queue));
    if (terms.room <= 0) terms.refusal = at_capacity(ask.queue, false);
  }
  if (queue.rate_count == 0 || !terms.refusal.empty()) return terms;
  // A leaky bucket: each claim moves the moment at which it is full again.
  terms.rate_step = queue.rate_period / queue.rate_count;
  terms.rate_tat = std::max(queue.rate_tat, now_);
  terms.room =
      static_cast<int>(std::min<Moment>(terms.room, (now_ + queue.rate_period - terms.rate_tat) / terms.rate_step));
  if (terms.room <= 0) {
    terms.refusal = "rate_limited retry " + away(terms.rate_tat + terms.rate_step - queue.rate_period, now_);
  }
  return terms;
}

/// The highest priority first. At a priority that has groups, one job of each in turn, then a second one.
inline std::vector<int> JobModel::choose(const Ask& ask, int room) const {
  const auto found = queues_.find(ask.queue);
  const int per_key = found == queues_.end() ? 0 : found->second.max_per_group;
  std::map<std::string, int> of_key;
  std::vector<int> chosen;
  for (const int id : in_turn(ask.queue)) {
    const auto& key = at(id).request.group;
    if (per_key > 0 && !key.empty() && running(ask.queue, &key) + of_key[key] >= per_key) continue;
    // A batch ends before a job that is to be claimed solo.
    if (std::ssize(chosen) == room || (at(id).solo && !chosen.empty())) break;
    chosen.push_back(id);
    ++of_key[key];
    if (at(id).solo) break;
  }
  return chosen;
}

/// The ready jobs of a queue.
inline std::vector<int> JobModel::in_turn(const std::string& queue) const {
  const auto turn = turns_.contains(queue) ? turns_.at(queue) : std::string{};
  // Behind the group that was served last: to the last one, no group, and from the first one on.
  const auto place = [&](const std::string& group) { return group > turn ? 0 : group.empty() ? 1 : 2; };
  std::map<std::pair<int, std::string>, int> rounds;
  std::vector<std::tuple<int, int, int, std::string, int>> ordered;
  for (int id = 0; id < jobs(); ++id) {
    const auto& job = at(id);
    if (job.request.queue != queue || job.place != Place::ready) continue;
    const int level = -job.request.priority;
    const auto& group = job.request.group;
    ordered.emplace_back(level, rounds[{level, group}]++, place(group), group, id);
  }
  std::sort(ordered.begin(), ordered.end());
  std::vector<int> ids;
  for (const auto& one : ordered) ids.push_back(std::get<4>(one));
  return ids;
}

/// The group of the last job, if jobs of groups waited beside one of them.
inline void JobModel::remember_turn(const std::string& queue, const std::vector<int>& chosen) {
  const auto beside_groups = [&](int id) {
    return std::any_of(jobs_.begin(), jobs_.end(), [&](const ModelJob& job) {
      return job.request.queue == queue && job.place == Place::ready && !job.request.group.empty() &&
             job.request.priority == at(id).request.priority;
    });
  };
  if (std::any_of(chosen.begin(), chosen.end(), beside_groups)) turns_[queue] = at(chosen.back()).request.group;
}

inline std::string JobModel::nothing(const Ask& ask) const {
  bool is_full = false;
  std::optional<Moment> soon;
  const auto consider = [&](Moment when) { soon = std::min(soon.value_or(when), when); };
  for (const auto& job : jobs_) {
    if (job.request.queue != ask.queue) continue;
    if (job.lapsed(now_)) return "busy";
    // Not in a full group: the jobs ahead of it lapsed in this claim, and took its turn.
    if (job.place == Place::ready && !key_is_full(job)) return "busy";
    if (job.place == Place::ready) is_full = true;
    if (job.place == Place::deferred) consider(job.due_at);
    if (job.place == Place::granted) consider(lease_of(job).expires_at);
    if (job.place == Place::granted && job.limit) consider(*job.limit);
    if (job.waits() && job.expires_at) consider(*job.expires_at);
  }
  return is_full ? at_capacity(ask.queue, true) : "empty retry " + away(soon, now_);
}

inline std::string JobModel::at_capacity(const std::string& queue, bool of_full_keys) const {
  int first = nobody;
  for (int id = 0; id < jobs(); ++id) {
    if (!holds(at(id), queue) || (of_full_keys && !key_is_full(at(id)))) continue;
    if (first == nobody || lease_of(at(id)).expires_at < lease_of(at(first)).expires_at) first = id;
  }
  const auto& lease = lease_of(at(first));
  return "at_capacity " + job_name(first) + " of " + lease.holder + " until " + away(lease.expires_at, now_);
}

inline int JobModel::running(const std::string& queue, const std::string* key) const {
  return static_cast<int>(std::count_if(jobs_.begin(), jobs_.end(), [&](const ModelJob& job) {
    return holds(job, queue) && (key == nullptr || job.request.group == *key);
  }));
}

inline bool JobModel::key_is_full(const ModelJob& job) const {
  const auto found = queues_.find(job.request.queue);
  return found != queues_.end() && found->second.max_per_group > 0 && !job.request.group.empty() &&
         running(job.request.queue, &job.request.group) >= found->second.max_per_group;
}

inline std::string JobModel::grant(const Ask& ask, const std::vector<int>& chosen) {
  Claimed claim{.jobs = chosen, .solo = at(chosen.front()).solo, .holder = ask.holder};
  Moment token = now_;
  for (const int id : chosen) token = std::max(token, at(id).token + 1);
  int lease = ask.lease ? workers_[index(*ask.lease)] : -1;
  if (lease < 0 || claim.solo) {
    const auto found = queues_.find(ask.queue);
    const Moment by_default = found == queues_.end() ? 0 : found->second.default_ttl;
    const Moment ttl = lease >= 0       ? leases_[index(lease)].ttl
                       : ask.ttl > 0    ? ask.ttl
                       : by_default > 0 ? by_default
                                        : 300'000'000;
    const Moment limit = chosen.size() == 1 ? at(chosen.front()).request.timeout : 0;
    leases_.push_back({.holder = ask.holder,
                       .ttl = ttl,
                       .expires_at = now_ + (limit > 0 ? std::min(ttl, limit) : ttl),
                       .request = ask.lease ? std::string{} : ask.request});
    lease = static_cast<int>(leases_.size()) - 1;
  }
  for (const int id : chosen) {
    auto& job = at(id);
    job.place = Place::granted;
    job.lease = lease;
    job.token = token;
    job.tokens.push_back(token);
    job.limit = job.request.timeout > 0 ? std::optional(now_ + job.request.timeout) : std::nullopt;
    granted_.push_back(id);
    claim.attempts.push_back(static_cast<int>(job.tokens.size()));
    claim.luggage.push_back(job.request.metadata + job.cursor);
  }
  claim.ttl = leases_[index(lease)].ttl;
  claim.expires_at = leases_[index(lease)].expires_at;
  return say(claim, now_);
}

}  // namespace leasehold::model
