// Counts what becomes of the chunks. Every method may be called from any thread.
#pragma once

#include <mutex>

#include "leasehold/loader.h"

namespace leasehold::loader {

class Tally {
 public:
  void claimed() {
    const std::lock_guard lock(mutex_);
    ++summary_.claimed;
  }
  void lost() {
    const std::lock_guard lock(mutex_);
    ++summary_.lost;
  }
  void settled(ChunkVerdict::Kind verdict) {
    const std::lock_guard lock(mutex_);
    ++counter_of(verdict);
  }
  [[nodiscard]] LoadSummary summary() const {
    const std::lock_guard lock(mutex_);
    return summary_;
  }

 private:
  std::int64_t& counter_of(ChunkVerdict::Kind verdict) {
    switch (verdict) {
      case ChunkVerdict::Kind::complete: return summary_.completed;
      case ChunkVerdict::Kind::fail: return summary_.failed;
      case ChunkVerdict::Kind::release: return summary_.released;
      case ChunkVerdict::Kind::skip: break;
    }
    return summary_.skipped;
  }

  mutable std::mutex mutex_;
  LoadSummary summary_;
};

}  // namespace leasehold::loader
