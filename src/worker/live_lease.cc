#include "worker/live_lease.h"

#include <utility>

#include "worker/trouble.h"

namespace leasehold::worker {

LiveLease::LiveLease(Duration ttl, BootTime trusted_until, Extend extend, OnLost on_lost)
    : ttl_(ttl),
      extend_(std::move(extend)),
      on_lost_(std::move(on_lost)),
      trusted_until_(trusted_until.time_since_epoch().count()) {}

std::shared_ptr<LiveLease> LiveLease::start(Duration ttl, BootTime trusted_until, Extend extend, OnLost on_lost) {
  std::shared_ptr<LiveLease> lease(new LiveLease(ttl, trusted_until, std::move(extend), std::move(on_lost)));
  lease->alarm_.emplace([weak = lease->weak_from_this()] {
    if (const auto alive = weak.lock()) alive->ring();
  });
  lease->alarm_->set(trusted_until);
  return lease;
}

Result<Beat> LiveLease::extend() {
  auto beat = extend_();
  if (beat) {
    trust(beat->trusted_until);
  } else if (ends_lease(beat.error().code)) {
    lose();
  }
  return beat;
}

void LiveLease::trust(BootTime until) {
  // Too late: the work was told to stop, and stopping is one-way.
  if (lost_) return;
  // Answers may overtake each other; the later moment was promised, too.
  const auto later = until.time_since_epoch().count();
  auto known = trusted_until_.load();
  while (known < later) {
    if (trusted_until_.compare_exchange_weak(known, later)) {
      alarm_->set(trusted_until());
      return;
    }
  }
}

void LiveLease::ring() {
  // Two answers at once may have set the alarm to the earlier of their moments.
  if (BootClock::now() < trusted_until()) {
    alarm_->set(trusted_until());
  } else {
    lose();
  }
}

void LiveLease::lose() {
  if (!lost_.exchange(true)) on_lost_(*this);
}

}  // namespace leasehold::worker
