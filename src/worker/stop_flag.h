// Tells one handler to stop, and why. Every method may be called from any thread.
#pragma once

#include <atomic>
#include <optional>
#include <stop_token>

#include "leasehold/worker.h"

namespace leasehold::worker {

class StopFlag {
 public:
  /// Fires the stop token; the first reason counts.
  void raise(StopReason why) {
    int before = going_on;
    if (reason_.compare_exchange_strong(before, static_cast<int>(why))) source_.request_stop();
  }

  [[nodiscard]] std::stop_token token() const { return source_.get_token(); }
  /// Nothing while the handler may go on.
  [[nodiscard]] std::optional<StopReason> reason() const {
    const int reason = reason_;
    return reason == going_on ? std::nullopt : std::optional(static_cast<StopReason>(reason));
  }

 private:
  static constexpr int going_on = -1;

  std::stop_source source_;
  std::atomic<int> reason_ = going_on;
};

}  // namespace leasehold::worker
