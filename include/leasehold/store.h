// An open database that has leasehold's tables.
//
//   auto store = leasehold::Store::open("postgresql://app@db/app?schema=leasehold");
//   if (!store) { log(store.error().message); return; }
//   auto grant = store->locks().acquire("nightly-report");
//
// URLs
//   sqlite:PATH, sqlite::memory:      ?synchronous=full|normal
//   postgresql://user@host:port/db    ?schema=NAME&prepare=auto|off&pool=N, and libpq's own options
#pragma once

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "leasehold/access.h"
#include "leasehold/chunk.h"
#include "leasehold/events.h"
#include "leasehold/export.h"
#include "leasehold/history.h"
#include "leasehold/item.h"
#include "leasehold/job.h"
#include "leasehold/limits.h"
#include "leasehold/lock.h"
#include "leasehold/metrics.h"
#include "leasehold/migrations.h"
#include "leasehold/page.h"
#include "leasehold/queue.h"
#include "leasehold/rate.h"
#include "leasehold/recovery.h"
#include "leasehold/result.h"
#include "leasehold/schedule.h"
#include "leasehold/session.h"

namespace leasehold {

class Rows;           // row.h
struct AdoptedTable;  // row.h

namespace storage {
class Backend;
}

enum class MigrateOnOpen {
  automatic,  ///< SQLite yes, PostgreSQL no
  yes,
  no,
};

struct OpenOptions {
  MigrateOnOpen migrate = MigrateOnOpen::automatic;
  /// False: do not create a missing SQLite file, nor tables in a file that has none of leasehold's; that is
  /// `schema_missing`. An older schema is migrated even so.
  bool create = true;
  /// How long one call may take, including reconnecting and waiting for row locks.
  Duration call_timeout = defaults::call_timeout;
};

/// Leases that expire first, or have expired, come first. Fields that are not set match every lease.
struct LeaseFilter {
  std::string kind{};                 ///< lock, job, chunk, session, item, schedule, row
  std::optional<LeaseState> state{};  ///< running or expired
  std::string held_by{};              ///< the holder's name
  int max = defaults::list_max;
  std::string page{};  ///< Page::next of the previous page; empty: the first page
};

struct StoreStatus {
  std::string backend;  ///< "sqlite", "postgresql"
  std::int64_t schema_version = 0;
  std::int64_t locks = 0;           ///< names that were ever held and were not pruned
  std::int64_t waiters = 0;         ///< places in their lines
  std::int64_t held_leases = 0;     ///< of locks, jobs, chunks, sessions, items, schedules: as leases() lists them
  std::int64_t expired_leases = 0;  ///< expired, and not recovered yet
  std::int64_t ended_leases = 0;    ///< history
  std::int64_t events = 0;
  Timestamp store_now{};

  /// More ended leases or events than bounds::max_history are estimated, so that counting always costs the same.
  [[nodiscard]] bool estimated() const { return std::max(ended_leases, events) > bounds::max_history; }
};

/// What pruning removes, by kind.
struct Pruned {
  std::int64_t jobs = 0;        ///< finished jobs, with their attempts, results and errors
  std::int64_t locks = 0;       ///< names that no process has held or waited for in that time
  std::int64_t leases = 0;      ///< ended leases, with their request ids
  std::int64_t events = 0;      ///< of all kinds
  std::int64_t claims = 0;      ///< ended claims
  std::int64_t sessions = 0;    ///< closed sessions, and sessions silent for that long
  std::int64_t runs = 0;        ///< rows of schedule histories
  std::int64_t shares = 0;      ///< ended shares of locks
  std::int64_t places = 0;      ///< places in line that their waiters left behind
  std::int64_t topics = 0;      ///< PostgreSQL's notification topics without listeners
  std::int64_t recoveries = 0;  ///< statistics of recovery
  std::int64_t batches = 0;     ///< batches that ended, once their jobs are pruned
  std::int64_t tokens = 0;      ///< API tokens that expired or were revoked
  std::int64_t audit = 0;       ///< entries of the audit log
  std::int64_t requests = 0;    ///< requests with an id, kept for defaults::request_kept whatever the age

  bool operator==(const Pruned&) const = default;
};

/// How long the store keeps what has ended; 0: forever. Processes that work in the store remove what is older, in small
/// steps beside their work.
struct Retention {
  Duration keep_jobs = defaults::keep_jobs;      ///< completed and cancelled jobs, with attempts, results and errors
  Duration keep_failed = defaults::keep_failed;  ///< failed jobs: dead letters
  /// Events, ended leases with their request ids, ended claims and sessions, finished runs of schedules, unused locks,
  /// statistics of recovery, the audit log, API tokens that ended.
  Duration keep_history = defaults::keep_history;

  bool operator==(const Retention&) const = default;
};

/// What is not set stays as it is.
struct RetentionSettings {
  std::optional<Duration> keep_jobs{};
  std::optional<Duration> keep_failed{};
  std::optional<Duration> keep_history{};
};

/// One check of `leasehold doctor`.
struct Finding {
  enum class Level { fine, advice, danger };
  Level level = Level::fine;
  std::string what;    ///< "synchronous_commit = off"
  std::string advice;  ///< why it matters and what to do; empty when fine
};

/// Cheap to copy; copies share connections. Call its methods from any thread, but not in a forked child: that opens its
/// own store. The last copy closes the store.
class LEASEHOLD_EXPORT Store {
 public:
  static Result<Store> open(std::string_view url, const OpenOptions& options = {});

  /// A SQLite store belongs to one machine. For a file that came from another machine: ends every lease, and makes the
  /// store this machine's. Call it only when no process uses the file there any more. Returns false if the store
  /// already belongs to this machine; then nothing was done.
  static Result<bool> rehome(std::string_view url);

  [[nodiscard]] Locks locks() const;
  [[nodiscard]] Jobs jobs() const;
  [[nodiscard]] Queues queues() const;
  [[nodiscard]] Chunks chunks() const;
  [[nodiscard]] Sessions sessions() const;
  [[nodiscard]] Items items() const;
  [[nodiscard]] Claims claims() const;
  [[nodiscard]] Schedules schedules() const;
  [[nodiscard]] Rates rates() const;
  [[nodiscard]] Access access() const;
  [[nodiscard]] Migrations migrations() const;
  /// The rows of an adopted table in the store's database; include row.h. On SQLite only of a file.
  Result<Rows> rows(std::string_view table) const;
  /// The tables that are adopted there.
  Result<std::vector<AdoptedTable>> adopted_tables() const;

  Result<Page<Event>> events(const EventFilter& filter = {}) const;
  Result<EventReader> follow_events(const FollowOptions& options = {}) const;
  /// Sleeps until the store may have changed, or `timeout` has passed. A hint, not a promise.
  void wait_for_change(Duration timeout) const;

  /// Everything that any process holds: locks, jobs, chunks, schedules, sessions and their claims. Leases that expire
  /// first, or have expired, come first.
  Result<Page<LeaseInfo>> leases(const LeaseFilter& filter = {}) const;
  /// Past and present grants: who had what, until when, and who took it over.
  Result<Page<GrantInfo>> history(const HistoryFilter& filter = {}) const;
  Result<StoreStatus> status() const;
  /// Numbers for monitoring: see metrics.h. Brings the totals up to date first.
  Result<StoreMetrics> metrics() const;
  /// Checks for settings and circumstances that make leases unsafe.
  Result<std::vector<Finding>> doctor() const;
  Result<Retention> retention() const;
  /// Returns the new settings. A retention is at least bounds::min_keep, or 0.
  Result<Retention> set_retention(const RetentionSettings& settings) const;
  /// Removes what ended longer ago than this, unless a row that stays refers to it; in small batches.
  Result<Pruned> prune(Duration older_than) const;
  /// How many of each kind prune() would remove now.
  Result<Pruned> prune_preview(Duration older_than) const;

  /// Ends expired leases, and on this host the leases of processes that are gone; their work goes back. Never needed
  /// for correctness: the next claim does the same. Safe to call at any time, from many places.
  Result<Recovered> recover() const;
  Result<RecoveryStats> recovery_stats() const;

  /// PostgreSQL: lets a role call the functions of a scope; each scope includes the one before. Tables stay closed.
  Result<void> grant(std::string_view role, Scope scope) const;
  /// PostgreSQL: takes every scope from a role again.
  Result<void> revoke(std::string_view role) const;

  /// "sqlite" or "postgresql".
  [[nodiscard]] std::string_view backend() const noexcept;

  /// For the library: only it creates an Impl.
  struct Impl;
  explicit Store(std::shared_ptr<Impl> impl) : impl_(std::move(impl)) {}
  [[nodiscard]] Impl& impl() const { return *impl_; }

 private:
  std::shared_ptr<Impl> impl_;
};

}  // namespace leasehold
