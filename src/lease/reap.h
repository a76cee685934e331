// Holders on this host whose process is gone: their leases end at once, without waiting for the ttl.
#pragma once

#include <mutex>

#include "leasehold/lease.h"
#include "storage/backend.h"

namespace leasehold::lease {

struct Reaped {
  std::int64_t leases = 0;
  std::int64_t jobs = 0;
  std::int64_t chunks = 0;
  std::int64_t claims = 0;
  std::int64_t runs = 0;
};

/// True only where it is certain: it was a process of this host, and it has ended.
bool is_gone(const Holder& holder);

/// Ends the lease of a process that is gone. No lease is counted where somebody else was quicker.
Result<Reaped> reap_lease(storage::Backend& backend, std::int64_t lease_id, std::int64_t pid,
                          std::int64_t process_start, BootTime deadline);

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
