// A lease that jobs run under: the worker's own, or that of a job which was claimed alone.
//
// It is lost once and for all when the store says so, or at the moment up to which it could be trusted; then whoever
// runs under it is told. The Beater extends it. Every method may be called from any thread.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "lease/alarm.h"
#include "leasehold/job.h"
#include "leasehold/result.h"
#include "leasehold/worker.h"
#include "runtime/shared.h"

namespace leasehold::worker {

/// What came of extending a lease.
struct Beat {
  BootTime trusted_until{};
  std::vector<JobId> cancelled{};  ///< jobs under it that somebody wants to stop
};

class LiveLease : public std::enable_shared_from_this<LiveLease> {
 public:
  using Extend = std::function<Result<Beat>()>;
  using OnLost = std::function<void(const LiveLease&)>;
  using OnNews = std::function<void(const LeaseNews&)>;

  /// `on_lost` may run on the thread of the alarm, and must be quick. Throws std::system_error where there is no timer.
  static std::shared_ptr<LiveLease> start(Duration ttl, BootTime trusted_until, Extend extend, OnLost on_lost);

  LiveLease(const LiveLease&) = delete;
  LiveLease& operator=(const LiveLease&) = delete;
  ~LiveLease() = default;

  /// Asks the store for more time, and keeps what it says.
  Result<Beat> extend();
  /// More time has come another way.
  void trust(BootTime until);
  /// Only the first call does something.
  void lose();

  [[nodiscard]] bool lost() const { return lost_; }
  [[nodiscard]] BootTime trusted_until() const { return BootTime(Duration(trusted_until_.load())); }
  [[nodiscard]] Duration ttl() const { return ttl_; }

 private:
  LiveLease(Duration ttl, BootTime trusted_until, Extend extend, OnLost on_lost);
  void ring();

  const Duration ttl_;
  const Extend extend_;
  const OnLost on_lost_;
  std::atomic<Duration::rep> trusted_until_;
  std::atomic<bool> lost_ = false;
  std::optional<lease::Alarm> alarm_;
};

// A claimed job in a worker's hands, from the claim to the verdict. Every method may be called from any thread.

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
