// Clocks, waiting and backoff. Where this process reads the time and learns which machine it is on is injected, so that
// tests own both.
#pragma once

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <random>
#include <stop_token>
#include <string>

#include "leasehold/time.h"

namespace leasehold {

/// Which kernel, since which boot, in which time namespace.
struct MachineFacts {
  std::string machine_id;  ///< /etc/machine-id; empty where there is none
  std::string boot_id;
  std::int64_t time_namespace = 0;
};

class Clock {
 public:
  virtual ~Clock() = default;
  [[nodiscard]] virtual BootTime boot_now() const = 0;
  [[nodiscard]] virtual Timestamp wall_now() const = 0;
  [[nodiscard]] virtual MachineFacts machine() const = 0;
};

/// The real one.
const Clock& system_clock();

// Waiting until a moment of the boot-time clock.

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

/// How long to leave alone what could not be reached: 50 ms, doubling to `longest`, each shortened by chance so that
/// all who wait do not come back at once.
class GrowingPause {
 public:
  static constexpr Duration first = std::chrono::milliseconds(50);

  explicit GrowingPause(Duration longest = std::chrono::seconds(5)) : longest_(longest) {}

  Duration next() {
    std::uniform_int_distribution<Duration::rep> jitter(length_.count() / 2, length_.count());
    const Duration result(jitter(random_));
    length_ = std::min(length_ * 2, longest_);
    return result;
  }
  void reset() { length_ = first; }

 private:
  Duration longest_;
  Duration length_ = first;
  std::minstd_rand random_{std::random_device{}()};
};

}  // namespace leasehold
