// Counts what becomes of the jobs. Every method may be called from any thread.
#pragma once

#include <mutex>

#include "leasehold/worker.h"

namespace leasehold::worker {

class Tally {
 public:
  void claimed(std::size_t jobs) {
    const std::lock_guard lock(mutex_);
    summary_.claimed += static_cast<std::int64_t>(jobs);
  }

  void lost(std::size_t jobs) {
    const std::lock_guard lock(mutex_);
    summary_.lost += static_cast<std::int64_t>(jobs);
  }

  void settled(Verdict::Kind verdict, const Settled& where) {
    const std::lock_guard lock(mutex_);
    ++(where.state == JobState::cancelled ? summary_.cancelled : counter_of(verdict));
  }

  [[nodiscard]] WorkSummary summary() const {
    const std::lock_guard lock(mutex_);
    return summary_;
  }

 private:
  std::int64_t& counter_of(Verdict::Kind verdict) {
    switch (verdict) {
      case Verdict::Kind::complete: return summary_.completed;
      case Verdict::Kind::fail: return summary_.failed;
      case Verdict::Kind::release: return summary_.released;
      case Verdict::Kind::snooze: break;
    }
    return summary_.snoozed;
  }

  mutable std::mutex mutex_;
  WorkSummary summary_;
};

}  // namespace leasehold::worker
