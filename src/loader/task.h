// A claimed chunk in a loader's hands, from the claim to the verdict. Every method may be called from any thread.
#pragma once

#include <atomic>
#include <memory>
#include <optional>

#include "leasehold/chunk.h"
#include "leasehold/loader.h"
#include "loader/source.h"
#include "worker/live_lease.h"
#include "worker/stop_flag.h"
#include "worker/trouble.h"

namespace leasehold::loader {

/// What a chunk is held under.
struct TaskLease {
  std::optional<LoaderLease> shared;  ///< nothing: its own
  std::shared_ptr<worker::LiveLease> live;
};

class Task {
 public:
  Task(ChunkSource& source, Chunk claimed, std::shared_ptr<const TaskLease> its_lease, const worker::Tell& tell)
      : chunk(std::move(claimed)), lease(std::move(its_lease)), source_(source), tell_(tell) {}

  const Chunk chunk;
  const std::shared_ptr<const TaskLease> lease;
  worker::StopFlag stop;

  /// Both are repeated while the store is away and the lease can be trusted.
  Result<ChunkHeartbeat> save(const ChunkSave& save);
  Result<ChunkSettled> settle(const ChunkVerdict& verdict);

  /// True for the first who asks: a task gets one verdict.
  bool begin_verdict() { return !has_verdict_.exchange(true); }

 private:
  template <typename Ask>
  auto insist(Ask&& ask) -> decltype(ask());

  ChunkSource& source_;
  const worker::Tell& tell_;
  std::atomic<bool> has_verdict_ = false;
};

using TaskPtr = std::shared_ptr<Task>;

}  // namespace leasehold::loader
