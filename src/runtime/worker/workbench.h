// The jobs that a worker has in hand: not started, running, or waiting for their verdict to be written.
//
// The fetcher puts jobs on it when there is room, the executors take them off, each at its own seat, and the settler
// reports when they are settled. Call the methods from any thread unless noted otherwise.
#pragma once

#include <atomic>
#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <span>
#include <vector>

#include "leasehold/time.h"
#include "runtime/worker/attempt.h"

namespace leasehold::worker {

class Workbench {
 public:
  struct Size {
    int seats = 1;
    int prefetch = 0;
    /// Claims no job that would not start within this time, at the recent pace.
    Duration lookahead = std::chrono::seconds(1);
  };

  explicit Workbench(const Size& size);

  // For the fetcher.

  /// How many more jobs to claim. Zero: `until` has passed, or the worker is stopping.
  int wait_for_room(BootTime until);
  void put(std::vector<AttemptPtr> attempts);
  /// Unstarted jobs that were claimed before this, to be released.
  std::vector<AttemptPtr> take_back(BootTime claimed_before);
  /// The same for one of them. False: it was started.
  bool take_back(const AttemptPtr& attempt);
  /// When the oldest unstarted job was claimed.
  [[nodiscard]] std::optional<BootTime> oldest_claim() const;

  /// Wakes all threads that wait for room, for quiet or for time to pass.
  void stop();
  [[nodiscard]] bool stopping() const { return stopping_; }
  /// False: stopped meanwhile.
  bool sleep(BootTime until);

  // For the executors.

  /// Waits for the next job; nothing once the bench is closed.
  AttemptPtr take(int seat);
  void leave(int seat, Duration worked);
  void close();

  // For all of them.

  void settled(std::size_t count);
  [[nodiscard]] bool has_unstarted() const { return unstarted_count_ > 0; }
  struct Progress {
    std::size_t in_hand = 0;  ///< claimed and not settled
    std::uint64_t settled = 0;
  };
  [[nodiscard]] Progress progress() const;
  /// Waits until more than `before` is settled, `until` has passed or the worker is stopping.
  void wait_for_verdict(const Progress& before, BootTime until);
  /// Waits until nothing is in hand, or the worker is stopping.
  void wait_for_quiet();
  /// Returns true as soon as no handler runs.
  bool wait_for_handlers(BootTime until);

  [[nodiscard]] std::vector<AttemptPtr> running() const;
  /// Stops the jobs that run under a lease; with none, all of them.
  void stop_running(const LiveLease* lease, StopReason why);
  /// Stops these jobs if they are in hand, started or not.
  void cancel(std::span<const JobId> ids);

 private:
  // These need mutex_.
  [[nodiscard]] int room() const;
  void too_optimistic(const Attempt& attempt);
  [[nodiscard]] int prefetch_at_this_pace() const;
  [[nodiscard]] bool no_handler() const { return running_count_ == 0; }
  [[nodiscard]] std::vector<AttemptPtr> seated() const;

  const Size size_;
  mutable std::mutex mutex_;
  std::condition_variable work_came_;
  std::condition_variable changed_;
  std::deque<AttemptPtr> unstarted_;
  std::vector<AttemptPtr> seats_;
  int running_count_ = 0;
  std::size_t in_hand_ = 0;
  std::uint64_t settled_ = 0;
  /// The recent time per job; zero before the first one is done.
  Duration pace_{0};
  /// Jobs without a time limit since the last one that had one, counted up to the prefetch. Limits run from the claim
  /// on, so a prefetched job has less time: the worker prefetches only after so many jobs in a row had no limit.
  int unlimited_;
  bool closed_ = false;
  std::atomic<bool> stopping_ = false;
  std::atomic<std::size_t> unstarted_count_ = 0;
};

}  // namespace leasehold::worker
