// The chunks of a set in a store.
#pragma once

#include <optional>
#include <string>

#include "leasehold/store.h"
#include "loader/source.h"

namespace leasehold::loader {

class ChunksSource final : public ChunkSource {
 public:
  ChunksSource(const Store& store, std::string set, Holder holder, const LoaderOptions& options);

  Result<LoaderLease> open_lease() override;
  Result<LoaderLease> extend(const LoaderLease& lease) override;
  Result<void> close(const LoaderLease& lease) override;

  Result<ChunkGrant> claim(const LoaderLease& lease, Patience patience, const std::stop_token& stop) override;
  Result<ChunkHeartbeat> heartbeat(const Chunk& chunk, const ChunkSave& save) override;
  Result<ChunkSettled> settle(const Chunk& chunk, const ChunkVerdict& verdict) override;

  Result<ChunkSetInfo> progress() override;

 private:
  const Chunks chunks_;
  const std::string set_;
  const Holder holder_;
  const Duration ttl_;  ///< zero: the set's own
  const std::optional<Duration> older_than_;
  const bool keep_waiting_;
};

}  // namespace leasehold::loader
