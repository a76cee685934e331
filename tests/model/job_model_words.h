// The words in which the model and the stores are compared: what an act gave, as one line of text.
//
// Jobs are named by the order in which they were enqueued, times by how far away they are: both mean the same on every
// store, where ids and tokens do not.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace leasehold::model {

/// A moment, in microseconds.
using Moment = std::int64_t;

inline constexpr int nobody = -1;  ///< instead of a job that there never was

inline std::string away(std::optional<Moment> when, Moment now) {
  return when ? std::to_string(*when - now) + "us" : "-";
}

inline std::string job_name(int job) { return "job" + std::to_string(job); }

inline std::string names(const std::vector<int>& jobs) {
  std::string text;
  for (const int job : jobs) text += (text.empty() ? "" : " ") + job_name(job);
  return "[" + text + "]";
}

/// A claim that was granted.
struct Claimed {
  std::vector<int> jobs;
  std::vector<int> attempts;
  std::vector<std::string> luggage;  ///< the metadata and the cursor of each
  bool solo = false;
  bool replayed = false;
  std::string holder;
  Moment ttl = 0;
  Moment expires_at = 0;
};

inline std::string say(const Claimed& claim, Moment now) {
  std::string text = "granted to " + claim.holder + ":";
  for (std::size_t i = 0; i < claim.jobs.size(); ++i) {
    text += " " + job_name(claim.jobs[i]) + " attempt " + std::to_string(claim.attempts[i]) + " with '" +
            claim.luggage[i] + "'";
  }
  return text + (claim.solo ? " solo" : "") + (claim.replayed ? " again" : "") + " ttl " + std::to_string(claim.ttl) +
         " until " + away(claim.expires_at, now);
}

/// A job as one sees it.
struct Seen {
  std::string state;
  int priority = 0;
  int attempts = 0;
  int failures = 0;
  int crashes = 0;
  std::optional<Moment> due_at;
  std::optional<Moment> finished_at;
  std::optional<Moment> expires_at;
  std::string holder;
  std::string stage;
  bool cancel_requested = false;
  std::vector<int> after;
  std::vector<std::string> predecessors;  ///< with their states
  std::string if_failed;
  std::vector<std::string> story;  ///< the outcomes of its attempts
  std::string luggage;             ///< payload, metadata, cursor
  std::string batch;
  std::string on_batch_end;
  std::string wait;  ///< why it does not run
};

inline std::string say_wait(const std::string& reason, int job, std::optional<Moment> until, Moment now) {
  return reason + (job == nobody ? "" : " " + job_name(job)) + (until ? " until " + away(until, now) : "");
}

/// A batch as one sees it.
inline std::string say_batch(std::int64_t unfinished, std::int64_t completed, std::int64_t failed,
                             std::int64_t cancelled, std::int64_t lapsed, std::optional<Moment> ended_at, int end_job,
                             Moment now) {
  return "unfinished " + std::to_string(unfinished) + " completed " + std::to_string(completed) + " failed " +
         std::to_string(failed) + " cancelled " + std::to_string(cancelled) + " lapsed " + std::to_string(lapsed) +
         " ended " + away(ended_at, now) + (end_job == nobody ? "" : " then " + job_name(end_job));
}

inline std::string say(const Seen& job, Moment now) {
  std::string text = job.state + " priority " + std::to_string(job.priority) + " attempts " +
                     std::to_string(job.attempts) + " failures " + std::to_string(job.failures) + " crashes " +
                     std::to_string(job.crashes) + " due " + away(job.due_at, now) + " finished " +
                     away(job.finished_at, now) + " expires " + away(job.expires_at, now) + " holder '" + job.holder +
                     "' stage '" + job.stage + "'" + (job.cancel_requested ? " unwanted" : "") + " after " +
                     names(job.after) + " of";
  for (const auto& before : job.predecessors) text += " " + before;
  text += " " + job.if_failed + " story";
  for (const auto& outcome : job.story) text += " " + outcome;
  return text + " with '" + job.luggage + "' batch '" + job.batch + "' end of '" + job.on_batch_end + "' waits '" +
         job.wait + "'";
}

/// A queue as one sees it.
struct SeenQueue {
  bool paused = false;
  std::int64_t available = 0;
  std::int64_t deferred = 0;
  std::int64_t blocked = 0;
  std::int64_t running = 0;
  std::int64_t expired = 0;
  std::int64_t failed = 0;
  std::optional<Moment> oldest_at;
  std::optional<Moment> next_due_at;
};

inline std::string say(const SeenQueue& queue, Moment now) {
  return std::string(queue.paused ? "paused" : "open") + " available " + std::to_string(queue.available) +
         " deferred " + std::to_string(queue.deferred) + " blocked " + std::to_string(queue.blocked) + " running " +
         std::to_string(queue.running) + " expired " + std::to_string(queue.expired) + " failed " +
         std::to_string(queue.failed) + " oldest " + away(queue.oldest_at, now) + " next " +
         away(queue.next_due_at, now);
}

/// Not how many leases: one that died idle, with nothing to give back, may have been ended by any claim before.
inline std::string say_recovered(std::int64_t jobs, std::int64_t failed) {
  return "recovered jobs " + std::to_string(jobs) + " failed " + std::to_string(failed);
}

}  // namespace leasehold::model
