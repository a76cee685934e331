// What Jobs and Queues hold.
#pragma once

#include <memory>
#include <optional>

#include "lease/awaited.h"
#include "lease/reap.h"
#include "leasehold/queue.h"
#include "queue/claim.h"
#include "queue/positions.h"
#include "queue/verdict.h"
#include "storage/backend.h"

namespace leasehold {

struct Jobs::Impl {
  std::shared_ptr<storage::Backend> backend;
  Duration call_timeout;
  /// Shared by all handles of a store.
  std::shared_ptr<lease::Reaper> reaper;
  std::shared_ptr<lease::Awaited> awaited;
  /// Shared by the copies of this handle.
  std::shared_ptr<queue::Positions> positions = std::make_shared<queue::Positions>();

  /// One try, and another where somebody who died on this host stood in the way.
  [[nodiscard]] Result<JobGrant> claim_once(const queue::Wish& wish, std::optional<Result<JobGrant>> first) const;
  /// Until something was granted, the time to wait is over or somebody stops it; then the last refusal. `first`: was
  /// asked already.
  [[nodiscard]] Result<JobGrant> claim(const queue::Wish& wish, const ClaimOptions& options,
                                       std::optional<Result<JobGrant>> first = {}) const;
  /// `first`: was said already.
  [[nodiscard]] Result<Settled> settle(const queue::VerdictStatement& statement,
                                       std::optional<Result<sql::JobSettled>> first = {}) const;

  [[nodiscard]] BootTime deadline() const { return BootClock::now() + call_timeout; }
};

struct Queues::Impl {
  std::shared_ptr<storage::Backend> backend;
  Duration call_timeout;

  [[nodiscard]] BootTime deadline() const { return BootClock::now() + call_timeout; }
};

}  // namespace leasehold
