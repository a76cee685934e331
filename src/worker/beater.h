// Keeps a worker's leases alive, a third of their ttl apart, passes on what the store tells of cancelled jobs, and
// sends progress. A thread of its own; every method may be called from any thread.
#pragma once

#include <atomic>
#include <memory>

#include "worker/lease_keeper.h"
#include "worker/source.h"
#include "worker/trouble.h"
#include "worker/workbench.h"

namespace leasehold::worker {

class Beater {
 public:
  /// Throws std::system_error where no thread is to be had.
  Beater(WorkSource& source, Workbench& bench, const Tell& tell);

  /// Extends it for as long as somebody has it and it is not lost.
  void keep(const std::shared_ptr<LiveLease>& lease) { keeper_.keep(lease); }
  /// Some running attempt has a report to send.
  void progress_came() { keeper_.do_chore_at(progress_not_before_); }

 private:
  void after_beat(const Result<Beat>& beat);
  void send_progress();
  bool send_report(Attempt& attempt);

  WorkSource& source_;
  Workbench& bench_;
  const Tell& tell_;
  std::atomic<BootTime> progress_not_before_ = BootTime{};
  /// Its thread uses all of the above.
  LeaseKeeper keeper_;
};

}  // namespace leasehold::worker
