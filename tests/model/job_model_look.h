// The visible state of the model's jobs and queues, and the settings of a queue.
#pragma once

#include "model/job_model.h"

namespace leasehold::model {

inline std::string JobModel::show(int id) const {
  if (!exists(id)) return "not_found";
  const auto& job = at(id);
  const bool granted = job.place == Place::granted;
  Seen seen{.state = job.state(now_, leases_),
            .priority = job.request.priority,
            .attempts = static_cast<int>(job.tokens.size()),
            .failures = job.count("failed"),
            .crashes = job.count("expired"),
            .cancel_requested = job.unwanted,
            .after = {job.after.begin(), job.after.end()}};
  for (const int before : predecessors(job)) {
    seen.predecessors.push_back(job_name(before) + " " + at(before).state(now_, leases_));
  }
  if (!seen.predecessors.empty()) seen.if_failed = job.request.if_failed;
  if ((job.place == Place::deferred || job.place == Place::blocked) && job.due_at > now_) seen.due_at = job.due_at;
  if (job.place == Place::final) seen.finished_at = job.last_word()->at;
  if (granted) {
    seen.expires_at = std::min(lease_of(job).expires_at, job.limit.value_or(lease_of(job).expires_at));
    seen.holder = lease_of(job).holder;
  }
  if (!job.tokens.empty() && job.stage_token == job.tokens.back()) seen.stage = job.stage;
  for (const auto& entry : job.log) seen.story.push_back(entry.outcome);
  if (granted) seen.story.push_back(seen.state);
  seen.luggage = job.request.payload + job.request.metadata + job.cursor;
  seen.batch = job.request.batch;
  const auto batch = batches_.find(job.request.on_batch_end);
  if (batch != batches_.end() && batch->second.end_job == id) seen.on_batch_end = job.request.on_batch_end;
  seen.wait = wait_of(id);
  return say(seen, now_);
}

inline std::string JobModel::show_batch(const std::string& batch) const {
  const auto found = batches_.find(batch);
  if (found == batches_.end()) return "not_found";
  const auto& [unfinished, ended, ended_at, end_job] = found->second;
  const auto count = [&ended = ended](const char* outcome) { return ended.contains(outcome) ? ended.at(outcome) : 0; };
  return say_batch(unfinished, count("completed"), count("failed"), count("cancelled"), count("lapsed"), ended_at,
                   end_job, now_);
}

inline std::string JobModel::show_queue(const std::string& queue) const {
  SeenQueue seen;
  bool known = queues_.contains(queue);
  if (known) seen.paused = queues_.at(queue).paused;
  for (const auto& job : jobs_) {
    if (job.request.queue != queue || job.place == Place::deleted) continue;
    known = true;
    const auto state = job.state(now_, leases_);
    if (state == "available") ++seen.available;
    // A lapsed job counts no more, but has its place until an act records it.
    if (job.ready_at(now_)) {
      // The first that was enqueued, even where the clock fell back since.
      if (!seen.oldest_at) seen.oldest_at = job.created_at;
    }
    if (state == "deferred") ++seen.deferred;
    if (job.place == Place::deferred && job.due_at > now_) {
      seen.next_due_at = std::min(seen.next_due_at.value_or(job.due_at), job.due_at);
    }
    seen.blocked += state == "blocked" ? 1 : 0;
    seen.running += state == "running" ? 1 : 0;
    seen.expired += state == "expired" ? 1 : 0;
    seen.failed += state == "failed" ? 1 : 0;
  }
  return known ? say(seen, now_) : "not_found";
}

inline std::string JobModel::set(const std::string& queue, const QueueSettings& settings) {
  auto& reported = queues_[queue];
  reported.max_running = settings.max_running.value_or(reported.max_running);
  reported.max_per_group = settings.max_per_group.value_or(reported.max_per_group);
  if (settings.rate_count) {
    reported.rate_count = *settings.rate_count;
    reported.rate_period = settings.rate_period->count();
    reported.rate_tat = 0;
  }
  if (settings.default_ttl) reported.default_ttl = settings.default_ttl->count();
  return show_queue(queue);
}

}  // namespace leasehold::model
