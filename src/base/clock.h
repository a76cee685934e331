// Clocks, waiting and backoff. The clock and the machine identity are injected, so that tests control both.
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

/// The kernel's identity: machine, boot and time namespace.
struct MachineFacts {
  std::string machine_id;  ///< /etc/machine-id; empty if there is none
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

/// The real clock of this machine.
const Clock& system_clock();

// Waiting until a moment of the boot-time clock.

/// True as soon as `ready()`, false once `until` has passed. Condition variables use a clock that stops during suspend,
/// so this checks the time again after every sleep.
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

/// Returns false if `stop` was requested before `when`.
inline bool sleep_until(BootTime when, const std::stop_token& stop) {
  std::mutex mutex;
  std::condition_variable changed;
  const std::stop_callback on_stop(stop, [&] {
    // The lock keeps the notification from falling between the sleeper's check and its wait.
    const std::lock_guard lock(mutex);
    changed.notify_all();
  });
  std::unique_lock lock(mutex);
  return !wait_until(changed, lock, when, [&] { return stop.stop_requested(); });
}

/// Backoff after a failed connection: 50 ms, doubling to `longest`, each pause randomly shortened so that waiting
/// processes do not all retry at once.
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
