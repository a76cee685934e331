// A job queue whose claims are leases: when a worker dies, its jobs go back to the queue.
//
//   auto jobs = store.jobs();
//   auto added = jobs.enqueue("mail", {.payload = R"({"to":"ann"})", .priority = 5});
//   if (!added) return report(added.error());
//
//   auto claim = jobs.claim("mail", {.max = 10, .ttl = 30s});
//   if (!claim) return report(claim.error());                // empty: there is nothing to do, guaranteed
//   for (const auto& job : claim->jobs) {
//     send(job.payload);
//     auto done = jobs.complete(job.id, job.token);
//     if (!done) return report(done.error());                // lost: it took too long, and another worker has the job
//   }
//
// At least once: a job runs again if its holder dies. Handlers must be idempotent, or guard their writes with the job's
// token. Most programs use the runtime in worker.h, which claims, heartbeats and completes for them.
//
// Jobs and Queues are cheap handles: copy them freely, and call their methods from any thread. Single calls from
// several threads are combined into one transaction and one commit.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "leasehold/call.h"
#include "leasehold/export.h"
#include "leasehold/job_info.h"
#include "leasehold/lease.h"
#include "leasehold/limits.h"
#include "leasehold/page.h"
#include "leasehold/result.h"

namespace leasehold {

/// How long a failed job waits before it runs again: `base`, doubled with every further failure if exponential, up to
/// `max`. The job's id shifts it by up to a tenth either way, so that jobs that fail together do not return together.
struct Backoff {
  Duration base = defaults::job_backoff_base;
  Duration max = defaults::job_backoff_max;
  bool exponential = true;
};

/// What an enqueue does if an unfinished job of the queue has the dedupe key already.
enum class DedupeMode {
  keep,      ///< nothing
  replace,   ///< gives that job the new payload, metadata, priority, time, timeout and expiry, unless it is running
  debounce,  ///< moves that job's time to `delay` from now, unless it is running
};
LEASEHOLD_EXPORT const char* to_string(DedupeMode mode) noexcept;

struct NewJob {
  std::string payload{};  ///< any bytes, up to bounds::payload_bytes
  int priority = 0;       ///< higher runs first, then the earliest; -32768 to 32767
  Duration delay{0};
  std::optional<Timestamp> run_at{};  ///< instead of a delay
  /// Unique among the unfinished jobs of the queue: enqueueing a second one returns the id of the first.
  std::string dedupe_key{};
  DedupeMode dedupe_mode = DedupeMode::keep;
  std::optional<Duration> dedupe_for{};  ///< the key stays taken for this long, also after the job has ended
  /// Claims take turns between the groups of a queue, and jobs of one group share QueueSettings::max_per_group.
  std::string group{};
  /// How long an attempt may take; then it fails as timed out. Unset: the queue's, else the claim's.
  std::optional<Duration> timeout{};
  std::optional<Duration> expires_in{};   ///< not started after this time: then the job ends as lapsed
  std::optional<Timestamp> expires_at{};  ///< instead of `expires_in`
  std::string metadata{};  ///< a JSON object that travels with every attempt, up to bounds::job_metadata_bytes
  int max_failures = defaults::job_max_failures;  ///< a dead letter after this many failures
  int max_crashes = defaults::job_max_crashes;    ///< ... or after this many holders died with it
  Backoff backoff{};
  std::vector<std::string> tags{};
  std::vector<JobId> depends_on{};  ///< runs after all of these have completed; up to bounds::max_predecessors
  IfFailed if_failed = IfFailed::cancel;
  std::string batch{};         ///< the batch that the job belongs to: any name
  std::string on_batch_end{};  ///< runs when all jobs of this batch have ended, however they ended
  /// Makes a repeated call harmless: for defaults::request_kept, the same id returns the first answer again. Empty: a
  /// call whose answer was lost is not repeated.
  std::string request_id{};
};

struct Enqueued {
  JobId id = 0;
  bool created = true;   ///< false: the dedupe key was taken, and `id` is the job that has it
  bool updated = false;  ///< that job was changed, as DedupeMode says
  /// The state right after the call. If several jobs were enqueued together with a `run_at`: deferred, even if that
  /// moment has passed.
  JobState state = JobState::available;
};

struct JobClaimOptions {
  int max = 1;                    ///< 1 to bounds::max_claim
  std::optional<Duration> ttl{};  ///< unset: the queue's default_ttl, else defaults::job_ttl
  /// How long an attempt may take, for jobs without a limit of their own in queues without one.
  std::optional<Duration> timeout{};
  /// How long to wait for a job. Zero: try once. Duration::max(): forever.
  Duration wait{0};
  /// Makes a repeated call harmless: see AcquireOptions::request_id. Empty: a random id.
  std::string request_id{};
};

struct Job {
  JobId id = 0;
  Token token;
  std::string queue;
  std::string payload;
  int priority = 0;
  int attempt = 1;  ///< counts every claim of this job; the first is 1
  Timestamp created_at{};
  std::string schedule{};                 ///< the schedule that enqueued it; empty: none
  std::optional<Timestamp> occurrence{};  ///< the due moment of the schedule
  std::string group{};
  std::string batch{};
  std::string metadata{};             ///< as it was enqueued; empty: none
  std::string cursor{};               ///< what an earlier attempt saved with Progress::cursor; empty: nothing
  std::optional<Duration> timeout{};  ///< the store fails the attempt if it takes longer
};

/// Jobs claimed together, under one lease and one token.
struct JobGrant {
  std::vector<Job> jobs;
  Token token;
  std::int64_t lease_id = 0;
  Holder holder;
  Duration ttl{};
  Timestamp expires_at{};
  BootTime trusted_until{};
  /// A holder died with this job and others, so this lease holds it solo, to find the job that kills holders.
  bool solo = false;
  bool replayed = false;
};

struct Progress {
  std::optional<int> percent{};
  std::string message{};                ///< cut to bounds::message_bytes
  std::string stage{};                  ///< "rebasing", "testing", "merging"; up to bounds::stage_bytes
  std::optional<std::string> cursor{};  ///< JSON; the next attempt gets it. Kept until it is replaced or the job ends
};

struct JobHeartbeat {
  JobId id = 0;
  Duration ttl{};
  Timestamp expires_at{};
  BootTime trusted_until{};
  bool cancel_requested = false;  ///< a cancel was requested: stop; the job will not run again
};

/// The holder's verdict on a job or a chunk.
struct LEASEHOLD_EXPORT Verdict {
  enum class Kind { complete, fail, release, snooze, skip };

  Kind kind = Kind::complete;
  std::string text{};                   ///< a job's result, the error of a failure, the reason to skip a chunk
  bool retryable = true;                ///< of a failure; false: final
  std::optional<Duration> delay{};      ///< of a snooze; of a failure, instead of the backoff
  std::optional<std::string> cursor{};  ///< of a chunk, saved with the verdict
  std::optional<std::int64_t> rows{};   ///< of a chunk; unset: the saved total

  /// Done. The store keeps a job's result, up to bounds::result_bytes; a chunk has none.
  static Verdict complete(std::string result = {});
  /// Spends one failure of the budget; retried after a backoff until the budget is spent. The store keeps the error up
  /// to bounds::error_bytes.
  static Verdict fail(std::string error = {});
  /// A retry would not help: a job is a dead letter at once, a chunk exhausted.
  static Verdict fail_finally(std::string error = {});
  /// A failure with its own delay instead of the backoff.
  static Verdict retry_in(Duration delay, std::string error = {});
  /// Goes back at once, free of charge: another holder may take it.
  static Verdict release();
  /// Jobs only: goes back to the queue after a delay, free of charge.
  static Verdict snooze(Duration delay);
  /// Chunks only: the chunk need not be loaded.
  static Verdict skip(std::string reason);
  /// Chunks only: the same verdict, with the total of rows.
  [[nodiscard]] Verdict with_rows(std::int64_t total) const;
};

/// A verdict on one job, with the token that proves the hold.
struct Settlement {
  JobId id = 0;
  Token token;
  Verdict verdict{};
};

/// What a verdict did to the job.
struct JobSettled {
  JobId id = 0;
  JobState state = JobState::completed;
  std::optional<Timestamp> due_at{};
  bool replayed = false;  ///< the same verdict was given before
};

/// The answer to a verdict, and the next job.
struct NextJob {
  Result<JobSettled> settled;
  Result<JobGrant> grant;
};

/// Wakes its waiter when one of several queues may have a new job. A hint: it can come late or for nothing, so look now
/// and then without it, too. Only one thread may use it, except for wake().
class LEASEHOLD_EXPORT JobWatch {
 public:
  JobWatch(JobWatch&&) noexcept;
  JobWatch& operator=(JobWatch&&) noexcept;
  ~JobWatch();

  /// Sleeps until a job may have arrived since the watch was created or the last wait returned, or until `until`.
  void wait(BootTime until);
  /// Ends the current wait, or else the next one. Call it from any thread.
  void wake();

  /// For the library: only it creates an Impl.
  struct Impl;
  explicit JobWatch(std::unique_ptr<Impl> impl);

 private:
  std::unique_ptr<Impl> impl_;
};

class LEASEHOLD_EXPORT Jobs {
 public:
  Result<Enqueued> enqueue(std::string_view queue, const NewJob& job) const;
  /// All or none. Fastest for jobs that share their settings and have no dedupe key, no group and no `depends_on`.
  Result<std::vector<Enqueued>> enqueue(std::string_view queue, std::span<const NewJob> jobs) const;

  /// Claims up to `max` jobs under one lease, expired jobs of other holders included.
  /// Refused with `empty` (no job is due, and none was skipped), `at_capacity` (held_by: the holder in the way, and
  /// until when), `paused`, `rate_limited` (retry_at), or `busy` (other workers are claiming the jobs; try again).
  /// Jobs of a process on this host that is gone are taken over at once, before their lease expires.
  /// A handle that claims without a pause looks at the head of the queue once a second. Jobs that arrive there
  /// meanwhile (a higher priority, a released job) may wait that long while there is other work.
  Result<JobGrant> claim(std::string_view queue, const JobClaimOptions& options = {}, const Call& call = {}) const;

  /// Extends the job's lease; never revives an expired one. Without a ttl the lease keeps its own.
  Result<JobHeartbeat> heartbeat(JobId id, Token token, const Progress& progress = {},
                                 std::optional<Duration> ttl = {}) const;

  /// Ends the caller's hold on a job. Accepted after expiry while no other holder has taken the job over. The same
  /// verdict again returns the same answer.
  Result<JobSettled> settle(const Settlement& settlement) const;
  /// Returns one answer per settlement, in their order. Up to 1000 completions share a commit, and so do up to 1000
  /// releases; of the other verdicts, up to 64.
  Result<std::vector<Result<JobSettled>>> settle(std::span<const Settlement> settlements) const;
  /// Shorthands for settle().
  Result<JobSettled> complete(JobId id, Token token, std::string result = {}) const;
  Result<JobSettled> fail(JobId id, Token token, std::string error = {}) const;
  Result<JobSettled> release(JobId id, Token token) const;
  Result<JobSettled> snooze(JobId id, Token token, Duration delay) const;

  /// Settles one job and claims the next, in one commit instead of two. The two stay independent: a lost verdict does
  /// not prevent the claim, and an empty queue does not undo the verdict. The claim can use the place that the verdict
  /// frees. With invalid arguments neither happens.
  NextJob settle_and_claim(const Settlement& settlement, std::string_view queue, const JobClaimOptions& options = {},
                           const Call& call = {}) const;

  /// Cancels a waiting job at once. A running job (state: running) must stop by itself: a Worker and `leasehold work`
  /// notice within two seconds, other holders with their next heartbeat or by watch_lease(). A job that has ended stays
  /// as it is: the answer is `completed`, `failed`, `cancelled` or `lapsed`.
  Result<JobState> cancel(JobId id, std::string_view reason = {}) const;
  /// Makes a failed, cancelled, lapsed or deferred job available now, with fresh budgets. Returns `blocked` if it waits
  /// for its predecessors again. With IfFailed::cancel, refused while a predecessor is failed, cancelled or lapsed:
  /// retry that one first.
  Result<JobState> retry(JobId id) const;
  /// Retries every dead letter of a queue (empty name: of all queues); returns how many.
  Result<std::int64_t> redrive(std::string_view queue = {}) const;
  /// Removes a job that is not running. Jobs that depend on it follow their `if_failed`.
  Result<void> remove(JobId id) const;

  Result<JobInfo> show(JobId id) const;
  Result<std::string> payload(JobId id) const;
  /// `not_found` while the job has no result.
  Result<std::string> result(JobId id) const;
  Result<std::vector<JobAttempt>> attempts(JobId id) const;
  Result<Page<JobInfo>> list(const JobFilter& filter = {}) const;
  /// Jobs that contain this text in payload, errors, tags or metadata, whatever the case of ASCII letters. One call
  /// looks at up to bounds::max_jobs_searched jobs and for about bounds::max_search_time, and says how far it came.
  Result<JobsFound> search(std::string_view text, const JobFilter& filter = {}) const;
  /// Cancels, retries or removes the jobs that match, up to `filter.max` in one transaction. Repeat it with
  /// `filter.page` = `next`: jobs that were enqueued after the first call are left alone. Cancels and removes the
  /// newest jobs first, so that a job goes before those it depends on; retries the oldest first.
  Result<JobsChanged> bulk(const JobBulk& bulk) const;
  Result<Page<JobError>> errors(const JobErrorFilter& filter = {}) const;
  /// `not_found`: no job was enqueued with this batch.
  Result<BatchInfo> batch(std::string_view id) const;
  /// Waits until the job is completed, failed, cancelled or lapsed. `busy`: the time is over, or `call.stop` came.
  Result<JobInfo> wait(JobId id, Duration wait, const Call& call = {}) const;

  /// For waiting on several queues at once; for one queue, use JobClaimOptions::wait.
  [[nodiscard]] JobWatch watch(std::span<const std::string> queues) const;

  /// Opens one lease for many claims (Call::lease). When it ends, the jobs it still holds go back to their queues.
  /// `listening` is for those who look at the workers; a claim may be from any queue.
  Result<SharedLease> open_lease(Duration ttl, const Call& call = {}, const Listening& listening = {}) const;
  struct Extended {
    JobHeartbeat heartbeat;
    std::vector<JobId> cancelled;  ///< jobs under this lease that must stop
  };
  Result<Extended> extend(const SharedLease& lease, std::optional<Duration> ttl = {}) const;
  Result<void> close(const SharedLease& lease) const;
  /// Calls `on_news` within two seconds after jobs under the lease (SharedLease::id, JobGrant::lease_id) are cancelled
  /// or the lease is ended, without waiting for the next heartbeat. The callback runs on a thread of the store,
  /// repeatedly while the news is true, and must be quick. Ends when the returned object is destroyed. A hint:
  /// heartbeats report the same, and reliably.
  [[nodiscard]] std::shared_ptr<void> watch_lease(std::int64_t lease_id,
                                                  std::function<void(const LeaseNews&)> on_news) const;

  /// For the library: only it creates an Impl.
  struct Impl;
  explicit Jobs(std::shared_ptr<const Impl> impl) : impl_(std::move(impl)) {}

 private:
  std::shared_ptr<const Impl> impl_;
};

}  // namespace leasehold
