// One try at a queue's jobs.
#pragma once

#include <optional>
#include <string>

#include "leasehold/queue.h"
#include "queue/positions.h"
#include "storage/backend.h"

namespace leasehold::queue {

/// All that the store needs to know of somebody who wants jobs.
struct Wish {
  std::string queue;
  int most = 1;
  std::optional<Duration> ttl;
  Holder holder;
  std::string request_id;
  std::optional<std::int64_t> attach;
};

/// Asks once; repeats only where the answer got lost on the way, or the store was busy.
Result<JobGrant> try_claim(storage::Backend& backend, const Wish& wish, Positions& positions, BootTime deadline);

/// Refused, and waiting can change that.
inline bool may_change(const Error& refusal) {
  switch (refusal.code) {
    case Errc::empty:
    case Errc::at_capacity:
    case Errc::paused:
    case Errc::rate_limited:
    case Errc::busy: return true;
    default: return false;
  }
}

}  // namespace leasehold::queue
