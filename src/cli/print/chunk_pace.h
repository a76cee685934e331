// The pace of a set of chunks, and the time left. By the store's clock alone.
#pragma once

#include <deque>
#include <optional>

#include "leasehold/chunk.h"

namespace leasehold::cli {

struct ChunkPace {
  double rows_per_second = 0;
  double chunks_per_minute = 0;
  std::optional<Duration> left{};  ///< nothing: unknown
};

/// Since the start of the set; for a final set, until its end. Nothing if there is no data yet.
std::optional<ChunkPace> pace_since_start(const ChunkSetInfo& set);

/// The pace of the last minute, for repeated looks.
class RecentPace {
 public:
  void add(const ChunkSetInfo& set);

  /// Since the start, if no chunk was finished lately.
  [[nodiscard]] std::optional<ChunkPace> pace() const;

 private:
  std::deque<ChunkSetInfo> samples_;
};

}  // namespace leasehold::cli
