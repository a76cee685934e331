// The source of a loader's chunks, and the target of its verdicts: one set, under the loader's own name.
//
// Call its methods from any thread.
#pragma once

#include <memory>
#include <optional>
#include <stop_token>
#include <string>

#include "lease/housekeeper.h"
#include "leasehold/chunk.h"
#include "leasehold/loader.h"
#include "leasehold/result.h"
#include "leasehold/store.h"

namespace leasehold::loader {

class ChunksSource {
 public:
  ChunksSource(const Store& store, std::string set, Holder holder, const LoaderOptions& options);

  Result<SharedLease> open_lease();
  Result<SharedLease> extend(const SharedLease& lease) { return chunks_.extend(lease); }
  /// The chunks it still holds go back to their set.
  Result<void> close(const SharedLease& lease) { return chunks_.close(lease); }

  /// Claims one chunk. When no more will come, refused with `empty` and no moment to try again. A solo chunk gets its
  /// own lease, all others are attached to `lease`.
  enum class Patience {
    ask_once,
    wait,  ///< as long as another chunk may come: up to an hour, or until `stop`
  };
  Result<ChunkGrant> claim(const SharedLease& lease, Patience patience, const std::stop_token& stop);
  Result<ChunkHeartbeat> heartbeat(const Chunk& chunk, const ChunkSave& save);
  Result<ChunkSettled> settle(const Chunk& chunk, const Verdict& verdict);

  Result<ChunkSetInfo> progress() { return chunks_.progress(set_); }

 private:
  const Chunks chunks_;
  const std::string set_;
  const Holder holder_;
  const std::optional<Duration> ttl_;  ///< unset: the set's default_ttl
  const std::optional<Duration> older_than_;
  const bool keep_waiting_;
  const std::shared_ptr<lease::Housekeeper> housekeeper_;
};

}  // namespace leasehold::loader
