// Holders on this host whose process is gone: their leases end at once, without waiting for the ttl.
#pragma once

#include <mutex>

#include "storage/backend.h"

namespace leasehold::lease {

struct Reaped {
  std::int64_t leases = 0;
  std::int64_t jobs = 0;
  std::int64_t chunks = 0;
};

/// Threading: from any thread.
class Reaper {
 public:
  /// At most twice a second; in between it finds nothing. Trouble is no reason to fail a claim: then it finds nothing,
  /// too, and the leases run out by themselves.
  Reaped reap_now_and_then(storage::Backend& backend, BootTime deadline);

  static Reaped reap(storage::Backend& backend, BootTime deadline);

 private:
  std::mutex mutex_;
  BootTime next_{};
};

}  // namespace leasehold::lease
