// Schedules: several callers trigger the same work; it runs once, on time, and every occurrence is accounted for.
//
//   auto schedules = store.schedules();
//   auto ensured = schedules.ensure("refresh", {.rule = every(10min, 15min), .on_fail = Between{20min, 40min}});
//   if (!ensured) return report(ensured.error());
//
//   auto run = schedules.acquire("refresh");                 // if due and free, in one step
//   if (!run) return report(run.error());                      // not_due, held, paused: try later
//   auto settled = schedules.settle("refresh", run->grant.token, {.ok = refresh()});
//   if (!settled) return report(settled.error());              // lost: it took longer than its lease
//
// An *occurrence* is one due moment of a schedule. Acquiring it writes its row, which is unique, in the same commit
// that moves the schedule on. So it runs at most once, and the history shows its outcome (completed, failed, lost,
// released, enqueued, skipped). A run that dies is `lost`, and the schedule continues by itself.
//
// The store's wall clock decides when a schedule is due; a lease decides which process runs it.
//
// Most programs use scheduler.h, which waits for due moments and runs handlers. Schedules is a cheap handle: copy it
// freely, and call its methods from any thread.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "leasehold/call.h"
#include "leasehold/export.h"
#include "leasehold/held_lease.h"
#include "leasehold/job.h"
#include "leasehold/lease.h"
#include "leasehold/limits.h"
#include "leasehold/page.h"
#include "leasehold/result.h"

namespace leasehold {

/// A duration from `min` to `max`, drawn evenly each time.
struct Between {
  Duration min{};
  Duration max{};
  friend bool operator==(const Between&, const Between&) = default;
};

/// A pause, counted from the end of the previous run.
struct Every {
  Between pause;
  friend bool operator==(const Every&, const Every&) = default;
};
inline Every every(Duration exactly) { return {{exactly, exactly}}; }
inline Every every(Duration min, Duration max) { return {{min, max}}; }

/// Five fields, or six with seconds first; docs/schedules.md lists what they may hold.
struct CronRule {
  std::string expression;
  std::string zone = "UTC";  ///< "Europe/Berlin"
  Duration jitter{0};        ///< delays each occurrence by up to this, evenly drawn
  friend bool operator==(const CronRule&, const CronRule&) = default;
};

using ScheduleRule = std::variant<Every, CronRule>;

/// What happens to cron occurrences that were not taken in time.
enum class Misfire {
  skip,  ///< occurrences older than `misfire_after` are skipped
  once,  ///< the latest one runs, the others are skipped
  all,   ///< each one runs, one after the other
};
LEASEHOLD_EXPORT const char* to_string(Misfire policy) noexcept;

struct ScheduleOptions {
  ScheduleRule rule = every(std::chrono::hours(1));
  /// The pause after a failed or lost run. Unset: after a failure the same as after a success, after a loss none.
  std::optional<Between> on_fail{};
  Duration ttl = defaults::schedule_ttl;  ///< of a run's lease
  Misfire misfire = Misfire::once;
  Duration misfire_after = defaults::schedule_misfire_after;
  /// Each occurrence enqueues a job in this queue, instead of a run.
  std::string queue{};
  std::string payload{};  ///< of that job, up to bounds::payload_bytes
  /// Program and arguments, for schedulers that run commands: `leasehold schedule daemon --commands`.
  std::vector<std::string> command{};
  /// The next run, or the first: in the years 1 to 9999; a past moment means at once. It stays until it has run or
  /// another one is set. Unset: a new schedule with a pause is due after that pause (with ensure(): at once), a new one
  /// with cron at its next occurrence, and an existing one keeps its next run unless its rule changes.
  std::optional<Timestamp> next_run_at{};
  std::optional<Duration> next_run_in{};  ///< the same, from the store's current time on; not both
};

/// Derived, never stored.
enum class ScheduleState {
  waiting,  ///< for its next run
  due,
  running,
  expired,  ///< running, but its lease has expired: the next acquire records it as lost
  paused,
};
LEASEHOLD_EXPORT const char* to_string(ScheduleState state) noexcept;

struct ScheduleSaved {
  std::string name;
  bool created = false;
  bool changed = false;  ///< also true if created
  Timestamp next_run_at{};
};

struct Ensured {
  std::string name;
  bool created = false;
  bool differs = false;  ///< a schedule of this name exists with other settings; it stays as it is
  Timestamp next_run_at{};
};

struct ScheduleAcquireOptions {
  bool now = false;               ///< skips the due check; never the lease, and never a pause
  std::optional<Duration> ttl{};  ///< unset: the schedule's ttl
  std::string request_id{};       ///< see AcquireOptions::request_id; empty: a random id
};

/// One occurrence, to run now.
struct ScheduleRun {
  Grant grant;  ///< its key is the schedule's name
  Timestamp occurrence{};
  std::string cause;                    ///< scheduled, retry, triggered
  std::int64_t skipped = 0;             ///< missed occurrences before it, recorded as skipped
  std::optional<Timestamp> lost{};      ///< the occurrence of the previous run, if that was lost
  std::optional<Holder> lost_holder{};  ///< of that run
};

struct RunResult {
  bool ok = true;
  std::string error{};   ///< of a failure; kept up to bounds::error_bytes
  std::string counts{};  ///< what the run did: any JSON, up to bounds::counts_bytes
  /// The next run, instead of the rule's; also after a failure. A past moment means at once.
  std::optional<Timestamp> next_run_at{};
  std::optional<Duration> next_run_in{};  ///< the same, from the store's current time on; not both
};

struct RunSettled {
  std::string name;
  Timestamp next_run_at{};
  Duration next_in{};  ///< from the store's current time on; never negative
  bool replayed = false;
};

/// How a run ended, or what it is doing.
enum class RunOutcome {
  running,
  expired,  ///< its lease has expired: the next acquire records it as lost
  completed,
  failed,
  lost,
  released,
  enqueued,  ///< a job was enqueued instead of a run
  skipped,   ///< the occurrence never ran
};
LEASEHOLD_EXPORT const char* to_string(RunOutcome outcome) noexcept;

/// One row of the history: an occurrence, or several that were skipped together.
struct RunInfo {
  std::string name;  ///< of the schedule
  Timestamp occurrence{};
  std::string cause;
  RunOutcome outcome = RunOutcome::running;
  Token token;
  std::optional<Holder> holder{};
  std::optional<Timestamp> started_at{};
  std::optional<Timestamp> finished_at{};
  std::string error;
  std::string counts;
  std::string reason;                  ///< why it was skipped: misfire, paused
  std::optional<Timestamp> through{};  ///< of several skipped: the last occurrence
  std::int64_t missed = 0;             ///< of several skipped: how many
  std::optional<JobId> job_id{};
  Timestamp wall_now{};

  /// Up to now for a run in progress. Nothing if it never ran.
  [[nodiscard]] std::optional<Duration> took() const {
    if (!started_at) return std::nullopt;
    return finished_at.value_or(wall_now) - *started_at;
  }
};

struct ScheduleInfo {
  std::string name;
  ScheduleState state = ScheduleState::waiting;
  ScheduleOptions options;
  Timestamp next_run_at{};
  std::string next_cause;                      ///< scheduled, retry, triggered
  std::optional<Timestamp> next_occurrence{};  ///< of a cron rule, without jitter
  std::optional<Timestamp> paused_at{};
  std::string pause_reason;
  std::optional<LeaseInfo> held_by{};  ///< the lease of the current run, or of an expired one
  std::optional<RunInfo> last{};       ///< the latest run that has ended
  Timestamp created_at{};
  Timestamp wall_now{};

  [[nodiscard]] Duration due_in() const { return next_run_at - wall_now; }
};

/// A schedule that is due and free, or whose run has expired.
struct DueSchedule {
  std::string name;
  bool enqueues = false;     ///< call fire()
  bool has_command = false;  ///< for schedulers that run commands
  Timestamp due_at{};
};

struct DueSchedules {
  std::vector<DueSchedule> due;
  std::optional<Duration> next_in{};  ///< until the next one is due; unset: there is none
};

/// What fire() did.
struct Fired {
  JobId job_id = 0;
  Timestamp occurrence{};
  std::string cause;
  std::int64_t skipped = 0;
};

struct ScheduleFilter {
  int max = defaults::list_max;  ///< listed in name order
  std::string page{};            ///< Page::next of the previous page; empty: the first page
};

struct RunFilter {
  int max = defaults::schedule_history_max;  ///< latest occurrence first
  std::string page{};                        ///< Page::next of the previous page; empty: the first page
};

class HeldRun;

class LEASEHOLD_EXPORT Schedules {
 public:
  /// Creates or changes a schedule. The same settings again change nothing.
  Result<ScheduleSaved> set(std::string_view name, const ScheduleOptions& options) const;
  /// Creates a schedule unless one of this name exists. On PostgreSQL it needs only the scope `work`, while set() needs
  /// `admin`; therefore it accepts no queue and no command. A new schedule with a pause is due at once.
  Result<Ensured> ensure(std::string_view name, const ScheduleOptions& options) const;

  /// Acquires the due occurrence. Refused with `not_due` (retry_at), `held` (held_by), `paused`, `not_found`.
  Result<ScheduleRun> acquire(std::string_view name, const ScheduleAcquireOptions& options = {},
                              const Call& call = {}) const;
  Result<Grant> heartbeat(std::string_view name, Token token, std::optional<Duration> ttl = {}) const;
  /// Records the result and the next run in one commit. Accepted after expiry until another caller noticed it.
  /// Repeating it is harmless.
  Result<RunSettled> settle(std::string_view name, Token token, const RunResult& result = {}) const;
  /// Shorthands for settle().
  Result<RunSettled> complete(std::string_view name, Token token, std::string counts = {}) const;
  Result<RunSettled> fail(std::string_view name, Token token, std::string error = {}) const;
  /// Gives the run back without a result: it is due again at once.
  Result<void> release(std::string_view name, Token token) const;

  /// Makes the schedule due now; if it is running, once more after that. Returns the lease of the current run, if any.
  Result<std::optional<LeaseInfo>> trigger(std::string_view name) const;
  /// A run in progress continues.
  Result<void> pause(std::string_view name, std::string_view reason = {}) const;
  /// Occurrences during the pause are recorded as skipped. Returns when the next run is.
  Result<Timestamp> resume(std::string_view name) const;
  Result<void> rename(std::string_view name, std::string_view to) const;
  /// Removes a schedule and its history. Refused with `held` while it runs. The schedule is gone at once; a long
  /// history follows in steps. If this call cannot finish, the next remove() or prune does.
  Result<void> remove(std::string_view name) const;

  /// Enqueues the job of a due schedule: job, occurrence and the next moment in one commit, without a lease. Refused
  /// with `not_due`, `paused`, `busy` (another caller does it right now), `not_found` (also if it has no queue).
  Result<Fired> fire(std::string_view name) const;
  /// Due schedules in order: up to `max` of them, after the last one of the previous page.
  Result<DueSchedules> due(int max = defaults::schedule_due_max, const DueSchedule* after = nullptr) const;

  Result<ScheduleInfo> show(std::string_view name) const;
  Result<Page<ScheduleInfo>> list(const ScheduleFilter& filter = {}) const;
  /// The next occurrences, without jitter; with a pause, only the next run is known.
  Result<std::vector<Timestamp>> next(std::string_view name, int max = defaults::schedule_next_max) const;
  /// Latest occurrence first.
  Result<Page<RunInfo>> history(std::string_view name, const RunFilter& filter = {}) const;

  /// acquire() plus heartbeats.
  Result<HeldRun> hold(std::string_view name, const ScheduleAcquireOptions& options = {}, const Call& call = {}) const;

  /// For the library: only it creates an Impl.
  struct Impl;
  explicit Schedules(std::shared_ptr<const Impl> impl) : impl_(std::move(impl)) {}

 private:
  std::shared_ptr<const Impl> impl_;
};

/// A run that keeps its lease alive, with heartbeats on its own thread.
class LEASEHOLD_EXPORT HeldRun {
 public:
  HeldRun(HeldLease its_lease, ScheduleRun its_run, Schedules schedules)
      : lease(std::move(its_lease)), run(std::move(its_run)), schedules_(std::move(schedules)) {}

  HeldLease lease;
  ScheduleRun run;

  /// Stops the heartbeats, then records the result. If it is never called, the destructor releases the run. A repeated
  /// call returns the first answer. `lost`: also if the run was released or settled otherwise before.
  Result<RunSettled> settle(const RunResult& result = {});

 private:
  Schedules schedules_;
  std::optional<RunSettled> settled_;
  bool settled_ok_ = false;
};

}  // namespace leasehold
