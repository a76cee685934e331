// Being told to stop while standing in line for a lock: the place is given up, and who stands behind moves on at once.
//
//   LineSignals signals(options);
//   auto grant = locks.acquire("deploy", options);
//   if (signals.first() != 0) return exit_code_after(signals.first());
#pragma once

#include <csignal>
#include <optional>
#include <stop_token>

#include "cli/stop_signals.h"
#include "leasehold/lock.h"

namespace leasehold::cli {

/// Takes the signals that stop this process while it waits; whoever does not wait dies of them, as always.
class LineSignals {
 public:
  explicit LineSignals(AcquireOptions& options) {
    if (options.wait <= Duration(0)) return;
    options.stop = stop_.get_token();
    pthread_sigmask(SIG_SETMASK, nullptr, &mask_before_);
    signals_.emplace(stop_);
  }

  /// The first that came; 0: none.
  [[nodiscard]] int first() const { return signals_ ? signals_->first() : 0; }

  /// For a process that goes on to take signals in another way: from here on they come as before. The first that came
  /// until now; 0: none.
  int give_back() {
    if (!signals_) return 0;
    int signal = signals_->first();
    signals_.reset();
    pthread_sigmask(SIG_SETMASK, &mask_before_, nullptr);
    // One that came in between was taken, and did not say which it was.
    if (signal == 0 && stop_.stop_requested()) signal = SIGTERM;
    return signal;
  }

 private:
  std::stop_source stop_;
  sigset_t mask_before_{};
  std::optional<StopSignals> signals_;
};

}  // namespace leasehold::cli
