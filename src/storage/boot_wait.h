// Waiting on a condition variable until a moment of the boot-time clock.
#pragma once

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <mutex>

#include "leasehold/time.h"

namespace leasehold::storage {

/// True as soon as `ready()`, false once `until` has passed. Condition variables count on another clock,
/// one that stands still in suspend: so the moment is looked at again after every sleep.
template <typename Ready>
bool wait_until(std::condition_variable& changed, std::unique_lock<std::mutex>& lock, BootTime until, Ready&& ready) {
  constexpr Duration longest = std::chrono::hours(1);
  while (!ready()) {
    const auto now = BootClock::now();
    if (now >= until) return false;
    changed.wait_for(lock, std::min(until - now, longest));
  }
  return true;
}

}  // namespace leasehold::storage
