// The leases of a loader's chunks: one for all, and a separate one for each solo chunk.
//
// A lease to which nothing more is attached is closed as soon as no task runs under it: closing gives its chunks to
// other loaders. Call the methods from any thread unless noted otherwise.
#pragma once

#include <memory>
#include <mutex>
#include <vector>

#include "runtime/loader/source.h"
#include "runtime/loader/task.h"
#include "runtime/shared.h"
#include "runtime/worker/lease_keeper.h"

namespace leasehold::loader {

class Leases {
 public:
  /// The roster is shared with the leases: their alarms may ring until the end. Throws std::system_error if no thread
  /// can be started.
  Leases(ChunksSource& source, std::shared_ptr<Roster> roster, const worker::Report& report);

  /// The lease to attach chunks to; a new one if the last was lost or retired. Only from one thread at a time.
  Result<std::shared_ptr<const TaskLease>> current();
  std::shared_ptr<const TaskLease> of_its_own(const ChunkGrant& grant);

  /// Attaches nothing more to the current lease.
  void retire();
  /// Call it when a task was dropped.
  void close_unused();

 private:
  using LeasePtr = std::shared_ptr<const TaskLease>;

  std::shared_ptr<worker::LiveLease> keep(Duration ttl, BootTime trusted_until, worker::LiveLease::Extend extend);
  void close(const TaskLease& lease);

  ChunksSource& source_;
  const std::shared_ptr<Roster> roster_;
  const worker::Report& report_;
  std::mutex mutex_;
  LeasePtr current_;
  std::vector<LeasePtr> retired_;
  /// Its thread uses the members above.
  worker::LeaseKeeper keeper_;
};

}  // namespace leasehold::loader
