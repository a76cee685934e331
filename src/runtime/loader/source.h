// Where a loader's chunks come from and its verdicts go: one set, under the loader's own name.
//
// Every method may be called from any thread.
#pragma once

#include <optional>
#include <stop_token>
#include <string>

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
  /// What it still holds goes back to its set.
  Result<void> close(const SharedLease& lease) { return chunks_.close(lease); }

  /// One chunk; refused with `empty` without a moment to look again when none will come. One that must be alone comes
  /// under a lease of its own, all others are attached to `lease`.
  enum class Patience {
    ask_once,
    wait,  ///< for as long as another chunk may come; an hour or so, or until told to stop
  };
  Result<ChunkGrant> claim(const SharedLease& lease, Patience patience, const std::stop_token& stop);
  Result<ChunkHeartbeat> heartbeat(const Chunk& chunk, const ChunkSave& save);
  Result<ChunkSettled> settle(const Chunk& chunk, const Verdict& verdict);

  Result<ChunkSetInfo> progress() { return chunks_.progress(set_); }

 private:
  const Chunks chunks_;
  const std::string set_;
  const Holder holder_;
  const std::optional<Duration> ttl_;  ///< unset: the set's own
  const std::optional<Duration> older_than_;
  const bool keep_waiting_;
};

}  // namespace leasehold::loader
