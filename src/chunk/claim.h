// One try at a set's chunks.
#pragma once

#include <optional>
#include <string>

#include "leasehold/chunk.h"
#include "storage/backend.h"

namespace leasehold::chunk {

/// All that the store needs to know of somebody who wants chunks.
struct Wish {
  std::string set;
  std::string key;  ///< empty: the next ones
  int most = 1;
  std::optional<Duration> ttl;
  std::optional<Duration> older_than;
  Holder holder;
  std::string request_id;
  std::optional<std::int64_t> attach;
};

/// Asks once; repeats only where the answer got lost on the way, or the store was busy.
Result<ChunkGrant> try_claim(storage::Backend& backend, const Wish& wish, BootTime deadline);

}  // namespace leasehold::chunk
