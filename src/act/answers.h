// Answers that combine several queries.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "act/job_settle.h"
#include "model/described.h"

namespace leasehold::act {

/// A grant with its request: `names` if several were taken together; `permits` and `capacity` of a share; `capacity` is
/// null if it is unlimited.
struct LockGrant {
  Grant grant;
  std::vector<std::string> names;
  std::optional<Share> share;
};

/// An opened or extended session.
struct SessionGrant {
  Grant grant;
};

/// An extended run of a schedule.
struct RunGrant {
  Grant grant;
};

/// A lock with every lease on it.
struct LockDetails {
  LockInfo lock;
  std::vector<LockHolder> leases;
};

/// An ended lease, with the other locks that ended with it.
struct EndedLock {
  LeaseInfo lease;
  std::vector<std::string> together;
};

/// A job with its attempts, payload and result.
struct JobDetails {
  JobInfo job;
  std::vector<JobAttempt> attempts;
  std::string payload;
  std::optional<std::string> result;
};

/// A chunk and its events.
struct ChunkDetails {
  ChunkInfo chunk;
  std::vector<Event> events;
};

/// A set, the chunks in progress, and the exhausted ones.
struct ChunkSetDetails {
  ChunkSetInfo set;
  std::vector<ChunkInfo> held;
  std::vector<ChunkInfo> exhausted;
};

/// A plan, and the job that waits for it.
struct PlanReport {
  PlanOutcome outcome;
  std::optional<JobId> job_id{};
  std::optional<JobState> job_state{};
};

/// A coming occurrence of a schedule.
struct Occurrence {
  Timestamp at{};
};

struct StoreReport {
  StoreStatus status;
  Retention retention;
  std::vector<QueueInfo> queues;
  RecoveryStats recovery;
};

model::Described describe(model::Type<LockGrant>);
model::Described describe(model::Type<SessionGrant>);
model::Described describe(model::Type<RunGrant>);
model::Described describe(model::Type<LockDetails>);
model::Described describe(model::Type<EndedLock>);
model::Described describe(model::Type<JobDetails>);
model::Described describe(model::Type<ChunkDetails>);
model::Described describe(model::Type<ChunkSetDetails>);
model::Described describe(model::Type<PlanReport>);
model::Described describe(model::Type<Occurrence>);
model::Described describe(model::Type<StoreReport>);

}  // namespace leasehold::act
