// A claimed job in a worker's hands, from the claim to the verdict. Every method may be called from any thread.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>

#include "leasehold/queue.h"
#include "leasehold/worker.h"
#include "worker/live_lease.h"
#include "worker/stop_flag.h"

namespace leasehold::worker {

/// The same as a Progress, with words of its own.
struct KeptProgress {
  std::optional<int> percent{};
  std::string message{};
  std::string stage{};

  [[nodiscard]] Progress view() const { return {.percent = percent, .message = message, .stage = stage}; }
};

class Attempt {
 public:
  Attempt(Job claimed, std::shared_ptr<LiveLease> its_lease)
      : job(std::move(claimed)), lease(std::move(its_lease)), claimed_at(BootClock::now()) {}

  const Job job;
  const std::shared_ptr<LiveLease> lease;
  const BootTime claimed_at;

  /// Fires the stop token; the first reason counts.
  void stop(StopReason why) { stop_.raise(why); }
  [[nodiscard]] std::stop_token stop_token() const { return stop_.token(); }
  [[nodiscard]] std::optional<StopReason> stop_reason() const { return stop_.reason(); }

  /// True for the first who asks: an attempt gets one verdict.
  bool begin_verdict() { return !has_verdict_.exchange(true); }
  [[nodiscard]] bool has_verdict() const { return has_verdict_; }

  /// Keeps the latest. True: there was none waiting to be sent.
  bool report(const Progress& progress);
  /// What has not been sent yet.
  std::optional<KeptProgress> take_report();
  /// It could not be sent: again, unless there is a newer one.
  void put_back(KeptProgress report);

 private:
  StopFlag stop_;
  std::atomic<bool> has_verdict_ = false;
  std::mutex mutex_;
  std::optional<KeptProgress> report_;
};

using AttemptPtr = std::shared_ptr<Attempt>;

}  // namespace leasehold::worker
