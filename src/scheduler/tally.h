// Counts what becomes of what was found due. Every method may be called from any thread.
#pragma once

#include <mutex>

#include "leasehold/scheduler.h"

namespace leasehold::scheduler {

class Tally {
 public:
  void enqueued() { count(&ScheduleSummary::enqueued); }
  void started() { count(&ScheduleSummary::started); }
  void lost() { count(&ScheduleSummary::lost); }
  void settled(RunVerdict::Kind verdict) {
    switch (verdict) {
      case RunVerdict::Kind::ok: return count(&ScheduleSummary::ok);
      case RunVerdict::Kind::fail: return count(&ScheduleSummary::failed);
      case RunVerdict::Kind::release: return count(&ScheduleSummary::released);
    }
  }
  [[nodiscard]] ScheduleSummary summary() const {
    const std::lock_guard lock(mutex_);
    return summary_;
  }

 private:
  void count(std::int64_t ScheduleSummary::*what) {
    const std::lock_guard lock(mutex_);
    ++(summary_.*what);
  }

  mutable std::mutex mutex_;
  ScheduleSummary summary_;
};

}  // namespace leasehold::scheduler
