// The leases that a loader's chunks are held under: one for all, and one of its own for each that must be alone.
//
// A lease that nothing more is attached to is closed as soon as nobody works under it: closing gives its chunks to
// others. Every method may be called from any thread unless it says otherwise.
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
  /// The roster is shared with the leases, whose alarms may ring until the end. Throws std::system_error where no
  /// thread is to be had.
  Leases(ChunksSource& source, std::shared_ptr<Roster> roster, const worker::Tell& tell);

  /// The one that chunks are attached to; a new one where it was lost or retired. Only from one thread at a time.
  Result<std::shared_ptr<const TaskLease>> current();
  std::shared_ptr<const TaskLease> of_its_own(const ChunkGrant& grant);

  /// Nothing more is attached to the current one.
  void retire();
  /// To be called when a task was dropped.
  void close_unused();

 private:
  using LeasePtr = std::shared_ptr<const TaskLease>;

  std::shared_ptr<worker::LiveLease> keep(Duration ttl, BootTime trusted_until, worker::LiveLease::Extend extend);
  void close(const TaskLease& lease);

  ChunksSource& source_;
  const std::shared_ptr<Roster> roster_;
  const worker::Tell& tell_;
  std::mutex mutex_;
  LeasePtr current_;
  std::vector<LeasePtr> retired_;
  /// Its thread uses the above.
  worker::LeaseKeeper keeper_;
};

}  // namespace leasehold::loader
