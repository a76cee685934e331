// Waiting until a moment of the boot-time clock.
#pragma once

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <stop_token>

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

/// False: told to stop before.
inline bool sleep_until(BootTime when, const std::stop_token& stop) {
  std::mutex mutex;
  std::condition_variable changed;
  const std::stop_callback on_stop(stop, [&] {
    // Not between the sleeper's look at the token and its going to sleep.
    const std::lock_guard lock(mutex);
    changed.notify_all();
  });
  std::unique_lock lock(mutex);
  return !wait_until(changed, lock, when, [&] { return stop.stop_requested(); });
}

}  // namespace leasehold::storage
