// Keeps leases alive, on a thread of its own that can do a chore besides. Every method may be called from any thread.
#pragma once

#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "worker/live_lease.h"

namespace leasehold::worker {

class LeaseKeeper {
 public:
  struct Options {
    int beats_per_ttl = 3;
    /// What came of each.
    std::function<void(const Result<Beat>&)> on_beat;
    std::function<void()> chore{};
  };

  /// Throws std::system_error where no thread is to be had.
  explicit LeaseKeeper(Options options);
  LeaseKeeper(const LeaseKeeper&) = delete;
  LeaseKeeper& operator=(const LeaseKeeper&) = delete;
  ~LeaseKeeper();

  /// Extends it for as long as somebody has it and it is not lost.
  void keep(const std::shared_ptr<LiveLease>& lease);
  /// The chore is to be done once, not before `when`.
  void do_chore_at(BootTime when);

 private:
  struct Kept {
    std::weak_ptr<LiveLease> lease;
    BootTime due{};
  };

  void run();
  void beat_what_is_due();
  [[nodiscard]] std::vector<std::shared_ptr<LiveLease>> due_leases();
  void set_due(const LiveLease& lease, BootTime when);
  void do_chore_if_due();
  [[nodiscard]] Duration until_next_beat(const LiveLease& lease) const;
  /// With mutex_ held.
  [[nodiscard]] BootTime next_wake() const;

  const Options options_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<Kept> kept_;
  BootTime chore_due_ = BootTime::max();
  bool woken_ = false;
  bool ending_ = false;
  std::thread thread_;
};

}  // namespace leasehold::worker
