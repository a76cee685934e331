// Where a loader's chunks come from and its verdicts go: the part of Chunks that the runtime needs, so that tests can
// be the store.
//
// Every method may be called from any thread.
#pragma once

#include <stop_token>

#include "leasehold/chunk.h"
#include "leasehold/loader.h"
#include "leasehold/result.h"

namespace leasehold::loader {

class ChunkSource {
 public:
  virtual ~ChunkSource() = default;

  virtual Result<LoaderLease> open_lease() = 0;
  virtual Result<LoaderLease> extend(const LoaderLease& lease) = 0;
  /// What it still holds goes back to its set.
  virtual Result<void> close(const LoaderLease& lease) = 0;

  /// One chunk; refused with `empty` without a moment to look again when none will come. One that must be alone comes
  /// under a lease of its own, all others are attached to `lease`.
  enum class Patience {
    ask_once,
    wait,  ///< for as long as another chunk may come; an hour or so, or until told to stop
  };
  virtual Result<ChunkGrant> claim(const LoaderLease& lease, Patience patience, const std::stop_token& stop) = 0;

  virtual Result<ChunkHeartbeat> heartbeat(const Chunk& chunk, const ChunkSave& save) = 0;
  virtual Result<ChunkSettled> settle(const Chunk& chunk, const ChunkVerdict& verdict) = 0;

  virtual Result<ChunkSetInfo> progress() = 0;
};

/// An answer of the set, not a failure: there is nothing for us at the moment.
inline bool is_refusal(Errc code) { return code == Errc::empty || code == Errc::held || code == Errc::busy; }

}  // namespace leasehold::loader
