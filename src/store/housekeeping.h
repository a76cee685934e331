// Pruning with batches of any size, for tests: who prunes says Store::prune.
#pragma once

#include <cstdint>

#include "leasehold/store.h"
#include "storage/backend.h"

namespace leasehold {

/// `batch` of each kind at a time, until none of any kind is left; `call_timeout` is for each batch.
Result<Pruned> prune_in_batches(storage::Backend& backend, Duration older_than, std::int64_t batch,
                                Duration call_timeout);

}  // namespace leasehold
