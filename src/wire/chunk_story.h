// What takes several questions to find out about chunks, as one JSON object.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "leasehold/chunk.h"
#include "leasehold/events.h"

namespace leasehold::wire {

/// A chunk, and what happened to it.
struct ChunkStory {
  ChunkInfo chunk;
  std::vector<Event> events;
};
/// A chunk with `events` in it.
std::string to_json(const ChunkStory& story);

/// A set, who works on it, and what went wrong for good.
struct ChunkPicture {
  ChunkSetInfo set;
  std::vector<ChunkInfo> held;
  std::vector<ChunkInfo> exhausted;
};
/// A set with `held_chunks` and `exhausted_chunks` in it.
std::string to_json(const ChunkPicture& picture);

/// A plan, and the job that waits for it now.
struct PlanReport {
  std::string set;
  PlanOutcome outcome;
  std::optional<JobId> job_id{};
  std::optional<JobState> job_state{};
};
/// A plan's outcome, with `job_id` and `job_state` where there is a job.
std::string to_json(const PlanReport& report);

}  // namespace leasehold::wire
