// What jobs look like to those who watch them: states, attempts, why a job waits, and how lists are filtered.
// Jobs::show and Jobs::list answer with these (job.h).
//
//   auto page = store.jobs().list({.queue = "mail", .state = JobState::failed});
//   if (!page) return report(page.error());
//   for (const auto& job : page->items) print(job.id, job.error);
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "leasehold/export.h"
#include "leasehold/lease.h"
#include "leasehold/limits.h"
#include "leasehold/result.h"

namespace leasehold {

using JobId = std::int64_t;

/// Derived from the job's place in the store and the store's clock; never stored.
enum class JobState {
  available,  ///< waits to be claimed
  deferred,   ///< waits for its time: delayed, snoozed, or backing off after a failure
  blocked,    ///< waits for other jobs to complete
  running,    ///< leased, and the lease has not expired
  expired,    ///< leased, but the lease has expired: the next claim takes the job over
  completed,
  failed,     ///< dead letter: a budget is spent, or the failure was final. Can be retried
  cancelled,  ///< can be retried
  lapsed,     ///< was not started before its `expires_at`. Can be retried
};
LEASEHOLD_EXPORT const char* to_string(JobState state) noexcept;

/// What happens to a job when one of its predecessors (`depends_on`) ends without completing: the predecessor failed
/// finally, was cancelled, lapsed (it was not started in time), or was removed.
enum class IfFailed {
  cancel,  ///< the job is cancelled, and so are the jobs that depend on it
  run,     ///< the job runs once all its predecessors have ended
  wait,    ///< the job waits for a retry of the predecessor; if that is removed, the job is cancelled
};
LEASEHOLD_EXPORT const char* to_string(IfFailed rule) noexcept;

/// How an attempt ended, or what it is doing. returned: its lease expired before it began. retried: by an operator.
/// lapsed: not started in time.
enum class AttemptOutcome {
  running,
  expired,
  completed,
  failed,
  released,
  snoozed,
  returned,
  cancelled,
  retried,
  lapsed
};
LEASEHOLD_EXPORT const char* to_string(AttemptOutcome outcome) noexcept;

/// One attempt of a job. The current attempt has no `ended_at`.
struct JobAttempt {
  int number = 1;
  Token token;
  AttemptOutcome outcome = AttemptOutcome::running;
  std::optional<Holder> holder{};
  Timestamp started_at{};
  std::optional<Timestamp> ended_at{};
  std::string error;
};

/// A job that another job depends on.
struct Predecessor {
  JobId id = 0;
  JobState state = JobState::available;
};

/// Why a job is not running.
enum class WaitReason {
  paused,        ///< its queue is paused
  at_capacity,   ///< its queue is at its limit: `job_id` is the job that frees a place first
  rate_limited,  ///< the rate of its queue is spent until `until`
  group_full,    ///< its group is at its limit: `job_id` is the job that frees a place first
  blocked,       ///< waits for `job_id`, or for a batch or a chunk set
  not_due,       ///< waits for its time, `until`
  timed_out,     ///< it took longer than its time limit: the next claim fails it
  recovering,    ///< its holder died: the next claim takes it over
  no_worker,     ///< no worker has asked for its queue within defaults::worker_seen
  turn,          ///< it waits for its turn
};
LEASEHOLD_EXPORT const char* to_string(WaitReason reason) noexcept;

struct JobWait {
  WaitReason reason = WaitReason::turn;
  std::string text{};                ///< for people: "the queue is paused: the provider is down"
  std::optional<JobId> job_id{};     ///< the job in the way
  std::optional<Timestamp> until{};  ///< when that may change at the latest, if the store knows
};

/// A snapshot of one job, independent of the batch it was claimed in.
struct JobInfo {
  JobId id = 0;
  std::string queue;
  JobState state = JobState::available;
  int priority = 0;
  int attempts = 0;
  int failures = 0;
  int crashes = 0;
  int max_failures = 0;
  int max_crashes = 0;
  Timestamp created_at{};
  std::optional<Timestamp> due_at{};
  std::optional<Timestamp> finished_at{};
  Token token;                     ///< of the latest attempt
  std::optional<Holder> holder{};  ///< of the latest attempt
  std::optional<Timestamp> heartbeat_at{};
  std::optional<Timestamp> held_until{};  ///< when its lease expires
  std::optional<int> percent{};
  std::string message;
  std::string stage;
  bool cancel_requested = false;
  std::optional<JobWait> wait{};  ///< why it is not running; only of jobs that wait or whose lease expired
  std::string dedupe_key;
  std::string group;
  std::optional<Duration> timeout{};        ///< of each attempt, as it was enqueued
  std::optional<Timestamp> times_out_at{};  ///< when the running attempt fails as timed out
  std::optional<Timestamp> expires_at{};    ///< not started after that
  std::string metadata;
  std::string cursor;        ///< what its attempts saved
  std::string batch;         ///< the batch that it belongs to
  std::string on_batch_end;  ///< the batch whose end it waits for, or ran after
  std::vector<std::string> tags;
  std::vector<JobId> waits_for;         ///< the jobs of `depends_on` that still block this one
  std::vector<Predecessor> depends_on;  ///< all that still exist, with their states
  IfFailed if_failed = IfFailed::cancel;
  std::string schedule;                   ///< the schedule that enqueued it; empty: none
  std::optional<Timestamp> occurrence{};  ///< the due moment of the schedule
  std::string error;                      ///< the latest one
  Timestamp store_now{};
};

/// The jobs of a batch, counted. Its end job, if any, runs when `unfinished` becomes zero.
struct BatchInfo {
  std::string id;
  std::int64_t total = 0;
  std::int64_t unfinished = 0;
  std::int64_t completed = 0;
  std::int64_t failed = 0;
  std::int64_t cancelled = 0;
  std::int64_t lapsed = 0;
  Timestamp created_at{};
  std::optional<Timestamp> ended_at{};  ///< when the last of its jobs ended
  std::optional<JobId> end_job{};       ///< the job that was enqueued with NewJob::on_batch_end
  Timestamp store_now{};
};

/// Fields that are not set match every job.
struct JobFilter {
  std::string queue{};
  std::optional<JobState> state{};
  std::string tag{};
  std::string batch{};
  std::string group{};
  std::string dedupe_key{};
  std::optional<Timestamp> enqueued_after{};   ///< at this moment or later
  std::optional<Timestamp> enqueued_before{};  ///< before this moment
  int max = defaults::job_list_max;            ///< newest first
  std::string page{};                          ///< Page::next of the previous page; empty: the first page
};

/// What Jobs::search found, and how far it looked.
struct JobsFound {
  std::vector<JobInfo> items{};       ///< newest first
  std::optional<std::string> next{};  ///< the filter's `page` that continues the search; unset: it is complete
  std::int64_t scanned = 0;           ///< jobs that this call looked at
  std::optional<Timestamp> oldest_scanned_at{};  ///< when the oldest of them was enqueued
  bool complete = false;                         ///< no older job is left to look at
};

/// What Jobs::bulk does to each job.
enum class JobAction {
  cancel,  ///< like Jobs::cancel: jobs that wait or run
  retry,   ///< like Jobs::retry: failed jobs, or with a state: failed, cancelled, lapsed or deferred ones
  remove,  ///< like Jobs::remove: jobs that do not run
};
LEASEHOLD_EXPORT const char* to_string(JobAction action) noexcept;

struct JobBulk {
  JobAction action = JobAction::cancel;
  JobFilter filter{.max = bounds::max_bulk};  ///< max: jobs in one call, at most bounds::max_bulk
  std::string reason{};                       ///< of a cancel; kept with the events
  bool preview = false;                       ///< only count; then one call counts up to bounds::max_bulk_counted jobs
};

/// What one call of Jobs::bulk did.
struct JobsChanged {
  std::int64_t matched = 0;
  std::int64_t changed = 0;  ///< cancelled, or asked to stop; retried; removed
  std::int64_t skipped = 0;  ///< matched, but could not be changed: another state by now, a dead predecessor, ...
  std::optional<std::string> next{};  ///< the filter's `page` that continues; unset: all are done
};

struct JobErrorFilter {
  std::string queue{};                 ///< empty: every queue
  int max = defaults::job_errors_max;  ///< newest first
  std::string page{};                  ///< Page::next of the previous page; empty: the first page
};

struct JobError {
  JobId id = 0;
  std::string queue;
  Token token;
  Timestamp at{};
  AttemptOutcome outcome = AttemptOutcome::failed;
  std::optional<Holder> holder{};
  std::string error;
};

/// What the holder of a worker's lease works on, for Queues::workers().
struct Listening {
  std::vector<std::string> queues{};
  int concurrency = 1;  ///< jobs that run at once
};

}  // namespace leasehold
