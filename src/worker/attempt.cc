#include "worker/attempt.h"

#include <utility>

namespace leasehold::worker {

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
