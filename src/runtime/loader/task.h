// A claimed chunk of a loader, from the claim to the verdict. Call its methods from any thread.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "leasehold/chunk.h"
#include "leasehold/loader.h"
#include "runtime/loader/source.h"
#include "runtime/shared.h"
#include "runtime/worker/attempt.h"

namespace leasehold::loader {

/// The lease of a chunk.
struct TaskLease {
  std::optional<SharedLease> shared;  ///< nothing: its own
  std::shared_ptr<worker::LiveLease> live;
};

class Task {
 public:
  Task(ChunksSource& source, Chunk claimed, std::shared_ptr<const TaskLease> its_lease, const worker::Report& report)
      : chunk(std::move(claimed)), lease(std::move(its_lease)), source_(source), report_(report) {}

  const Chunk chunk;
  const std::shared_ptr<const TaskLease> lease;
  worker::StopFlag stop;

  /// Both are retried during a store outage, as long as the lease can be trusted.
  Result<ChunkHeartbeat> save(const ChunkSave& save);
  Result<ChunkSettled> settle(const Verdict& verdict);

  /// True for the first call: a task gets one verdict.
  bool begin_verdict() { return !has_verdict_.exchange(true); }

 private:
  /// When to give up asking.
  [[nodiscard]] BootTime patience_ends() const;

  ChunksSource& source_;
  const worker::Report& report_;
  std::atomic<bool> has_verdict_ = false;
};

using TaskPtr = std::shared_ptr<Task>;

// The chunks that are being loaded. Call its methods from any thread.
class Roster {
 public:
  void add(const TaskPtr& task) {
    const std::lock_guard lock(mutex_);
    tasks_.push_back(task);
  }
  void remove(const TaskPtr& task) {
    const std::lock_guard lock(mutex_);
    std::erase(tasks_, task);
  }
  [[nodiscard]] std::vector<TaskPtr> tasks() const {
    const std::lock_guard lock(mutex_);
    return tasks_;
  }

  /// Stops the tasks under a lease; with none, all of them.
  void stop(const worker::LiveLease* lease, StopReason why) const {
    // Not under the mutex: stop callbacks are the user's code.
    for (const auto& task : tasks()) {
      if (lease == nullptr || task->lease->live.get() == lease) task->stop.raise(why);
    }
  }

 private:
  mutable std::mutex mutex_;
  std::vector<TaskPtr> tasks_;
};

}  // namespace leasehold::loader
