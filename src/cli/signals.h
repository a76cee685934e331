// Handles SIGINT, SIGTERM and SIGHUP in one place, with one rule for the exit code.
//
//   a command that only watches, or serves until it is stopped     succeeded: 0
//   one that waits for something, or was about to finish it        did not get it: exit_code_after(signal)
//
//   std::stop_source stop;
//   const StopSignals signals(stop);
//   while (!stop.stop_requested()) look();
//   return exit_code::ok;
#pragma once

#include <atomic>
#include <csignal>
#include <functional>
#include <optional>
#include <stop_token>
#include <thread>

#include "leasehold/lock.h"
#include "leasehold/time.h"
#include "run/signals.h"
#include "run/supervisor.h"

namespace leasehold::cli {

/// As a shell reports a program that died of the signal: 130 after SIGINT, 143 after SIGTERM.
constexpr int exit_code_after(int signal) { return 128 + signal; }

/// Handles the signals for the whole process, unless they are ignored (nohup): create it before any thread that does
/// not block them itself.
class StopSignals {
 public:
  /// Called on this object's own thread.
  struct Reactions {
    std::function<void()> on_first;
    std::function<void()> on_another;  ///< for each signal after the first
    std::function<void()> on_alarm;    ///< see set_alarm()
  };
  explicit StopSignals(Reactions reactions);
  /// The common case: requests a stop at the first signal, and when the alarm rings.
  explicit StopSignals(std::stop_source stop);
  StopSignals(const StopSignals&) = delete;
  StopSignals& operator=(const StopSignals&) = delete;
  ~StopSignals();

  /// The first signal received; 0 if none.
  [[nodiscard]] int first() const { return first_; }

  /// Readable from the first signal on, for polling.
  [[nodiscard]] int fd() const { return heard_.get(); }

  /// Rings once, at this moment; replaces the previous alarm. May be called from any thread.
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

// Handles a stop while waiting in line for a lock: gives up the place, so that the next one moves on at once.
//
//   LineSignals signals(options.wait, call);
//   auto grant = locks.acquire("deploy", options, call);
//   if (signals.first() != 0) return exit_code_after(signals.first());

/// Handles the stopping signals of this process while it waits; a process that does not wait dies of them, as without
/// this object.
class LineSignals {
 public:
  LineSignals(Duration wait, Call& call) {
    if (wait <= Duration(0)) return;
    call.stop = stop_.get_token();
    pthread_sigmask(SIG_SETMASK, nullptr, &mask_before_);
    signals_.emplace(stop_);
  }

  /// The first signal received; 0 if none.
  [[nodiscard]] int first() const { return signals_ ? signals_->first() : 0; }

  /// For a process that then handles signals in another way: restores the previous handling. Returns the first signal
  /// received until now; 0 if none.
  int give_back() {
    if (!signals_) return 0;
    int signal = signals_->first();
    signals_.reset();
    pthread_sigmask(SIG_SETMASK, &mask_before_, nullptr);
    // A signal in between was handled without recording which one it was.
    if (signal == 0 && stop_.stop_requested()) signal = SIGTERM;
    return signal;
  }

 private:
  std::stop_source stop_;
  sigset_t mask_before_{};
  std::optional<StopSignals> signals_;
};

}  // namespace leasehold::cli
