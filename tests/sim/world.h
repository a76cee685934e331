// The machine that all simulated processes share: its clocks, its boots, and its live processes.
//
// The library reads the real ones through functions that the linker redirects here (see wraps.cc) while a Presence
// lives: nothing in a run depends on the real time, the real random numbers or the real processes.
#pragma once

#include <cstdint>
#include <set>
#include <string>

#include "base/clock.h"
#include "sim/dice.h"

namespace leasehold::sim {

/// Where every run begins: 2026-03-01T09:30:00Z.
inline constexpr Timestamp first_moment{std::chrono::microseconds(1'772'357'400'000'000)};

class World final : public Clock {
 public:
  explicit World(std::uint64_t seed) : ids_(mix({seed, 0x1d5})) {}

  [[nodiscard]] BootTime boot_now() const override { return boot_; }
  [[nodiscard]] Timestamp wall_now() const override { return wall_; }
  [[nodiscard]] MachineFacts machine() const override {
    return {.machine_id = "machine", .boot_id = space_, .time_namespace = 1};
  }

  /// Since the run began, whatever the clocks of the machine say: for traces and pictures.
  [[nodiscard]] Duration age() const { return age_; }
  [[nodiscard]] int boots() const { return boots_; }

  void pass(Duration by) {
    age_ += by;
    boot_ += by;
    wall_ += by;
  }
  void step_wall(Duration by) { wall_ += by; }
  /// Everybody is gone, and the boot-time clock starts again. `off` is how long the machine was down; its wall clock
  /// may be wrong by `error` afterwards.
  void reboot(Duration off, Duration error) {
    pass(off);
    ++boots_;
    space_ = "boot-" + std::to_string(boots_);
    boot_ = BootTime(std::chrono::seconds(20));
    wall_ += error;
    alive_.clear();
  }

  std::int64_t spawn() {
    alive_.insert(++last_pid_);
    return last_pid_;
  }
  void end(std::int64_t pid) { alive_.erase(pid); }
  [[nodiscard]] bool is_alive(std::int64_t pid) const { return alive_.contains(pid); }
  /// Where process ids mean something: changes with every boot.
  [[nodiscard]] const std::string& process_space() const { return space_; }

  std::uint64_t draw_number() { return ids_.next(); }

 private:
  Dice ids_;
  Duration age_{0};
  BootTime boot_{std::chrono::hours(100)};
  Timestamp wall_ = first_moment;
  int boots_ = 1;
  std::string space_ = "boot-1";
  std::int64_t last_pid_ = 1000;
  std::set<std::int64_t> alive_;
};

/// A sleeper in simulated time.
class Sleeper {
 public:
  virtual ~Sleeper() = default;
  virtual void sleep(Duration how_long) = 0;
};

/// While it lives, the library lives in this world. One at a time.
class Presence {
 public:
  Presence(World& world, Sleeper& sleeper);
  Presence(const Presence&) = delete;
  Presence& operator=(const Presence&) = delete;
  ~Presence();
};

}  // namespace leasehold::sim
