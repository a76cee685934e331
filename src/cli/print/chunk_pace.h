// How fast a set of chunks goes, and how long it still takes. By the store's clock alone.
#pragma once

#include <deque>
#include <optional>

#include "leasehold/chunk.h"

namespace leasehold::cli {

struct ChunkPace {
  double rows_per_second = 0;
  double chunks_per_minute = 0;
  std::optional<Duration> left{};  ///< nothing: there is no telling
};

/// Since the set was started; of a final one, until it was finished. Nothing: there is nothing to tell yet.
std::optional<ChunkPace> pace_since_start(const ChunkSetInfo& set);

/// The pace of the last minute, for those who look again and again.
class RecentPace {
 public:
  void add(const ChunkSetInfo& set);

  /// Since the start, where nothing was finished lately.
  [[nodiscard]] std::optional<ChunkPace> pace() const;

 private:
  std::deque<ChunkSetInfo> samples_;
};

}  // namespace leasehold::cli
