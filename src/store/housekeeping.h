// Prunes with batches of any size, for tests; others call Store::prune.
#pragma once

#include <cstdint>

#include "leasehold/recovery.h"
#include "leasehold/result.h"
#include "leasehold/store.h"
#include "storage/backend.h"

namespace leasehold {

/// `batch` rows of each kind at a time, until none of any kind is left; `call_timeout` is for each batch.
Result<Pruned> prune_in_batches(storage::Backend& backend, Duration older_than, std::int64_t batch,
                                Duration call_timeout);

/// Adds what is new to the totals of the store, in steps; `waits`: all of it, and after another process that is adding.
/// Otherwise only so much that a reader can wait for it. `call_timeout` is for each step.
Result<void> bring_totals_up(storage::Backend& backend, bool waits, Duration call_timeout);

// Recovery: work of expired leases and dead processes goes back.
namespace job {

/// In batches, until nothing is left. `call_timeout` is for each batch.
Result<Recovered> recover(storage::Backend& backend, Duration call_timeout);

Result<RecoveryStats> recovery_stats(storage::Backend& backend, BootTime deadline);

}  // namespace job

}  // namespace leasehold
