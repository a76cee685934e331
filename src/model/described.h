// The described structs. Their tables are in lease.cc, job.cc, chunk.cc, session.cc, schedule.cc, store.cc, row.cc,
// access.cc.
#pragma once

#include "leasehold/access.h"
#include "leasehold/adopt.h"
#include "leasehold/chunk.h"
#include "leasehold/events.h"
#include "leasehold/history.h"
#include "leasehold/item.h"
#include "leasehold/job.h"
#include "leasehold/lease.h"
#include "leasehold/lock.h"
#include "leasehold/metrics.h"
#include "leasehold/migrations.h"
#include "leasehold/queue.h"
#include "leasehold/rate.h"
#include "leasehold/recovery.h"
#include "leasehold/result.h"
#include "leasehold/row.h"
#include "leasehold/schedule.h"
#include "leasehold/session.h"
#include "leasehold/store.h"
#include "model/field.h"

namespace leasehold::model {

Described describe(Type<Holder>);
Described describe(Type<LeaseInfo>);
/// A LeaseInfo without its kind and key, for answers that begin with a word of their own (the name of a lock).
Described lease_body();
Described describe(Type<Grant>);
Described describe(Type<Share>);
Described describe(Type<AcquireOptions>);
Described describe(Type<LockInfo>);
Described describe(Type<LockHolder>);
Described describe(Type<LockFilter>);
Described describe(Type<Error>);

Described describe(Type<Backoff>);
Described describe(Type<NewJob>);
Described describe(Type<Progress>);
Described describe(Type<JobClaimOptions>);
Described describe(Type<QueueSettings>);
Described describe(Type<JobFilter>);
Described describe(Type<JobBulk>);
Described describe(Type<JobsFound>);
Described describe(Type<JobsChanged>);
Described describe(Type<JobErrorFilter>);
Described describe(Type<Enqueued>);
Described describe(Type<Job>);
Described describe(Type<JobGrant>);
Described describe(Type<JobHeartbeat>);
Described describe(Type<JobSettled>);
Described describe(Type<JobAttempt>);
Described describe(Type<Predecessor>);
Described describe(Type<JobWait>);
Described describe(Type<BatchInfo>);
Described describe(Type<WorkerInfo>);
Described describe(Type<JobInfo>);
Described describe(Type<JobError>);
Described describe(Type<QueueInfo>);

Described describe(Type<ChunkSetSettings>);
Described describe(Type<ChunkClaimOptions>);
Described describe(Type<ChunkSave>);
Described describe(Type<PlannedChunk>);
Described describe(Type<PlanOptions>);
Described describe(Type<ChunkReset>);
Described describe(Type<ChunkFilter>);
Described describe(Type<Chunk>);
Described describe(Type<ChunkGrant>);
Described describe(Type<ChunkHeartbeat>);
Described describe(Type<ChunkSettled>);
Described describe(Type<ChunkInfo>);
Described describe(Type<ChunkSetInfo>);
Described describe(Type<PlanOutcome>);
Described describe(Type<ChunkResetOutcome>);
Described describe(Type<RateTakeOptions>);
Described describe(Type<RateInfo>);
Described describe(Type<RateTurn>);

Described describe(Type<SessionOptions>);
Described describe(Type<SessionHeartbeat>);
Described describe(Type<SessionFilter>);
Described describe(Type<ItemOptions>);
Described describe(Type<ItemFilter>);
Described describe(Type<ItemTakeOptions>);
Described describe(Type<ClaimNextOptions>);
Described describe(Type<ClaimFilter>);
Described describe(Type<PathOptions>);
Described describe(Type<PathFilter>);
Described describe(Type<PathsTaken>);
Described describe(Type<PathInfo>);
Described describe(Type<SessionInfo>);
Described describe(Type<SessionClosed>);
Described describe(Type<OwnSession>);
Described describe(Type<ItemDoneOptions>);
Described describe(Type<ItemNote>);
Described describe(Type<ItemInfo>);
Described describe(Type<Claim>);
Described describe(Type<ClaimInfo>);

Described describe(Type<ScheduleOptions>);
Described describe(Type<ScheduleAcquireOptions>);
Described describe(Type<RunResult>);
Described describe(Type<ScheduleFilter>);
Described describe(Type<RunFilter>);
Described describe(Type<ScheduleInfo>);
Described describe(Type<ScheduleRun>);
Described describe(Type<RunInfo>);
Described describe(Type<ScheduleSaved>);
Described describe(Type<Ensured>);
Described describe(Type<Fired>);
Described describe(Type<RunSettled>);

Described describe(Type<LeaseFilter>);
Described describe(Type<EventFilter>);
Described describe(Type<HistoryFilter>);
Described describe(Type<GrantInfo>);
Described describe(Type<RetentionSettings>);
Described describe(Type<Event>);
Described describe(Type<StoreStatus>);
Described describe(Type<Pruned>);
Described describe(Type<Retention>);
Described describe(Type<Recovered>);
Described describe(Type<StoreCount>);
Described describe(Type<StoreSpan>);
Described describe(Type<StoreHistogram>);
Described describe(Type<StoreMetrics>);
Described describe(Type<RecoveryTotal>);
Described describe(Type<RecoveryStats>);
Described describe(Type<Finding>);
Described describe(Type<MigrationInfo>);
Described describe(Type<Drift>);

Described describe(Type<NewToken>);
Described describe(Type<TokenInfo>);
Described describe(Type<CreatedToken>);
Described describe(Type<TokenFilter>);
Described describe(Type<AuditEntry>);
Described describe(Type<AuditFilter>);

Described describe(Type<RowGrant>);
Described describe(Type<RowSettled>);
Described describe(Type<RowInfo>);
Described describe(Type<RowRecovered>);
Described describe(Type<AdoptStep>);
Described describe(Type<AdoptPlan>);
Described describe(Type<RowCounts>);
Described describe(Type<AdoptedTable>);
Described describe(Type<TrialStep>);

}  // namespace leasehold::model
