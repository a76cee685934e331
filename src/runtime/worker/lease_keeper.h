// Keeps leases alive, on its own thread, which can also do a chore. Call its methods from any thread.
#pragma once

#include <atomic>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <thread>
#include <vector>

#include "leasehold/job.h"
#include "runtime/shared.h"
#include "runtime/worker/attempt.h"
#include "runtime/worker/workbench.h"

namespace leasehold::worker {

class LeaseKeeper {
 public:
  struct Options {
    int beats_per_ttl = 3;
    /// Receives the result of each beat.
    std::function<void(const Result<Beat>&)> on_beat;
    /// Receives jobs that must stop, before the next beat.
    std::function<void(std::span<const JobId>)> on_cancelled{};
    std::function<void()> chore{};
  };

  /// Throws std::system_error if no thread can be started.
  explicit LeaseKeeper(Options options);
  LeaseKeeper(const LeaseKeeper&) = delete;
  LeaseKeeper& operator=(const LeaseKeeper&) = delete;
  ~LeaseKeeper();

  /// Reports news of a lease until the returned object is destroyed.
  using Watch = std::function<std::shared_ptr<void>(LiveLease::OnNews)>;
  /// Extends the lease as long as it is used and not lost; at once on news that it has ended.
  void keep(const std::shared_ptr<LiveLease>& lease, const Watch& watch = {});
  /// Does the chore once, not before `when`.
  void do_chore_at(BootTime when);

 private:
  struct Kept {
    std::weak_ptr<LiveLease> lease;
    BootTime due{};
    std::shared_ptr<void> watching{};
  };

  void run();
  void hear(const LiveLease* lease, const LeaseNews& news);
  void beat_what_is_due();
  [[nodiscard]] std::vector<std::shared_ptr<LiveLease>> due_leases();
  void set_due(const LiveLease& lease, BootTime when);
  void do_chore_if_due();
  [[nodiscard]] Duration until_next_beat(const LiveLease& lease) const;
  /// Needs mutex_.
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

/// When a Beater sends heartbeats. with_progress: at once, on the thread that reports progress, and without a thread of
/// its own.
enum class Beats { by_time, with_progress };

// Keeps a worker's leases alive, a third of their ttl apart, forwards the store's news of cancelled jobs, and sends
// progress, on its own thread. Call its methods from any thread.
class Beater {
 public:
  /// Throws std::system_error if no thread can be started.
  Beater(const Jobs& jobs, Workbench& bench, const Report& report, Beats when = Beats::by_time);

  /// Extends the lease as long as it is used and not lost.
  void keep(const std::shared_ptr<LiveLease>& lease, std::int64_t lease_id);
  /// Saves the cursor of a running attempt before it returns; insists for as long as the lease is trusted.
  Result<void> save(Attempt& attempt, const std::string& cursor);
  /// A running attempt has a report to send.
  void progress_came();

 private:
  void beat_now();
  void after_beat(const Result<Beat>& beat);
  void send_progress();
  bool send_report(Attempt& attempt);

  const Jobs& jobs_;
  Workbench& bench_;
  const Report& report_;
  std::atomic<BootTime> progress_not_before_ = BootTime{};
  /// Its thread uses all members above. None: heartbeats come with progress.
  std::optional<LeaseKeeper> keeper_;
};

}  // namespace leasehold::worker
