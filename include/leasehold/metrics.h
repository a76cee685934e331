// Numbers about a store, for monitoring: how much there is now, and totals that only grow.
//
//   auto metrics = store.metrics();
//   if (!metrics) { log(metrics.error().message); return; }
//   for (const auto& jobs : metrics->jobs) gauge("jobs", jobs.queue, jobs.state, jobs.count);
//
// The totals contain everything that ever happened in the store: pruning does not lower them. Acts do not count
// anything themselves. The store adds up its history when it is read, so what happened in the last moment may be
// missing, and what an open transaction did appears after its commit.
//
// At most `bounds::metric_names` queues, sets and schedules have numbers of their own; the rest share the name `other`.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "leasehold/time.h"

namespace leasehold {

/// A number, and what it counts; the words that do not apply are empty.
struct StoreCount {
  std::string kind;      ///< of a lease: lock, job, chunk, session, item, path, schedule, row
  std::string queue;     ///< of jobs
  std::string set;       ///< of chunks
  std::string schedule;  ///< of runs
  std::string state;     ///< running, expired, available ...
  std::string cause;     ///< of a takeover: expired, process_gone, timed_out
  std::string reason;    ///< why leases ended: released, completed, failed, expired, process_gone, revoked, closed ...
  std::string outcome;   ///< of attempts, jobs and runs: completed, failed, cancelled ...
  std::int64_t count = 0;
};

/// A time, and what it belongs to.
struct StoreSpan {
  std::string queue;
  std::string schedule;
  Duration span{};
};

/// Times of the jobs of a queue.
struct StoreHistogram {
  std::string queue;
  std::int64_t count = 0;
  Duration sum{};
  std::vector<std::int64_t> buckets;  ///< how many took up to each of `histogram_bounds`, and how many took longer
};

constexpr std::array<Duration, 6> histogram_bounds = {std::chrono::milliseconds(100), std::chrono::seconds(1),
                                                      std::chrono::seconds(10),       std::chrono::minutes(1),
                                                      std::chrono::minutes(10),       std::chrono::hours(1)};

struct StoreMetrics {
  // Now.
  std::vector<StoreCount> leases;         ///< by kind and state
  std::vector<StoreCount> jobs;           ///< by queue and state
  std::vector<StoreSpan> oldest_waiting;  ///< by queue: since when its oldest available job has existed
  std::vector<StoreCount> workers;        ///< by queue: open workers that listen to it
  std::vector<StoreCount> chunks;         ///< by set and state
  std::vector<StoreCount> sessions;       ///< by state
  std::vector<StoreSpan> schedule_lag;    ///< by schedule: for how long its next run has been due
  // Totals.
  std::vector<StoreCount> grants;         ///< leases, by kind; those of jobs are counted when their attempt ends
  std::vector<StoreCount> takeovers;      ///< leases that the store took from their holders, by kind and cause
  std::vector<StoreCount> ended;          ///< leases, by kind and reason
  std::vector<StoreCount> attempts;       ///< of jobs, by queue and outcome
  std::vector<StoreCount> finished;       ///< jobs, by queue and outcome
  std::vector<StoreCount> schedule_runs;  ///< by schedule and outcome
  std::vector<StoreHistogram> waits;      ///< by queue: from the enqueue of a job to its first claim
  std::vector<StoreHistogram> runs;       ///< by queue: from the claim of a job to the end of the attempt
  Timestamp store_now{};
};

}  // namespace leasehold
