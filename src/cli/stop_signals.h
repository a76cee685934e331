// Being told to stop by SIGINT, SIGTERM or SIGHUP: one place that takes these signals, and one rule for the exit code.
//
//   a command that only watches, or serves until told otherwise    has done what it was asked: 0
//   one that waited for something, or was about to finish it       did not get it: exit_code_after(signal)
//
//   std::stop_source stop;
//   const StopSignals signals(stop);
//   while (!stop.stop_requested()) look();
//   return exit_code::ok;
#pragma once

#include <atomic>
#include <functional>
#include <stop_token>
#include <thread>

#include "leasehold/time.h"
#include "run/boot_timer.h"
#include "run/unique_fd.h"

namespace leasehold::cli {

/// As a shell tells of a program that died of the signal: 130 after SIGINT, 143 after SIGTERM.
constexpr int exit_code_after(int signal) { return 128 + signal; }

/// Takes the signals, unless they are ignored (nohup), for the whole process: make it before any thread that does not
/// block them itself.
class StopSignals {
 public:
  /// Called on a thread of this object's own.
  struct Reactions {
    std::function<void()> on_first;
    std::function<void()> on_another;  ///< for each one after the first
    std::function<void()> on_alarm;    ///< see set_alarm()
  };
  explicit StopSignals(Reactions reactions);
  /// What most want: asks to stop at the first signal, and when the alarm rings.
  explicit StopSignals(std::stop_source stop);
  StopSignals(const StopSignals&) = delete;
  StopSignals& operator=(const StopSignals&) = delete;
  ~StopSignals();

  /// The first that came; 0: none.
  [[nodiscard]] int first() const { return first_; }

  /// Readable from the first signal on, for those who wait for a descriptor.
  [[nodiscard]] int fd() const { return heard_.get(); }

  /// Rings once, at this moment; replaces the one before. From any thread.
  void set_alarm(BootTime when) const { timer_.arm(when); }

 private:
  void watch();
  void hear(int signal);

  const Reactions reactions_;
  run::UniqueFd signals_;
  run::UniqueFd heard_;
  run::UniqueFd end_;
  const run::BootTimer timer_;
  std::atomic<int> first_ = 0;
  std::thread thread_;
};

}  // namespace leasehold::cli
