// Recovery of what dead processes held. Claims recover by themselves; this is for looking, counting and not waiting.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "leasehold/time.h"

namespace leasehold {

/// What was recovered, or what recover() would recover.
struct Recovered {
  std::int64_t locks = 0;      ///< expired leases of locks that were ended
  std::int64_t leases = 0;     ///< expired leases of jobs, chunks, sessions and schedules that were ended
  std::int64_t jobs = 0;       ///< jobs that went back to their queues
  std::int64_t chunks = 0;     ///< chunks that went back to their sets
  std::int64_t claims = 0;     ///< items of stale sessions
  std::int64_t runs = 0;       ///< runs of schedules that were lost
  std::int64_t failed = 0;     ///< jobs and chunks that have spent a budget: dead letters, exhausted
  std::int64_t lapsed = 0;     ///< jobs that were not started in time
  std::int64_t unblocked = 0;  ///< jobs that continued or were cancelled after their predecessors ended
  Timestamp store_now{};

  [[nodiscard]] bool is_nothing() const noexcept {
    return locks + leases + jobs + chunks + claims + runs + failed + lapsed + unblocked == 0;
  }
};

/// Recoveries by reason: `claim` (a claim took over), `recover` (recover() was called), `process_gone` (the process on
/// this host is dead).
struct RecoveryTotal {
  std::string reason;
  std::int64_t times = 0;
  std::int64_t leases = 0;
  std::int64_t jobs = 0;
  std::int64_t chunks = 0;
  std::int64_t claims = 0;
  std::int64_t runs = 0;
  std::optional<Timestamp> last_at{};
};

struct RecoveryStats {
  /// What has expired, as recover() would find it. Leases of dead processes on this host are not included: only
  /// recover() looks at processes.
  Recovered stale_now;
  std::vector<RecoveryTotal> totals;
};

}  // namespace leasehold
