// A clock that stands still until a test moves it, on a machine the test invents.
//
//   TestClock clock;
//   clock.advance(31s);      // time passes, for the wall clock and the boot-time clock alike
//   clock.step_wall(-1h);    // the wall clock is set; no time passes
//   clock.reboot("boot-2");  // the boot-time clock starts again near zero
#pragma once

#include <mutex>
#include <string>
#include <utility>

#include "base/clock.h"

namespace leasehold::support {

/// Where every test begins: 2026-03-01T09:30:00Z.
inline constexpr Timestamp test_start{std::chrono::microseconds(1'772'357'400'000'000)};

class TestClock final : public Clock {
 public:
  [[nodiscard]] BootTime boot_now() const override {
    const std::lock_guard lock(mutex_);
    return boot_;
  }
  [[nodiscard]] Timestamp wall_now() const override {
    const std::lock_guard lock(mutex_);
    return wall_;
  }
  [[nodiscard]] MachineFacts machine() const override {
    const std::lock_guard lock(mutex_);
    return machine_;
  }

  void advance(Duration by) {
    const std::lock_guard lock(mutex_);
    boot_ += by;
    wall_ += by;
  }
  void step_wall(Duration by) {
    const std::lock_guard lock(mutex_);
    wall_ += by;
  }
  void reboot(std::string boot_id) {
    const std::lock_guard lock(mutex_);
    machine_.boot_id = std::move(boot_id);
    boot_ = BootTime(std::chrono::seconds(20));
  }
  void set_machine(MachineFacts machine) {
    const std::lock_guard lock(mutex_);
    machine_ = std::move(machine);
  }

 private:
  mutable std::mutex mutex_;
  BootTime boot_{std::chrono::hours(100)};
  Timestamp wall_ = test_start;
  MachineFacts machine_{.machine_id = "machine-1", .boot_id = "boot-1", .time_namespace = 1};
};

}  // namespace leasehold::support
