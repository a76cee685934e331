// The runtime for workers: claims jobs, heartbeats them, settles them, and tells handlers when to stop.
//
//   leasehold::Worker worker(*store, {.concurrency = 8});
//   worker.handle("mail", [](const Job& job, JobContext& context) -> Verdict {
//     for (const auto& letter : letters_of(job.payload)) {
//       if (context.stop_requested()) return Verdict::release();  // no longer ours, or the worker ends
//       if (!send(letter)) return Verdict::fail("the mail server refused " + letter.to);
//       context.progress({.message = letter.to});
//     }
//     return Verdict::complete();
//   });
//   auto summary = worker.run(stop.get_token());  // until stopped; then running jobs get `grace` to finish
//   if (!summary) return tell(summary.error());
//
// Signals are the program's. To end on SIGTERM and SIGINT, before any thread is started:
//
//   sigset_t ends; sigemptyset(&ends); sigaddset(&ends, SIGTERM); sigaddset(&ends, SIGINT);
//   pthread_sigmask(SIG_BLOCK, &ends, nullptr);
//   std::thread([ends, &stop] { int which; sigwait(&ends, &which); stop.request_stop(); }).detach();
//
// One lease for all: the worker heartbeats one row, however many jobs it holds. Claims and completions travel in
// batches when there are many and at once when there are few. While the store is away running jobs go on for as long as
// the lease can be trusted, verdicts are repeated, and claims are asked for again, ever less often.
//
// At least once: a job whose worker died, or lost its lease, runs again. Handlers must be idempotent, or guard their
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

/// Why a handler is asked to stop.
enum class StopReason {
  cancelled,  ///< somebody cancelled the job: it will not run again
  lost,       ///< the lease is gone, or nobody can tell: whatever is said of the job does not count any more
  draining,   ///< the worker ends and the grace is over: release the job
};
LEASEHOLD_EXPORT const char* to_string(StopReason why) noexcept;

/// What a running handler may ask and tell. Lives as long as the call; every method may be called from any thread.
class LEASEHOLD_EXPORT JobContext {
 public:
  /// Fires when the handler must stop: at the latest when the lease can no longer be trusted. Callbacks on it run on a
  /// thread that stops other jobs, too, and must be quick.
  [[nodiscard]] std::stop_token stop_token() const;
  [[nodiscard]] bool stop_requested() const;
  /// Why; nothing while the handler may go on.
  [[nodiscard]] std::optional<StopReason> stop_reason() const;

  /// Until when the job is surely held, as of now; moves on with every heartbeat.
  [[nodiscard]] BootTime trusted_until() const;

  /// For those who watch. Cheap: only the latest is sent, once a second at most.
  void progress(const Progress& progress);

  /// The runtime makes these.
  JobContext(std::shared_ptr<worker::Attempt> attempt, worker::Beater& beater);
  JobContext(const JobContext&) = delete;
  JobContext& operator=(const JobContext&) = delete;
  ~JobContext();

 private:
  std::shared_ptr<worker::Attempt> attempt_;
  worker::Beater& beater_;
};

/// Called from several threads at once, one job each. An exception says Verdict::fail(what()).
using Handler = std::function<Verdict(const Job& job, JobContext& context)>;

/// When a worker ends by itself.
enum class WorkUntil {
  stopped,  ///< never
  empty,    ///< when every queue is empty or paused, and what it claimed is settled
  once,     ///< after one job, or when there is none
};

struct WorkerOptions {
  int concurrency = 1;  ///< so many jobs at once: 1 to bounds::max_concurrency
  /// So many more may be claimed before there is a thread for them: 0 to bounds::max_prefetch. Never more than the
  /// recent pace lets start within a second; what waits for longer than half a ttl goes back.
  int prefetch = defaults::worker_prefetch;
  Duration ttl = defaults::worker_ttl;       ///< heartbeats are a third of it apart
  Duration grace = defaults::handler_grace;  ///< how long running handlers get when the worker is stopped
  WorkUntil until = WorkUntil::stopped;
  std::optional<Holder> holder{};  ///< default: Holder::self()
  /// Told of calls that failed and will be repeated, and of verdicts that came too late: for your log. From any
  /// thread; must be quick and not throw.
  std::function<void(const Error&)> on_trouble{};
};

/// What became of the jobs a worker claimed.
struct WorkSummary {
  std::int64_t claimed = 0;
  std::int64_t completed = 0;
  std::int64_t failed = 0;
  std::int64_t released = 0;  ///< by their handlers, or given back before they were started
  std::int64_t snoozed = 0;
  std::int64_t cancelled = 0;
  std::int64_t lost = 0;  ///< somebody else's now, or nobody could be told
  /// Why it claimed nothing more, where it ended by itself: `empty`, `paused`, `at_capacity` ...
  std::optional<Error> refusal{};
};

class LEASEHOLD_EXPORT Worker {
 public:
  explicit Worker(const Store& store, WorkerOptions options = {});
  Worker(Worker&&) noexcept;
  Worker& operator=(Worker&&) noexcept;
  ~Worker();

  /// Queues take turns. Before run(); a second handler for a queue replaces the first.
  Worker& handle(std::string queue, Handler handler);

  /// Works until told to stop, then drains: claims nothing more, gives back what was not started, lets running handlers
  /// finish for `grace`, then fires their stop tokens, and gives back what is not finished a sixth of the ttl (five
  /// seconds) later. Returns when every handler has returned; a handler that ignores its stop token holds it up.
  ///
  /// An error is one that asking again does not mend (`denied`, `schema_missing`, `invalid_argument` ...); store
  /// outages are waited for. May be called again afterwards, but not by two threads at once.
  Result<WorkSummary> run(std::stop_token stop = {});

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace leasehold
