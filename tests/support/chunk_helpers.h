// Short words for what tests about loading chunks do all the time.
#pragma once

#include <string>
#include <vector>

#include "leasehold/leasehold.h"
#include "support/job_helpers.h"

namespace leasehold::support {

/// Chunks "1" to "N" with their number as spec.
inline void plan_numbers(const Chunks& chunks, const std::string& set, int count, const PlanOptions& options = {}) {
  std::vector<PlannedChunk> planned;
  for (int i = 1; i <= count; ++i) planned.push_back({std::to_string(i), std::to_string(i)});
  must(chunks.plan(set, planned, options));
}

inline ChunkInfo show(const Chunks& chunks, const std::string& set, const std::string& key) {
  return must(chunks.show(set, key));
}

/// "claimed", "reclaimed", "completed", ...: what happened to a chunk, in order.
inline std::vector<std::string> story_of(const Store& store, const std::string& set, const std::string& key) {
  std::vector<std::string> story;
  for (const auto& event : must(store.events({.key = set + "/" + key}))) {
    story.push_back(event.what);
  }
  return story;
}

}  // namespace leasehold::support
