#include "leasehold/held_lease.h"

#include <unistd.h>

#include <algorithm>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>

#include "base/quiet_thread.h"
#include "lease/alarm.h"
#include "model/errors.h"

namespace leasehold {

/// Shared with its thread, because a stop callback or on_extended may destroy the HeldLease it runs for.
struct HeldLease::Impl : std::enable_shared_from_this<Impl> {
  Impl(Grant first, Heartbeat how_to_heartbeat, Release how_to_release)
      : heartbeat(std::move(how_to_heartbeat)), give_back(std::move(how_to_release)), grant(std::move(first)) {}

  void start(const Watch& watch) {
    alarm.emplace([self = weak_from_this()] {
      const auto impl = self.lock();
      if (!impl) return;
      impl->stop_with(
          {.code = Errc::unavailable, .message = "no heartbeat got through before the lease may have expired"});
    });
    alarm->set(grant.trusted_until);
    thread = start_quiet_thread([self = shared_from_this()] { self->run(); });
    if (!watch) return;
    watching = watch(grant, [self = weak_from_this()] {
      if (const auto impl = self.lock()) impl->heartbeat_now();
    });
  }

  void heartbeat_now() {
    {
      const std::lock_guard lock(mutex);
      hurried = true;
    }
    changed.notify_all();
  }

  /// After a fork the child has a copy of this, but the lease, the thread and the connections belong to its parent.
  [[nodiscard]] bool in_own_process() const { return process == ::getpid(); }

  Result<void> release() {
    if (auto ended = end_heartbeats(); !ended) return ended;
    if (given_back) return *given_back;
    if (const auto why = loss(); why && why->code == Errc::lost) return *why;
    auto result = give_back(snapshot());
    // Nothing is left to release: neither the caller nor the destructor need ask the store again.
    if (result || ends_lease(result.error().code)) given_back = result;
    return result;
  }

  /// Leaks it in a forked child: there is no thread to wait for.
  static void let_go(std::shared_ptr<Impl> impl) {
    if (!impl) return;
    if (!impl->in_own_process()) {
      static_cast<void>(new std::shared_ptr<Impl>(std::move(impl)));
    } else if (!impl->left_to_caller) {
      static_cast<void>(impl->release());
    }
  }

  Result<void> end_heartbeats() {
    if (!in_own_process()) {
      return Error{.code = Errc::invalid_argument,
                   .message = "this lease belongs to the process from which this one was forked"};
    }
    {
      const std::lock_guard lock(mutex);
      ending = true;
    }
    changed.notify_all();
    watching.reset();
    if (!thread.joinable()) return {};
    // Called from on_extended or a stop callback: the thread ends by itself.
    if (thread.get_id() == std::this_thread::get_id()) {
      thread.detach();
    } else {
      thread.join();
    }
    return {};
  }

  void run() {
    auto pause = until_next_heartbeat();
    while (sleep(pause)) {
      auto extended = heartbeat(snapshot());
      if (extended) {
        keep(std::move(*extended));
        pause = until_next_heartbeat();
      } else if (ends_lease(extended.error().code)) {
        stop_with(extended.error());
      } else {
        // The store could not be reached. Keep trying: the alarm fires when it is too late.
        pause = std::min<Duration>(snapshot().ttl / 10, std::chrono::seconds(1));
      }
    }
  }

  /// A third of what is left: less than a third of the ttl after a slow or repeated acquire.
  Duration until_next_heartbeat() {
    const auto held = snapshot();
    return std::clamp<Duration>((held.trusted_until - BootClock::now()) / 3, Duration(0), held.ttl / 3);
  }

  /// False: there is nothing left to keep alive.
  bool sleep(Duration pause) {
    std::unique_lock lock(mutex);
    changed.wait_for(lock, pause, [this] { return ending || lost.has_value() || hurried; });
    hurried = false;
    return !ending && !lost.has_value();
  }

  std::optional<Error> loss() {
    const std::lock_guard lock(mutex);
    return lost;
  }

  Grant snapshot() {
    const std::lock_guard lock(mutex);
    return grant;
  }

  void keep(Grant extended) {
    OnExtended notify;
    {
      const std::lock_guard lock(mutex);
      // Too late: the work has been stopped, and stopping is one-way.
      if (lost) return;
      grant = std::move(extended);
      alarm->set(grant.trusted_until);
      notify = on_extended;
    }
    if (notify) notify(snapshot());
  }

  void stop_with(Error why) {
    {
      const std::lock_guard lock(mutex);
      if (lost || ending) return;
      lost = std::move(why);
    }
    changed.notify_all();
    stop.request_stop();
  }

  const pid_t process = ::getpid();
  Heartbeat heartbeat;
  Release give_back;
  std::mutex mutex;
  std::condition_variable changed;
  Grant grant;
  OnExtended on_extended;
  std::optional<Error> lost;
  bool ending = false;
  bool hurried = false;  ///< the lease may have ended: heartbeat now
  bool left_to_caller = false;
  std::shared_ptr<void> watching;
  std::optional<Result<void>> given_back;
  std::stop_source stop;
  std::optional<lease::Alarm> alarm;
  std::thread thread;
};

HeldLease::HeldLease(Grant grant, Heartbeat heartbeat, Release release, const Watch& watch)
    : impl_(std::make_shared<Impl>(std::move(grant), std::move(heartbeat), std::move(release))) {
  impl_->start(watch);
}
HeldLease::HeldLease(HeldLease&&) noexcept = default;

HeldLease& HeldLease::operator=(HeldLease&& other) noexcept {
  if (this == &other) return *this;
  Impl::let_go(std::move(impl_));
  impl_ = std::move(other.impl_);
  return *this;
}

HeldLease::~HeldLease() { Impl::let_go(std::move(impl_)); }

std::stop_token HeldLease::stop_token() const { return impl_->stop.get_token(); }

Grant HeldLease::grant() const { return impl_->snapshot(); }

Token HeldLease::token() const { return grant().token; }

std::optional<Error> HeldLease::lost() const { return impl_->loss(); }

void HeldLease::on_extended(OnExtended callback) {
  const std::lock_guard lock(impl_->mutex);
  impl_->on_extended = std::move(callback);
}

Result<void> HeldLease::release() {
  // Keeps Impl alive during the call: see Impl.
  const auto impl = impl_;
  return impl->release();
}

Result<void> HeldLease::end_heartbeats() {
  const auto impl = impl_;
  auto ended = impl->end_heartbeats();
  impl->left_to_caller = ended.ok();
  return ended;
}

void HeldLease::heartbeat_now() { impl_->heartbeat_now(); }

void HeldLease::note_settled() { impl_->given_back = Result<void>(); }

}  // namespace leasehold
