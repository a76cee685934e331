// What takes several questions to find out, as one answer.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "model/described.h"

namespace leasehold::wire {

/// A grant with what was asked for: `names` where several were taken together; `permits` and `capacity` of a share, the
/// latter null where there is no limit.
struct LockGrant {
  Grant grant;
  std::vector<std::string> names;
  std::optional<Share> share;
};

/// A lock with all who have it.
struct LockStory {
  LockInfo lock;
  std::vector<LockHolder> held_by;
};

/// A lease that was ended, with the other locks that ended with it.
struct EndedLock {
  LeaseInfo lease;
  std::vector<std::string> together;
};

/// Everything there is to tell about one job.
struct JobStory {
  JobInfo job;
  std::vector<JobAttempt> attempts;
  std::string payload;
  std::optional<std::string> result;
};

/// A chunk, and what happened to it.
struct ChunkStory {
  ChunkInfo chunk;
  std::vector<Event> events;
};

/// A set, who works on it, and what went wrong for good.
struct ChunkPicture {
  ChunkSetInfo set;
  std::vector<ChunkInfo> held;
  std::vector<ChunkInfo> exhausted;
};

/// A plan, and the job that waits for it now.
struct PlanReport {
  PlanOutcome outcome;
  std::optional<JobId> job_id{};
  std::optional<JobState> job_state{};
};

/// A run that was not due, held or paused: a refusal that is no failure.
struct SkippedRun {
  std::string schedule;
  Error refusal;
};

struct StoreReport {
  StoreStatus status;
  std::vector<QueueInfo> queues;
  RecoveryStats recovery;
};

model::Described describe(model::Type<LockGrant>);
model::Described describe(model::Type<LockStory>);
model::Described describe(model::Type<EndedLock>);
model::Described describe(model::Type<JobStory>);
model::Described describe(model::Type<ChunkStory>);
model::Described describe(model::Type<ChunkPicture>);
model::Described describe(model::Type<PlanReport>);
model::Described describe(model::Type<SkippedRun>);
model::Described describe(model::Type<StoreReport>);

}  // namespace leasehold::wire
