// A lease that jobs run under: the worker's own, or that of a job which was claimed alone.
//
// It is lost once and for all when the store says so, or at the moment up to which it could be trusted; then whoever
// runs under it is told. The Beater extends it. Every method may be called from any thread.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "lease/alarm.h"
#include "leasehold/queue.h"
#include "leasehold/result.h"

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

}  // namespace leasehold::worker
