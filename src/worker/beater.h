// Keeps a worker's leases alive, a third of their ttl apart, passes on what the store tells of cancelled jobs, and
// sends progress. A thread of its own; every method may be called from any thread.
#pragma once

#include <condition_variable>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "worker/live_lease.h"
#include "worker/source.h"
#include "worker/trouble.h"
#include "worker/workbench.h"

namespace leasehold::worker {

class Beater {
 public:
  /// Throws std::system_error where no thread is to be had.
  Beater(WorkSource& source, Workbench& bench, const Tell& tell);
  Beater(const Beater&) = delete;
  Beater& operator=(const Beater&) = delete;
  ~Beater();

  /// Extends it for as long as somebody has it and it is not lost.
  void keep(const std::shared_ptr<LiveLease>& lease);
  /// Some running attempt has a report to send.
  void progress_came();

 private:
  struct Kept {
    std::weak_ptr<LiveLease> lease;
    BootTime due{};
  };

  void run();
  /// With mutex_ held.
  [[nodiscard]] BootTime next_wake() const;
  void beat_what_is_due();
  [[nodiscard]] std::vector<std::shared_ptr<LiveLease>> due_leases();
  void beat(LiveLease& lease);
  void set_due(const LiveLease& lease, BootTime when);
  void send_progress();
  bool send_report(Attempt& attempt);

  WorkSource& source_;
  Workbench& bench_;
  const Tell& tell_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<Kept> kept_;
  bool progress_waits_ = false;
  BootTime progress_not_before_{};
  bool woken_ = false;
  bool ending_ = false;
  std::thread thread_;
};

}  // namespace leasehold::worker
