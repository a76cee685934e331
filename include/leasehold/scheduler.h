// The runtime for schedules: waits for due moments, enqueues jobs, runs handlers, and tells them when to stop.
//
//   leasehold::Scheduler scheduler(*store);
//   scheduler.handle("refresh", [](const ScheduleRun& run, RunContext& context) -> RunVerdict {
//     for (const auto& source : sources()) {
//       if (context.stop_requested()) return RunVerdict::release();   // lost, or the scheduler is stopping
//       if (!refresh(source)) return RunVerdict::fail("no answer from " + source);
//     }
//     return RunVerdict::complete();
//   });
//   auto summary = scheduler.run(stop.get_token());  // until stopped; then running handlers get `grace` to finish
//   if (!summary) return report(summary.error());
//
// Run any number of schedulers, on any number of hosts; none of them leads. One of them takes each occurrence, and if
// it dies, the others find everything it left. During a store outage nothing is started; handlers continue for as long
// as their lease can be trusted.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "leasehold/export.h"
#include "leasehold/limits.h"
#include "leasehold/result.h"
#include "leasehold/schedule.h"
#include "leasehold/store.h"
#include "leasehold/worker.h"

namespace leasehold {

namespace scheduler {
class Task;
}  // namespace scheduler

/// A handler's verdict on its run. An exception counts as fail(what()).
struct LEASEHOLD_EXPORT RunVerdict {
  enum class Kind { complete, fail, release };

  Kind kind = Kind::complete;
  std::string error{};
  std::string counts{};  ///< JSON: what the run did
  /// The next run, instead of the rule's. Ignored for a release.
  std::optional<Timestamp> next_run_at{};
  std::optional<Duration> next_run_in{};  ///< the same, from the store's current time on; not both

  static RunVerdict complete(std::string counts = {});
  /// The next run comes after the schedule's pause for failures.
  static RunVerdict fail(std::string error, std::string counts = {});
  /// Due again at once: another scheduler may run it.
  static RunVerdict release();
};

/// What a handler can do while it runs. Valid during the call of the handler; call its methods from any thread.
class LEASEHOLD_EXPORT RunContext {
 public:
  /// Fires when the handler must stop, at the latest when the lease can no longer be trusted. Callbacks must be quick.
  [[nodiscard]] std::stop_token stop_token() const;
  [[nodiscard]] bool stop_requested() const;
  /// Why the stop token fired; nothing while the handler may continue. Never `cancelled`.
  [[nodiscard]] std::optional<StopReason> stop_reason() const;
  [[nodiscard]] BootTime trusted_until() const;

  /// For the runtime: only it creates these.
  explicit RunContext(std::shared_ptr<scheduler::Task> task);
  RunContext(const RunContext&) = delete;
  RunContext& operator=(const RunContext&) = delete;
  ~RunContext();

 private:
  std::shared_ptr<scheduler::Task> task_;
};

/// Called from several threads at once, one run each.
using RunHandler = std::function<RunVerdict(const ScheduleRun& run, RunContext& context)>;
/// The same, with the command of the schedule.
using CommandHandler =
    std::function<RunVerdict(const ScheduleRun& run, const std::vector<std::string>& command, RunContext& context)>;

struct SchedulerOptions {
  int concurrency = defaults::scheduler_concurrency;  ///< handlers that run at once: 1 to bounds::max_concurrency
  Duration grace = defaults::handler_grace;           ///< time for running handlers after a stop
  bool enqueue = true;                                ///< enqueue the jobs of schedules that have a queue
  /// End when nothing is due and everything that was started has finished.
  bool once = false;
  std::optional<Holder> holder{};  ///< unset: Holder::self()
  /// For your log: a job was enqueued, a run began or was settled. Called from any thread; must be quick and not throw.
  std::function<void(std::string_view schedule, const Fired& fired)> on_fire{};
  std::function<void(const ScheduleRun& run)> on_start{};
  std::function<void(const ScheduleRun& run, const RunVerdict& verdict, const Result<RunSettled>& settled)> on_settle{};
  /// Receives errors of calls that will be retried, and of verdicts that came too late.
  std::function<void(const Error&)> on_trouble{};
};

/// What happened to the schedules that a scheduler found due.
struct ScheduleSummary {
  std::int64_t enqueued = 0;
  std::int64_t started = 0;
  std::int64_t completed = 0;
  std::int64_t failed = 0;
  std::int64_t released = 0;
  std::int64_t lost = 0;  ///< taken over by another process, or the verdict did not reach the store
};

class LEASEHOLD_EXPORT Scheduler {
 public:
  explicit Scheduler(const Store& store, SchedulerOptions options = {});
  Scheduler(Scheduler&&) noexcept;
  Scheduler& operator=(Scheduler&&) noexcept;
  ~Scheduler();

  /// Call it before run(); a second handler for a schedule replaces the first.
  Scheduler& handle(std::string schedule, RunHandler handler);
  /// For every schedule that has a command and no handler of its own. Without this, such schedules are ignored.
  Scheduler& handle_commands(CommandHandler handler);

  /// Runs until `stop` is requested; then it starts nothing more, lets running handlers finish for `grace`, and fires
  /// their stop tokens. Returns when every handler has returned: one that ignores its stop token delays it.
  ///
  /// Returns an error only if a retry cannot help (`denied`, `schema_missing`, `invalid_argument` ...); it waits for
  /// the end of store outages. Only one thread may call it at a time.
  Result<ScheduleSummary> run(std::stop_token stop = {});

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace leasehold
