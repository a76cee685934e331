// Schedules: several callers trigger the same work; it runs once, on time, and every occurrence is accounted for.
//
//   auto schedules = store.schedules();
//   auto ensured = schedules.ensure("refresh", {.rule = every(10min, 15min), .on_fail = Between{20min, 40min}});
//   if (!ensured) return tell(ensured.error());
//
//   auto run = schedules.acquire("refresh");                 // due and free: in one step, or not at all
//   if (!run) return tell(run.error());                      // not_due, held, paused: later, or somebody else
//   auto finished = schedules.finish("refresh", run->grant.token, {.ok = refresh()});
//   if (!finished) return tell(finished.error());            // lost: it took longer than its lease
//
// An *occurrence* is one due moment of a schedule. Taking one writes its row, which is unique, in the same commit that
// moves the schedule on: so it runs at most once, and whatever happens to it is told in the history (ok, failed, lost,
// released, enqueued, skipped). A run that dies is `lost`, and the schedule goes on by itself.
//
// When something is due is a matter of the calendar: the store's wall clock. Who holds it is a matter of leases.
//
// Most programs want scheduler.h, which waits for due moments and runs handlers. Schedules is a cheap handle; it may be
// copied, and every method may be called from any thread.
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
#include "leasehold/result.h"

namespace leasehold {

/// From `least` to `most`; a length in it is drawn anew each time, evenly.
struct Between {
  Duration least{};
  Duration most{};
  friend bool operator==(const Between&, const Between&) = default;
};

/// Counted from the end of the run before.
struct Every {
  Between pause;
  friend bool operator==(const Every&, const Every&) = default;
};
inline Every every(Duration exactly) { return {{exactly, exactly}}; }
inline Every every(Duration least, Duration most) { return {{least, most}}; }

/// Five fields, or six with seconds first; docs/schedules.md says what they may hold.
struct CronRule {
  std::string expression;
  std::string zone = "UTC";  ///< "Europe/Berlin"
  Duration jitter{0};        ///< each occurrence comes up to so much later, evenly drawn
  friend bool operator==(const CronRule&, const CronRule&) = default;
};

using ScheduleRule = std::variant<Every, CronRule>;

/// What becomes of cron occurrences that nobody took in time.
enum class Misfire {
  skip,  ///< those longer ago than `misfire_after` are skipped
  once,  ///< the latest one runs, the others are skipped
  all,   ///< each runs, one after the other
};
LEASEHOLD_EXPORT const char* to_string(Misfire policy) noexcept;

struct ScheduleOptions {
  ScheduleRule rule = every(std::chrono::hours(1));
  /// The pause after a failed or lost run. Unset: after a failure as after a success, after a loss none.
  std::optional<Between> on_fail{};
  Duration ttl = defaults::schedule_ttl;  ///< of a run's lease
  Misfire misfire = Misfire::once;
  Duration misfire_after = defaults::schedule_misfire_after;
  /// Each occurrence is a job put into this queue, instead of a run.
  std::string queue{};
  std::string payload{};  ///< of that job, up to bounds::payload_bytes
  /// Program and arguments, for those who run commands: `leasehold schedule daemon --commands`.
  std::vector<std::string> command{};
  /// When it runs next, or first: in the years 1 to 9999; a moment in the past means at once. It stays until it has run
  /// or another one is set. Unset: a new schedule with a pause is due after that pause (one that ensure() makes: at
  /// once), a new one with cron at its next occurrence, and an existing one keeps its next run unless its rule changes.
  std::optional<Timestamp> next_run_at{};
  std::optional<Duration> next_run_in{};  ///< the same, counted from the store's now; not both
};

/// Derived, never stored.
enum class ScheduleState {
  waiting,  ///< for its next run
  due,
  running,
  expired,  ///< running, but silent for longer than its lease: the next acquire notes it as lost
  paused,
};
LEASEHOLD_EXPORT const char* to_string(ScheduleState state) noexcept;

struct Defined {
  std::string name;
  bool created = false;
  bool changed = false;  ///< or created
  Timestamp next_run_at{};
};

struct Ensured {
  std::string name;
  bool created = false;
  bool differs = false;  ///< one of this name exists with another definition; it stays as it is
  Timestamp next_run_at{};
};

struct ScheduleAcquireOptions {
  bool now = false;               ///< skips the due test; never the lease, and never a pause
  std::optional<Duration> ttl{};  ///< unset: the schedule's own
  std::string request_id{};       ///< makes repeating harmless, as with locks; drawn at random when empty
};

/// One occurrence, to be run now.
struct ScheduleRun {
  Grant grant;  ///< its key is the schedule's name
  Timestamp occurrence{};
  std::string cause;                ///< scheduled, retry, triggered
  std::int64_t skipped = 0;         ///< occurrences that were missed before it, and are noted as skipped
  std::optional<Timestamp> lost{};  ///< the run before was lost: its occurrence
  std::string lost_holder;
};

struct RunResult {
  bool ok = true;
  std::string error{};   ///< of a failure; kept up to bounds::error_bytes
  std::string counts{};  ///< any JSON, up to bounds::counts_bytes: what the run has done
  /// When the next run is, instead of what the rule says; also after a failure. A moment in the past means at once.
  std::optional<Timestamp> next_run_at{};
  std::optional<Duration> next_run_in{};  ///< the same, counted from the store's now; not both
};

struct Finished {
  std::string name;
  Timestamp next_run_at{};
  Duration next_in{};  ///< from the store's now; not negative
  bool replayed = false;
};

/// One line of the history: an occurrence, or several that were skipped together.
struct RunInfo {
  std::string schedule;
  Timestamp occurrence{};
  std::string cause;
  std::string outcome;  ///< running, expired, ok, failed, lost, released, enqueued, skipped
  Token token;
  std::string holder;
  std::string host;
  std::optional<Timestamp> started_at{};
  std::optional<Timestamp> finished_at{};
  std::string error;
  std::string counts;
  std::string reason;                  ///< why they were skipped: misfire, paused
  std::optional<Timestamp> through{};  ///< those skipped: up to this occurrence
  std::int64_t missed = 0;             ///< and how many these are
  std::optional<JobId> job{};
  Timestamp wall_now{};

  /// Until now, of one that is under way. Nothing where nothing ran.
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
  std::optional<Timestamp> next_occurrence{};  ///< of cron, without jitter
  std::optional<Timestamp> paused_at{};
  std::string paused_reason;
  std::optional<LeaseInfo> current{};  ///< whoever runs it, or did until its lease ran out
  std::optional<RunInfo> last{};       ///< the latest run that has come to an end
  Timestamp created_at{};
  Timestamp wall_now{};

  [[nodiscard]] Duration due_in() const { return next_run_at - wall_now; }
};

/// Something to look at: it is due and free, or whoever ran it has fallen silent.
struct DueSchedule {
  std::string name;
  bool enqueues = false;     ///< fire() it
  bool has_command = false;  ///< for those who run commands
  Timestamp due_at{};
};

struct DueSchedules {
  std::vector<DueSchedule> due;
  std::optional<Duration> next_in{};  ///< when the next one will be; nothing where there is none
};

/// What fire() did.
struct Fired {
  JobId job = 0;
  Timestamp occurrence{};
  std::string cause;
  std::int64_t skipped = 0;
};

class HeldRun;

class LEASEHOLD_EXPORT Schedules {
 public:
  /// Creates a schedule, or changes it. The same definition again changes nothing.
  Result<Defined> define(std::string_view name, const ScheduleOptions& options) const;
  /// Creates a schedule unless one of this name exists. On PostgreSQL the scope `work` is enough, whereas define()
  /// needs `admin`; therefore it takes no queue and no command. A new one with a pause is due at once.
  Result<Ensured> ensure(std::string_view name, const ScheduleOptions& options) const;

  /// Takes the occurrence that is due. Refused with `not_due` (retry_at), `held` (current), `paused`, `not_found`.
  Result<ScheduleRun> acquire(std::string_view name, const ScheduleAcquireOptions& options = {},
                              const Call& call = {}) const;
  Result<Grant> heartbeat(std::string_view name, Token token, std::optional<Duration> ttl = {}) const;
  /// The verdict, and when the next run is, in one commit. Accepted after expiry while nobody noticed; twice is fine.
  Result<Finished> finish(std::string_view name, Token token, const RunResult& result = {}) const;
  /// Without a verdict: it is due again at once.
  Result<void> release(std::string_view name, Token token) const;

  /// Makes it due now; if it is running, once more after that. Tells who runs it, if anybody does.
  Result<std::optional<LeaseInfo>> trigger(std::string_view name) const;
  /// A run that is under way goes on.
  Result<void> pause(std::string_view name, std::string_view reason = {}) const;
  /// Occurrences that came meanwhile are noted as skipped. Gives when the next run is.
  Result<Timestamp> resume(std::string_view name) const;
  Result<void> rename(std::string_view name, std::string_view to) const;
  /// With its history. Refused with `held` while it runs. It is gone at once; a long history follows in steps, which
  /// the next remove() or prune finishes if this one cannot.
  Result<void> remove(std::string_view name) const;

  /// Puts the job of a schedule that is due into its queue: job, occurrence and the next moment in one commit, without
  /// a lease. Refused with `not_due`, `paused`, `busy` (somebody does so this very moment), `not_found` (also where it
  /// has no queue).
  Result<Fired> fire(std::string_view name) const;
  /// All that are due, in order: up to `most` of them after the last one of the page before.
  Result<DueSchedules> due(int most = defaults::schedule_due_limit, const DueSchedule* after = nullptr) const;

  Result<ScheduleInfo> show(std::string_view name) const;
  Result<std::vector<ScheduleInfo>> list(int limit = defaults::list_limit) const;
  /// The next occurrences, without jitter; of one with a pause only the next run is known.
  Result<std::vector<Timestamp>> next(std::string_view name, int count = defaults::schedule_next_count) const;
  /// The latest occurrence first.
  Result<std::vector<RunInfo>> history(std::string_view name, int limit = defaults::schedule_history_limit) const;

  /// acquire() plus heartbeats.
  Result<HeldRun> hold(std::string_view name, const ScheduleAcquireOptions& options = {}, const Call& call = {}) const;

  /// For the library: nobody else has an Impl.
  struct Impl;
  explicit Schedules(std::shared_ptr<const Impl> impl) : impl_(std::move(impl)) {}

 private:
  std::shared_ptr<const Impl> impl_;
};

/// A run that keeps its lease alive, with heartbeats on a thread of their own.
class LEASEHOLD_EXPORT HeldRun {
 public:
  HeldRun(HeldLease its_lease, ScheduleRun its_run, Schedules schedules)
      : lease(std::move(its_lease)), run(std::move(its_run)), schedules_(std::move(schedules)) {}

  HeldLease lease;
  ScheduleRun run;

  /// Ends the heartbeats, then says how it went. Where that is never said, the run is released at the end of its life.
  /// Said again it gives the first answer again. `lost`: also where the run was released or finished otherwise before.
  Result<Finished> finish(const RunResult& result = {});

 private:
  Schedules schedules_;
  std::optional<Finished> finished_;
  bool finished_ok_ = false;
};

}  // namespace leasehold
