// Queues: settings that their jobs share, and how operators stop and empty them. The jobs are in job.h.
//
//   auto queues = store.queues();
//   auto set = queues.set("mail", {.max_running = 4});
//   if (!set) return report(set.error());
//   auto paused = queues.pause("mail", "the provider is down");
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "leasehold/export.h"
#include "leasehold/job.h"
#include "leasehold/lease.h"
#include "leasehold/result.h"
#include "leasehold/time.h"

namespace leasehold {

/// Settings of a queue. Unset: keep the current value. Zero: none.
struct QueueSettings {
  std::optional<int> max_running{};       ///< jobs that run at once; 1 makes the queue a serial processor
  std::optional<int> max_per_group{};     ///< the same for jobs of one group
  std::optional<int> rate_count{};        ///< claims ... (set the two together)
  std::optional<Duration> rate_period{};  ///< ... per this time
  std::optional<Duration> default_ttl{};
  std::optional<Duration> timeout{};  ///< how long an attempt may take, for jobs without a limit of their own
};

struct QueueInfo {
  std::string name;
  bool paused = false;
  std::string pause_reason;
  int max_running = 0;
  int max_per_group = 0;
  int rate_count = 0;
  Duration rate_period{};
  Duration default_ttl{};
  Duration timeout{};
  std::int64_t available = 0;
  std::int64_t deferred = 0;
  std::int64_t blocked = 0;
  std::int64_t running = 0;
  std::int64_t expired = 0;
  std::int64_t failed = 0;                 ///< dead letters
  std::int64_t lapsed = 0;                 ///< jobs that were not started in time
  std::optional<Timestamp> oldest_at{};    ///< when the oldest available job was enqueued
  std::optional<Timestamp> next_due_at{};  ///< when the next deferred job is due
  std::int64_t completed_last_minute = 0;
  std::int64_t failed_last_minute = 0;
  std::int64_t workers = 0;             ///< open workers that listen to the queue, idle ones too
  std::optional<Timestamp> asked_at{};  ///< when a claim last asked for the queue, give or take a minute
  std::optional<JobWait> wait{};        ///< why its oldest available job is not running
  /// Some of the counts of jobs above are estimates: there are more than bounds::max_jobs_counted of one kind.
  bool estimated = false;
  Timestamp store_now{};
};

/// A worker, also an idle one: the lease that it has for all its jobs.
struct WorkerInfo {
  std::int64_t lease_id = 0;
  Holder holder;
  std::vector<std::string> queues;
  int concurrency = 1;       ///< jobs that it runs at once
  std::int64_t running = 0;  ///< jobs that it holds, those that it has not started included
  Timestamp since{};
  Timestamp heartbeat_at{};
  Timestamp held_until{};  ///< when its lease expires; in the past: it is dead, and the next claim takes over
  Timestamp store_now{};
};

class LEASEHOLD_EXPORT Queues {
 public:
  Result<QueueInfo> set(std::string_view name, const QueueSettings& settings) const;
  Result<QueueInfo> pause(std::string_view name, std::string_view reason = {}) const;
  Result<QueueInfo> resume(std::string_view name) const;
  /// Cancels every waiting job; returns how many.
  Result<std::int64_t> purge(std::string_view name) const;
  /// `not_found`: no job was ever enqueued there, and nothing was set.
  Result<QueueInfo> show(std::string_view name) const;
  Result<std::vector<QueueInfo>> list() const;
  /// The workers whose leases are open, by the time since when they work. With a queue: those that listen to it.
  Result<std::vector<WorkerInfo>> workers(std::string_view queue = {}) const;

  /// For the library: only it creates an Impl.
  struct Impl;
  explicit Queues(std::shared_ptr<const Impl> impl) : impl_(std::move(impl)) {}

 private:
  std::shared_ptr<const Impl> impl_;
};

}  // namespace leasehold
