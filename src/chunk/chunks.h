// What Chunks holds.
#pragma once

#include <memory>

#include "chunk/claim.h"
#include "lease/awaited.h"
#include "lease/reap.h"
#include "leasehold/chunk.h"
#include "storage/backend.h"

namespace leasehold {

struct Chunks::Impl {
  std::shared_ptr<storage::Backend> backend;
  Duration call_timeout;
  /// Shared by all handles of a store.
  std::shared_ptr<lease::Reaper> reaper;
  std::shared_ptr<lease::Awaited> awaited;

  /// One try, and another where somebody who died on this host stood in the way.
  [[nodiscard]] Result<ChunkGrant> claim_once(const chunk::Wish& wish) const;
  /// Until something was granted, the set is final or the time to wait is over; then the last refusal.
  [[nodiscard]] Result<ChunkGrant> claim_patiently(const chunk::Wish& wish, const ChunkClaimOptions& options) const;

  [[nodiscard]] BootTime deadline() const { return BootClock::now() + call_timeout; }
};

}  // namespace leasehold
