// A job queue whose claims are leases: a worker that dies gives its jobs back by dying.
//
//   auto jobs = store.jobs();
//   auto added = jobs.enqueue("mail", {.payload = R"({"to":"ann"})", .priority = 5});
//   if (!added) return tell(added.error());
//
//   auto claim = jobs.claim("mail", {.max = 10, .ttl = 30s});
//   if (!claim) return tell(claim.error());                // empty: nothing to do, and that is the truth
//   for (const auto& job : claim->jobs) {
//     send(job.payload);
//     auto done = jobs.complete(job.id, job.token);
//     if (!done) return tell(done.error());                // lost: it took too long, and somebody else has it
//   }
//
// At least once: a job whose holder died runs again, so handlers must be idempotent, or guard their writes with the
// job's token. Most programs want the runtime in worker.h, which claims, heartbeats and completes for them.
//
// Jobs and Queues are cheap handles; they may be copied, and every method may be called from any thread. Single calls
// of several threads travel together: one transaction, one commit.
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
#include "leasehold/lease.h"
#include "leasehold/limits.h"
#include "leasehold/result.h"

namespace leasehold {

using JobId = std::int64_t;

/// Derived from where the job lies and from the store's clock, never stored.
enum class JobState {
  available,  ///< waits to be claimed
  deferred,   ///< waits for its time: delayed, snoozed, or backing off after a failure
  blocked,    ///< waits for other jobs to complete
  running,    ///< leased, and the lease has not run out
  expired,    ///< leased, but the holder went silent: the next claim takes it
  completed,
  failed,     ///< dead letter: a budget is spent, or the failure was final. Can be retried
  cancelled,  ///< can be retried
};
LEASEHOLD_EXPORT const char* to_string(JobState state) noexcept;

/// How long a failed job waits before it runs again: `base`, doubled with every further failure where exponential, up
/// to `most`; a tenth more or less, by the job's id, so that jobs that failed together do not come back together.
struct Backoff {
  Duration base = defaults::job_backoff_base;
  Duration most = defaults::job_backoff_most;
  bool exponential = true;
};

/// What happens to a job when one of its predecessors (`after`) ends without completing: the predecessor failed for
/// good, was cancelled, or was removed.
enum class IfFailed {
  cancel,  ///< the job is cancelled, and so are those that run after it
  run,     ///< the job runs once all its predecessors have ended
  wait,    ///< the job waits for a retry of the predecessor; if that is removed, the job is cancelled
};
LEASEHOLD_EXPORT const char* to_string(IfFailed rule) noexcept;

struct NewJob {
  std::string payload{};  ///< any bytes, up to bounds::payload_bytes
  int priority = 0;       ///< higher first, then earliest; -32768 to 32767
  Duration delay{0};
  std::optional<Timestamp> run_at{};  ///< instead of a delay
  /// Unique among the queue's jobs that are not final: enqueueing a second one gives the first one's id.
  std::string dedupe_key{};
  /// Jobs of one key count together against Queues' max_per_key.
  std::string limit_key{};
  int failure_budget = defaults::job_failure_budget;  ///< so many failures, and it is a dead letter
  int crash_budget = defaults::job_crash_budget;      ///< the same for holders that died with it
  Backoff backoff{};
  std::vector<std::string> tags{};
  std::vector<JobId> after{};  ///< runs when all of these have completed; up to bounds::max_predecessors
  IfFailed if_failed = IfFailed::cancel;
};

struct Enqueued {
  JobId id = 0;
  bool created = true;  ///< false: the dedupe key was taken, and `id` is the job that has it
  /// When it was put there. Of many that were put there together to run at some moment: deferred, even where that
  /// moment has passed.
  JobState state = JobState::available;
};

struct JobClaimOptions {
  int max = 1;                    ///< 1 to bounds::max_claim
  std::optional<Duration> ttl{};  ///< unset: the queue's own, else defaults::job_ttl
  /// How long to wait for a job. Zero: ask once. Duration::max(): for ever.
  Duration wait{0};
  /// Makes repeating harmless, as with locks. Drawn at random when empty.
  std::string request_id{};
};

struct Job {
  JobId id = 0;
  Token token;
  std::string queue;
  std::string payload;
  int priority = 0;
  int attempt = 1;  ///< counts every claim of this job, the first is 1
  Timestamp created_at{};
  std::string schedule{};                 ///< that enqueued it; empty where none did
  std::optional<Timestamp> occurrence{};  ///< for which of its due moments
};

/// Jobs claimed together: one lease, one token.
struct JobGrant {
  std::vector<Job> jobs;
  Token token;
  std::int64_t lease_id = 0;
  Holder holder;
  Duration ttl{};
  Timestamp expires_at{};
  BootTime trusted_until{};
  /// The job killed or outlived a holder of many before: claimed alone, in a lease of its own, to find the culprit.
  bool alone = false;
  bool replayed = false;
};

struct Progress {
  std::optional<int> percent{};
  std::string message{};  ///< cut after bounds::message_bytes
  std::string stage{};    ///< "rebasing", "testing", "merging"; up to bounds::stage_bytes
};

struct JobHeartbeat {
  JobId id = 0;
  Duration ttl{};
  Timestamp expires_at{};
  BootTime trusted_until{};
  bool cancel_requested = false;  ///< somebody wants it to stop: give it up, it will not run again
};

/// What became of a job or a chunk, in the words of its holder.
struct LEASEHOLD_EXPORT Verdict {
  enum class Kind { complete, fail, release, snooze, skip };

  Kind kind = Kind::complete;
  std::string text{};                   ///< a job's result, the error of a failure, why a chunk is skipped
  bool retryable = true;                ///< of a failure; false: it is final
  std::optional<Duration> delay{};      ///< of a snooze; of a failure instead of the backoff
  std::optional<std::string> cursor{};  ///< of a chunk, to be saved with the verdict
  std::optional<std::int64_t> rows{};   ///< of a chunk; unset: as saved last

  /// Done. A job's result is kept with it, up to bounds::result_bytes; a chunk has none.
  static Verdict complete(std::string result = {});
  /// Spends one of the failures; retried after a backoff while there are any left. The error is kept up to
  /// bounds::error_bytes.
  static Verdict fail(std::string error = {});
  /// Trying again would not help: a job is a dead letter at once, a chunk exhausted.
  static Verdict fail_finally(std::string error = {});
  /// A failure, too, but with a delay of its own.
  static Verdict retry_in(Duration delay, std::string error = {});
  /// Back at once, at no charge: another holder may do it.
  static Verdict release();
  /// Jobs only: back to the queue after a while, at no charge.
  static Verdict snooze(Duration delay);
  /// Chunks only: it need not be loaded.
  static Verdict skip(std::string reason);
  /// Chunks only: the same verdict, with the total of rows so far.
  [[nodiscard]] Verdict with_rows(std::int64_t total) const;
};

/// A verdict on one job, with the proof that the caller holds it.
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

/// A verdict's answer, and the next job.
struct NextJob {
  Result<JobSettled> settled;
  Result<JobGrant> grant;
};

/// One attempt of a job. The current one has no end.
struct JobAttempt {
  int number = 1;
  Token token;
  std::string outcome;  ///< running, expired, completed, failed, released, snoozed, returned, cancelled, retried
  std::string holder;
  std::string host;
  std::int64_t pid = 0;
  Timestamp started_at{};
  std::optional<Timestamp> ended_at{};
  std::string error;
};

/// A job that another one runs after.
struct Predecessor {
  JobId id = 0;
  JobState state = JobState::available;
};

/// A job's own story, whatever batch it travelled in: a picture of one moment.
struct JobInfo {
  JobId id = 0;
  std::string queue;
  JobState state = JobState::available;
  int priority = 0;
  int attempts = 0;
  int failures = 0;
  int crashes = 0;
  int failure_budget = 0;
  int crash_budget = 0;
  Timestamp created_at{};
  std::optional<Timestamp> due_at{};
  std::optional<Timestamp> finished_at{};
  Token token;  ///< of the latest attempt
  std::string holder;
  std::string host;
  std::int64_t pid = 0;
  std::optional<Timestamp> heartbeat_at{};
  std::optional<Timestamp> expires_at{};
  std::optional<int> percent{};
  std::string message;
  std::string stage;
  bool cancel_requested = false;
  std::string dedupe_key;
  std::string limit_key;
  std::vector<std::string> tags;
  std::vector<JobId> after;               ///< what it still waits for
  std::vector<Predecessor> predecessors;  ///< all that it runs after, as long as they exist
  IfFailed if_failed = IfFailed::cancel;
  std::string schedule;                   ///< that enqueued it; empty where none did
  std::optional<Timestamp> occurrence{};  ///< for which of its due moments
  std::string error;                      ///< the latest
  Timestamp store_now{};
};

struct JobFilter {
  std::string queue{};
  std::optional<JobState> state{};
  std::string tag{};
  JobId before_id = 0;  ///< newest first; 0: from the newest
  int limit = defaults::job_list_limit;
};

struct JobError {
  JobId id = 0;
  std::string queue;
  Token token;
  Timestamp at{};
  std::string outcome;
  std::string holder;
  std::string error;
};

/// Wakes whoever waits when one of several queues may have a new job. A hint, late or for nothing at times: look now
/// and then without it, too. Belongs to one thread, but for wake().
class LEASEHOLD_EXPORT JobWatch {
 public:
  JobWatch(JobWatch&&) noexcept;
  JobWatch& operator=(JobWatch&&) noexcept;
  ~JobWatch();

  /// Sleeps until something may have come since the watch was made or the last wait returned; or `until`.
  void wait(BootTime until);
  /// Ends the wait that is under way, or else the next one. From any thread.
  void wake();

  /// For the library: nobody else has an Impl.
  struct Impl;
  explicit JobWatch(std::unique_ptr<Impl> impl);

 private:
  std::unique_ptr<Impl> impl_;
};

class LEASEHOLD_EXPORT Jobs {
 public:
  Result<Enqueued> enqueue(std::string_view queue, const NewJob& job) const;
  /// All or none. Plain jobs (no dedupe key, no limit key, no `after`) that share their settings are fastest.
  Result<std::vector<Enqueued>> enqueue(std::string_view queue, std::span<const NewJob> jobs) const;

  /// Takes up to `max` jobs under one lease. Expired work of others is taken over by the same call.
  /// Refused with `empty` (nothing is due, nothing was skipped), `at_capacity` (current: who holds the place, until
  /// when), `paused`, `rate_limited` (retry_at), or `busy` (there may be work, but not for you this time).
  /// What a process of this host held that is gone is taken over at once, without waiting for its lease to run out.
  /// A handle that claims again and again without a pause looks at the head of the queue once a second; what comes in
  /// there meanwhile (a higher priority, a job given back) may wait that long while there is other work.
  Result<JobGrant> claim(std::string_view queue, const JobClaimOptions& options = {}, const Call& call = {}) const;

  /// Extends the lease the job is held under; never revives an expired one. Without a ttl the lease keeps its own.
  Result<JobHeartbeat> heartbeat(JobId id, Token token, const Progress& progress = {},
                                 std::optional<Duration> ttl = {}) const;

  /// Ends the caller's hold on a job. Accepted after expiry while no other holder has taken the job over; the same
  /// verdict again gives the same answer.
  Result<JobSettled> settle(const Settlement& settlement) const;
  /// Each its own answer, in the order of the settlements. Up to a thousand completions share a commit, and so do as
  /// many releases; of the other verdicts up to 64 do.
  Result<std::vector<Result<JobSettled>>> settle(std::span<const Settlement> settlements) const;
  /// Short for settle().
  Result<JobSettled> complete(JobId id, Token token, std::string result = {}) const;
  Result<JobSettled> fail(JobId id, Token token, std::string error = {}) const;
  Result<JobSettled> release(JobId id, Token token) const;
  Result<JobSettled> snooze(JobId id, Token token, Duration delay) const;

  /// Settles one job and claims the next, in one commit where two calls take two. Apart from that they are two: a
  /// verdict that is lost does not prevent the claim, and with the queue empty the verdict counts. The claim can have
  /// the place that the verdict frees. With bad arguments neither happens.
  NextJob settle_and_claim(const Settlement& settlement, std::string_view queue, const JobClaimOptions& options = {},
                           const Call& call = {}) const;

  /// Waiting: at once. Running (state: running): a Worker and `leasehold work` hear of it within two seconds, other
  /// holders with their next heartbeat or by watch_lease().
  Result<JobState> cancel(JobId id, std::string_view reason = {}) const;
  /// Makes a failed, cancelled or deferred job available now, with fresh budgets. State `blocked`:
  /// it waits for its predecessors again. With IfFailed::cancel, refused while a predecessor is failed or cancelled:
  /// retry that one first.
  Result<JobState> retry(JobId id) const;
  /// Retries every dead letter of a queue, or of all for the empty name; gives how many.
  Result<std::int64_t> redrive(std::string_view queue = {}) const;
  /// Forgets a job that is not running. Those that wait for it do as their `if_failed` says.
  Result<void> remove(JobId id) const;

  Result<JobInfo> show(JobId id) const;
  Result<std::string> payload(JobId id) const;
  /// `not_found` while there is none.
  Result<std::string> result(JobId id) const;
  Result<std::vector<JobAttempt>> attempts(JobId id) const;
  Result<std::vector<JobInfo>> list(const JobFilter& filter = {}) const;
  Result<std::vector<JobError>> errors(std::string_view queue = {}, int limit = defaults::job_errors_limit) const;
  /// Until the job is completed, failed or cancelled, or the time is over or `call.stop` comes (`busy`).
  Result<JobInfo> wait(JobId id, Duration wait, const Call& call = {}) const;

  /// For those who wait for several queues at once; for one, JobClaimOptions::wait does it.
  [[nodiscard]] JobWatch watch(std::span<const std::string> queues) const;

  /// One lease for many claims (Call::lease). What it still holds when it ends goes back to its queue.
  Result<SharedLease> open_lease(Duration ttl, const Call& call = {}) const;
  struct Extended {
    JobHeartbeat heartbeat;
    std::vector<JobId> cancelled;  ///< jobs under this lease that somebody wants to stop
  };
  Result<Extended> extend(const SharedLease& lease, std::optional<Duration> ttl = {}) const;
  Result<void> close(const SharedLease& lease) const;
  /// For holders that run something: calls `on_news` within two seconds after somebody has cancelled jobs under the
  /// lease (SharedLease::id, JobGrant::lease_id) or ended it, without waiting for the next heartbeat. It runs on a
  /// thread of the store, again and again while the news is true, and must be quick. Ends when the returned object is
  /// destroyed. A hint: heartbeats tell the same, and for certain.
  [[nodiscard]] std::shared_ptr<void> watch_lease(std::int64_t lease_id,
                                                  std::function<void(const LeaseNews&)> on_news) const;

  /// For the library: nobody else has an Impl.
  struct Impl;
  explicit Jobs(std::shared_ptr<const Impl> impl) : impl_(std::move(impl)) {}

 private:
  std::shared_ptr<const Impl> impl_;
};

}  // namespace leasehold
