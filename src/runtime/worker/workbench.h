// The jobs a worker has in hand: not started, running, waiting for their verdict to be written.
//
// The fetcher puts jobs on it when there is room, executors take them off, each at a seat of its own, and the settler
// tells when they are settled. Every method may be called from any thread unless it says otherwise.
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
    /// Nothing is claimed that would not be started within this time, at the recent pace.
    Duration lookahead = std::chrono::seconds(1);
  };

  explicit Workbench(const Size& size);

  // For the fetcher.

  /// How many more to claim. Zero: `until` has passed, or the worker is to stop.
  int wait_for_room(BootTime until);
  void put(std::vector<AttemptPtr> attempts);
  /// Unstarted ones that were claimed before this, to be given back.
  std::vector<AttemptPtr> take_back(BootTime claimed_before);
  /// When the oldest unstarted one was claimed.
  [[nodiscard]] std::optional<BootTime> oldest_claim() const;

  /// Lets everybody go who waits for room, for silence or for time to pass.
  void stop();
  [[nodiscard]] bool stopping() const { return stopping_; }
  /// False: stopped in the meantime.
  bool sleep(BootTime until);

  // For the executors.

  /// The next job, as soon as there is one; nothing once the bench is closed.
  AttemptPtr take(int seat);
  void leave(int seat, Duration worked);
  void close();

  // For everybody.

  void settled(std::size_t count);
  [[nodiscard]] bool has_unstarted() const { return unstarted_count_ > 0; }
  struct Progress {
    std::size_t in_hand = 0;  ///< claimed and not settled
    std::uint64_t settled = 0;
  };
  [[nodiscard]] Progress progress() const;
  /// Until something more than `before` is settled, `until` has passed or the worker is to stop.
  void wait_for_verdict(const Progress& before, BootTime until);
  /// Until nothing is in hand, or the worker is to stop.
  void wait_for_quiet();
  /// True as soon as no handler runs.
  bool wait_for_handlers(BootTime until);

  [[nodiscard]] std::vector<AttemptPtr> running() const;
  /// Stops what runs under a lease, or everything for none.
  void stop_running(const LiveLease* lease, StopReason why);
  /// Stops those of these jobs that are in hand, started or not.
  void cancel(std::span<const JobId> ids);

 private:
  // With mutex_ held.
  [[nodiscard]] int room() const;
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
  /// How long a job takes, of late; zero before the first one is done.
  Duration pace_{0};
  bool closed_ = false;
  std::atomic<bool> stopping_ = false;
  std::atomic<std::size_t> unstarted_count_ = 0;
};

}  // namespace leasehold::worker
