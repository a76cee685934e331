// The runtime for workers: claims jobs, heartbeats them, settles them, and tells handlers when to stop.
//
//   leasehold::Worker worker(*store, {.concurrency = 8});
//   worker.handle("mail", [](const Job& job, JobContext& context) -> Verdict {
//     for (const auto& letter : letters_of(job.payload)) {
//       if (context.stop_requested()) return Verdict::release();  // lost, or the worker is stopping
//       if (!send(letter)) return Verdict::fail("the mail server refused " + letter.to);
//       context.progress({.message = letter.to});
//     }
//     return Verdict::complete();
//   });
//   auto summary = worker.run(stop.get_token());  // until stopped; then running jobs get `grace` to finish
//   if (!summary) return report(summary.error());
//
// Signals belong to the program. To stop on SIGTERM and SIGINT, before any thread is started:
//
//   sigset_t ends; sigemptyset(&ends); sigaddset(&ends, SIGTERM); sigaddset(&ends, SIGINT);
//   pthread_sigmask(SIG_BLOCK, &ends, nullptr);
//   std::thread([ends, &stop] { int which; sigwait(&ends, &which); stop.request_stop(); }).detach();
//
// One lease for all: the worker heartbeats one row, however many jobs it holds. Claims and completions are batched when
// there are many, and sent at once when there are few. During a store outage, running jobs continue for as long as the
// lease can be trusted, verdicts are retried, and claims are retried less and less often.
//
// At least once: a job runs again if its worker dies or loses its lease. Handlers must be idempotent, or guard their
// writes with the job's token.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>

#include "leasehold/export.h"
#include "leasehold/job.h"
#include "leasehold/lease.h"
#include "leasehold/limits.h"
#include "leasehold/queue.h"
#include "leasehold/result.h"
#include "leasehold/store.h"

namespace leasehold {

namespace worker {
class Attempt;
class Beater;
}  // namespace worker

class Worker;
struct WorkSummary;
LEASEHOLD_EXPORT Result<WorkSummary> drain(Worker& worker);  // testing.h

/// Why a handler must stop.
enum class StopReason {
  cancelled,  ///< the job was cancelled: it will not run again
  lost,       ///< the lease is gone, or its state is unknown: a verdict no longer counts
  draining,   ///< the worker is stopping and the grace is over: release the job
  timed_out,  ///< the attempt took longer than its limit: it fails, whatever the handler returns
};
LEASEHOLD_EXPORT const char* to_string(StopReason why) noexcept;

/// What a handler can do while it runs. Valid during the call of the handler; call its methods from any thread.
class LEASEHOLD_EXPORT JobContext {
 public:
  /// Fires when the handler must stop, at the latest when the lease can no longer be trusted. Callbacks on it must be
  /// quick: they run on a thread that stops other jobs, too.
  [[nodiscard]] std::stop_token stop_token() const;
  [[nodiscard]] bool stop_requested() const;
  /// Why the stop token fired; nothing while the handler may continue.
  [[nodiscard]] std::optional<StopReason> stop_reason() const;

  /// The job is held until this moment at least; every heartbeat moves it on, up to limit().
  [[nodiscard]] BootTime trusted_until() const;
  /// When the attempt has taken too long, and the store fails it. The stop token fires shortly before. Nothing: no
  /// limit.
  [[nodiscard]] std::optional<BootTime> limit() const;

  /// For observers. Cheap: only the latest is sent, at most once a second. A cursor is not sent: save() it.
  void progress(const Progress& progress);
  /// Saves where the job is, as JSON, before it returns: the next attempt gets it as Job::cursor. `lost`: stop.
  Result<void> save(std::string cursor);

  /// For the runtime: only it creates these.
  JobContext(std::shared_ptr<worker::Attempt> attempt, worker::Beater& beater);
  JobContext(const JobContext&) = delete;
  JobContext& operator=(const JobContext&) = delete;
  ~JobContext();

 private:
  std::shared_ptr<worker::Attempt> attempt_;
  worker::Beater& beater_;
};

/// Called from several threads at once, one job each. An exception counts as Verdict::fail(what()).
using Handler = std::function<Verdict(const Job& job, JobContext& context)>;

/// When a worker ends by itself.
enum class WorkUntil {
  stopped,  ///< never
  empty,    ///< when every queue is empty or paused, and all claimed jobs are settled
  once,     ///< after one job, or when there is none
};

struct WorkerOptions {
  int concurrency = 1;  ///< jobs that run at once: 1 to bounds::max_concurrency
  /// How many more jobs may be claimed before a thread is free for them: 0 to bounds::max_prefetch. Never more than can
  /// start within a second at the recent pace; a job that waits for longer than half a ttl, or until shortly before its
  /// limit, goes back.
  int prefetch = defaults::worker_prefetch;
  Duration ttl = defaults::worker_ttl;       ///< heartbeats come every third of it
  Duration grace = defaults::handler_grace;  ///< time for running handlers after a stop
  /// How long an attempt may take, for jobs without a limit of their own in queues without one. Unset: no limit.
  std::optional<Duration> timeout{};
  WorkUntil until = WorkUntil::stopped;
  std::optional<Holder> holder{};  ///< unset: Holder::self()
  /// Receives errors of calls that will be retried, and of verdicts that came too late: for your log. Called from any
  /// thread; must be quick and must not throw.
  std::function<void(const Error&)> on_trouble{};
};

/// What happened to the jobs that a worker claimed.
struct WorkSummary {
  std::int64_t claimed = 0;
  std::int64_t completed = 0;
  std::int64_t failed = 0;
  std::int64_t released = 0;  ///< by their handlers, or before they were started
  std::int64_t snoozed = 0;
  std::int64_t cancelled = 0;
  std::int64_t lost = 0;  ///< taken over by another worker, or the verdict did not reach the store
  /// Why it claimed no more, if it ended by itself: `empty`, `paused`, `at_capacity` ...
  std::optional<Error> refusal{};
};

class LEASEHOLD_EXPORT Worker {
 public:
  explicit Worker(const Store& store, WorkerOptions options = {});
  Worker(Worker&&) noexcept;
  Worker& operator=(Worker&&) noexcept;
  ~Worker();

  /// Queues take turns. Call it before run(); a second handler for a queue replaces the first.
  Worker& handle(std::string queue, Handler handler);

  /// Works until `stop` is requested, then drains: claims nothing more, releases jobs that were not started, lets
  /// running handlers finish for `grace`, fires their stop tokens, and releases jobs that are unfinished a sixth of the
  /// ttl (five seconds) later. Returns when every handler has returned: one that ignores its stop token delays it.
  ///
  /// Returns an error only if a retry cannot help (`denied`, `schema_missing`, `invalid_argument` ...); it waits for
  /// the end of store outages. Can be called again afterwards, but by one thread at a time.
  Result<WorkSummary> run(std::stop_token stop = {});

 private:
  friend Result<WorkSummary> drain(Worker& worker);

  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace leasehold
