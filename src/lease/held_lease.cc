#include "leasehold/held_lease.h"

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <thread>

#include "lease/alarm.h"

namespace leasehold {

struct HeldLease::Impl {
  Impl(Grant first, Beat how_to_beat, Release how_to_release)
      : beat(std::move(how_to_beat)), give_up(std::move(how_to_release)), grant(std::move(first)), alarm([this] {
          stop_with({.code = Errc::unavailable, .message = "no heartbeat got through before the lease may have ended"});
        }) {
    alarm.set(grant.trusted_until);
    beater = std::thread([this] { run(); });
  }

  ~Impl() { end_heartbeats(); }

  void end_heartbeats() {
    {
      const std::lock_guard lock(mutex);
      ending = true;
    }
    changed.notify_all();
    if (beater.joinable()) beater.join();
  }

  void run() {
    auto pause = grant.ttl / 3;
    while (sleep(pause)) {
      auto extended = beat(snapshot());
      if (extended) {
        keep(std::move(*extended));
        pause = snapshot().ttl / 3;
      } else if (is_final(extended.error().code)) {
        stop_with(extended.error());
      } else {
        // The store could not be asked. Keep asking: the alarm says when it is too late.
        pause = std::min<Duration>(snapshot().ttl / 10, std::chrono::seconds(1));
      }
    }
  }

  static bool is_final(Errc code) { return code == Errc::lost || code == Errc::not_found || code == Errc::damaged; }

  /// False: there is nothing left to keep alive.
  bool sleep(Duration pause) {
    std::unique_lock lock(mutex);
    return !changed.wait_for(lock, pause, [this] { return ending || lost.has_value(); });
  }

  Grant snapshot() {
    const std::lock_guard lock(mutex);
    return grant;
  }

  void keep(Grant extended) {
    OnExtended tell;
    {
      const std::lock_guard lock(mutex);
      // Too late: the work was told to stop, and stopping is one-way.
      if (lost) return;
      grant = std::move(extended);
      alarm.set(grant.trusted_until);
      tell = on_extended;
    }
    if (tell) tell(snapshot());
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

  Beat beat;
  Release give_up;
  std::mutex mutex;
  std::condition_variable changed;
  Grant grant;
  OnExtended on_extended;
  std::optional<Error> lost;
  bool ending = false;
  bool released = false;
  std::stop_source stop;
  lease::Alarm alarm;
  std::thread beater;
};

HeldLease::HeldLease(Grant grant, Beat beat, Release release)
    : impl_(std::make_unique<Impl>(std::move(grant), std::move(beat), std::move(release))) {}
HeldLease::HeldLease(HeldLease&&) noexcept = default;

HeldLease& HeldLease::operator=(HeldLease&& other) noexcept {
  if (this == &other) return *this;
  if (impl_) static_cast<void>(release());
  impl_ = std::move(other.impl_);
  return *this;
}

HeldLease::~HeldLease() {
  if (impl_) static_cast<void>(release());
}

std::stop_token HeldLease::stop_token() const { return impl_->stop.get_token(); }

Grant HeldLease::grant() const { return impl_->snapshot(); }

Token HeldLease::token() const { return grant().token; }

std::optional<Error> HeldLease::lost() const {
  const std::lock_guard lock(impl_->mutex);
  return impl_->lost;
}

void HeldLease::on_extended(OnExtended callback) {
  const std::lock_guard lock(impl_->mutex);
  impl_->on_extended = std::move(callback);
}

Result<void> HeldLease::release() {
  impl_->end_heartbeats();
  if (impl_->released) return {};
  auto result = impl_->give_up(impl_->snapshot());
  impl_->released = result.ok();
  return result;
}

}  // namespace leasehold
