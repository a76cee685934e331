#include "worker/attempt.h"

#include <utility>

namespace leasehold::worker {

void Attempt::stop(StopReason why) {
  int before = going_on;
  if (stop_reason_.compare_exchange_strong(before, static_cast<int>(why))) stop_.request_stop();
}

std::optional<StopReason> Attempt::stop_reason() const {
  const int reason = stop_reason_;
  return reason == going_on ? std::nullopt : std::optional(static_cast<StopReason>(reason));
}

bool Attempt::report(const Progress& progress) {
  const std::lock_guard lock(mutex_);
  const bool first = !report_.has_value();
  report_ = KeptProgress{progress.percent, std::string(progress.message), std::string(progress.stage)};
  return first;
}

std::optional<KeptProgress> Attempt::take_report() {
  const std::lock_guard lock(mutex_);
  return std::exchange(report_, std::nullopt);
}

void Attempt::put_back(KeptProgress report) {
  const std::lock_guard lock(mutex_);
  if (!report_) report_ = std::move(report);
}

}  // namespace leasehold::worker
