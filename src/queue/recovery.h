// Recovering: what expired leases and dead processes have left behind goes back to work.
#pragma once

#include "leasehold/recovery.h"
#include "leasehold/result.h"
#include "storage/backend.h"

namespace leasehold::queue {

/// In batches, until nothing is left. `call_timeout` is for each.
Result<Recovered> recover(storage::Backend& backend, Duration call_timeout);

Result<RecoveryStats> recovery_stats(storage::Backend& backend, BootTime deadline);

/// Finished jobs older than this, with all their traces, `batch` at a time; gives how many.
Result<std::int64_t> prune_jobs(storage::Backend& backend, Duration older_than, std::int64_t batch,
                                Duration call_timeout);

}  // namespace leasehold::queue
