// Where a worker's jobs come from and its verdicts go: the part of Jobs that the runtime needs, so that tests can be
// the store.
//
// Every method may be called from any thread; wait_for_work only from one.
#pragma once

#include <span>
#include <stop_token>
#include <string>
#include <vector>

#include "leasehold/queue.h"
#include "leasehold/result.h"

namespace leasehold::worker {

class WorkSource {
 public:
  virtual ~WorkSource() = default;

  virtual Result<WorkLease> open_lease() = 0;
  virtual Result<Jobs::Extended> extend(const WorkLease& lease) = 0;
  /// What it still holds goes back to its queue.
  virtual Result<void> close(const WorkLease& lease) = 0;

  /// Asks once. A job that must be alone comes under a lease of its own; all others are attached to `lease`.
  virtual Result<JobGrant> claim(const std::string& queue, int most, const WorkLease& lease) = 0;
  virtual Result<JobHeartbeat> heartbeat(JobId id, Token token, const Progress& progress) = 0;

  virtual Result<std::vector<Result<Settled>>> complete(std::span<const JobVerdict> jobs) = 0;
  virtual Result<std::vector<Result<Settled>>> release(std::span<const JobVerdict> jobs) = 0;
  virtual Result<Settled> fail(JobId id, Token token, const FailOptions& options) = 0;
  virtual Result<Settled> snooze(JobId id, Token token, Duration delay) = 0;

  /// Sleeps until there may be a new job since the last call returned, until `until`, or until told to stop.
  virtual void wait_for_work(BootTime until, const std::stop_token& stop) = 0;
};

}  // namespace leasehold::worker
