// The runtime for schedules: waits for due moments, puts jobs into queues, runs handlers, and tells them when to stop.
//
//   leasehold::Scheduler scheduler(*store);
//   scheduler.handle("refresh", [](const ScheduleRun& run, RunContext& context) -> RunVerdict {
//     for (const auto& source : sources()) {
//       if (context.stop_requested()) return RunVerdict::release();   // no longer ours, or the scheduler ends
//       if (!refresh(source)) return RunVerdict::fail("no answer from " + source);
//     }
//     return RunVerdict::ok();
//   });
//   auto summary = scheduler.run(stop.get_token());  // until stopped; then running handlers get `grace` to finish
//   if (!summary) return tell(summary.error());
//
// Any number of schedulers, on any number of hosts; none of them leads. Each occurrence is taken by one of them, and
// one that dies leaves nothing behind that another would not find. While the store is away nothing is started; handlers
// go on for as long as their lease can be trusted.
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

/// What a handler says of its run. An exception says fail(what()).
struct LEASEHOLD_EXPORT RunVerdict {
  enum class Kind { ok, fail, release };

  Kind kind = Kind::ok;
  std::string error{};
  std::string counts{};  ///< JSON: what the run has done
  /// When the next run is, instead of what the rule says. Ignored for a release.
  std::optional<Timestamp> next_run_at{};
  std::optional<Duration> next_run_in{};  ///< the same, counted from the store's now; not both

  static RunVerdict ok(std::string counts = {});
  /// The next run comes after the schedule's pause for failures.
  static RunVerdict fail(std::string error, std::string counts = {});
  /// Due again at once: somebody else may do it.
  static RunVerdict release();
};

/// What a running handler may ask. Lives as long as the call; every method may be called from any thread.
class LEASEHOLD_EXPORT RunContext {
 public:
  /// Fires when the handler must stop: at the latest when the lease can no longer be trusted. Callbacks on it must be
  /// quick.
  [[nodiscard]] std::stop_token stop_token() const;
  [[nodiscard]] bool stop_requested() const;
  /// Why; nothing while the handler may go on. Never `cancelled`.
  [[nodiscard]] std::optional<StopReason> stop_reason() const;
  [[nodiscard]] BootTime trusted_until() const;

  /// The runtime makes these.
  explicit RunContext(std::shared_ptr<scheduler::Task> task);
  RunContext(const RunContext&) = delete;
  RunContext& operator=(const RunContext&) = delete;
  ~RunContext();

 private:
  std::shared_ptr<scheduler::Task> task_;
};

/// Called from several threads at once, one run each.
using RunHandler = std::function<RunVerdict(const ScheduleRun& run, RunContext& context)>;
/// The same with the command that the schedule was defined with.
using CommandHandler =
    std::function<RunVerdict(const ScheduleRun& run, const std::vector<std::string>& command, RunContext& context)>;

struct SchedulerOptions {
  int concurrency = defaults::scheduler_concurrency;  ///< so many handlers at once: 1 to bounds::max_concurrency
  Duration grace = defaults::handler_grace;           ///< how long running handlers get when the scheduler is stopped
  bool enqueue = true;                                ///< puts the jobs of schedules with a queue into it
  /// Ends when nothing is due, and what it started has finished.
  bool once = false;
  std::optional<Holder> holder{};  ///< default: Holder::self()
  /// Told of what happens, for your log: a job was enqueued, a run began. From any thread; must be quick and not throw.
  std::function<void(std::string_view schedule, const Fired& fired)> on_fire{};
  std::function<void(const ScheduleRun& run)> on_start{};
  std::function<void(const ScheduleRun& run, const RunVerdict& verdict, const Result<Finished>& finished)> on_finish{};
  /// Told of calls that failed and will be repeated, and of verdicts that came too late.
  std::function<void(const Error&)> on_trouble{};
};

/// What became of what a scheduler found due.
struct ScheduleSummary {
  std::int64_t enqueued = 0;
  std::int64_t started = 0;
  std::int64_t ok = 0;
  std::int64_t failed = 0;
  std::int64_t released = 0;
  std::int64_t lost = 0;  ///< somebody else's now, or nobody could be told
};

class LEASEHOLD_EXPORT Scheduler {
 public:
  explicit Scheduler(const Store& store, SchedulerOptions options = {});
  Scheduler(Scheduler&&) noexcept;
  Scheduler& operator=(Scheduler&&) noexcept;
  ~Scheduler();

  /// Before run(); a second handler for a schedule replaces the first.
  Scheduler& handle(std::string schedule, RunHandler handler);
  /// For every schedule that has a command and no handler of its own. Without this such a one is left alone.
  Scheduler& handle_commands(CommandHandler handler);

  /// Works until told to stop, then starts nothing more, lets running handlers finish for `grace`, and then fires their
  /// stop tokens. Returns when every handler has returned; one that ignores its stop token holds it up.
  ///
  /// An error is one that asking again does not mend (`denied`, `schema_missing`, `invalid_argument` ...); store
  /// outages are waited for. Not by two threads at once.
  Result<ScheduleSummary> run(std::stop_token stop = {});

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace leasehold
