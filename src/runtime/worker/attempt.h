// A lease that jobs run under: the worker's own, or that of a job which was claimed solo.
//
// It is lost for good when the store refuses it, or when it can no longer be trusted; then every job under it is
// stopped. The Beater extends it. Call its methods from any thread.
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

/// The result of extending a lease.
struct Beat {
  BootTime trusted_until{};
  std::vector<JobId> cancelled{};  ///< jobs under it that must stop
};

class LiveLease : public std::enable_shared_from_this<LiveLease> {
 public:
  using Extend = std::function<Result<Beat>()>;
  using OnLost = std::function<void(const LiveLease&)>;
  using OnNews = std::function<void(const LeaseNews&)>;

  /// `on_lost` may run on the alarm thread, and must be quick. BootTime::max(): no alarm. Throws std::system_error if
  /// there is no timer.
  static std::shared_ptr<LiveLease> start(Duration ttl, BootTime trusted_until, Extend extend, OnLost on_lost);

  LiveLease(const LiveLease&) = delete;
  LiveLease& operator=(const LiveLease&) = delete;
  ~LiveLease() = default;

  /// Asks the store for more time, and keeps the answer.
  Result<Beat> extend();
  /// For more time that came another way.
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

// A claimed job of a worker, from the claim to the verdict. Call its methods from any thread.

/// The same as a Progress, but it owns its texts.
struct KeptProgress {
  std::optional<int> percent{};
  std::string message{};
  std::string stage{};

  [[nodiscard]] Progress view() const { return {.percent = percent, .message = message, .stage = stage}; }
};

class Attempt {
 public:
  /// `asked_at`: just before the claim, so that the limit here is not later than the store's.
  Attempt(Job claimed, std::shared_ptr<LiveLease> its_lease, BootTime asked_at = BootClock::now())
      : job(std::move(claimed)), lease(std::move(its_lease)), claimed_at(BootClock::now()) {
    if (job.timeout) limit_ = asked_at + *job.timeout;
  }

  const Job job;
  const std::shared_ptr<LiveLease> lease;
  const BootTime claimed_at;

  /// When the store fails the attempt.
  [[nodiscard]] std::optional<BootTime> limit() const { return limit_; }
  /// What the worker does with an attempt that reaches its limit. Both run on the alarm thread, so they must be quick.
  struct OnLimit {
    /// Releases it if it was not started; false: it was.
    std::function<bool(const std::shared_ptr<Attempt>&)> give_back;
    std::function<void(const std::shared_ptr<Attempt>&)> fail;
  };
  /// Gives the attempt back or stops its handler, shortly before the limit. If there is no verdict soon after that, the
  /// attempt fails.
  void watch_limit(OnLimit on_limit, std::weak_ptr<Attempt> self);
  /// What becomes of it then, whatever the handler returns.
  [[nodiscard]] Verdict timed_out() const;

  /// Fires the stop token; the first reason counts.
  void stop(StopReason why) { stop_.raise(why); }
  [[nodiscard]] std::stop_token stop_token() const { return stop_.token(); }
  [[nodiscard]] std::optional<StopReason> stop_reason() const { return stop_.reason(); }

  /// True for the first call: an attempt gets one verdict.
  bool begin_verdict() { return !has_verdict_.exchange(true); }
  [[nodiscard]] bool has_verdict() const { return has_verdict_; }

  /// Keeps the latest report. True: none was waiting to be sent.
  bool report(const Progress& progress);
  /// The report that has not been sent yet.
  std::optional<KeptProgress> take_report();
  /// For a report that could not be sent: keeps it, unless there is a newer one.
  void put_back(KeptProgress report);

 private:
  StopFlag stop_;
  std::optional<BootTime> limit_;
  std::optional<lease::Alarm> alarm_;
  std::atomic<bool> has_verdict_ = false;
  std::mutex mutex_;
  std::optional<KeptProgress> report_;
};

using AttemptPtr = std::shared_ptr<Attempt>;

}  // namespace leasehold::worker
