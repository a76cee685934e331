// A database with leasehold's tables in it, opened.
//
//   auto store = leasehold::Store::open("postgresql://app@db/app?schema=leasehold");
//   if (!store) { log(store.error().message); return; }
//   auto grant = store->locks().acquire("nightly-report");
//
// URLs
//   sqlite:PATH, sqlite::memory:      ?synchronous=full|normal
//   postgresql://user@host:port/db    ?schema=NAME&prepare=auto|off&pool=N, and libpq's own options
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "leasehold/chunk.h"
#include "leasehold/events.h"
#include "leasehold/export.h"
#include "leasehold/item.h"
#include "leasehold/job.h"
#include "leasehold/limit.h"
#include "leasehold/limits.h"
#include "leasehold/lock.h"
#include "leasehold/migrations.h"
#include "leasehold/queue.h"
#include "leasehold/recovery.h"
#include "leasehold/result.h"
#include "leasehold/schedule.h"
#include "leasehold/session.h"

namespace leasehold {

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
  /// False: a SQLite file that is not there is not made, nor are tables in one that has none of leasehold's; that is
  /// `schema_missing`. An older schema is brought up as usual.
  bool create = true;
  /// How long one call may take, reconnecting and waiting for row locks included.
  Duration call_timeout = defaults::call_timeout;
};

struct StoreStatus {
  std::string backend;  ///< "sqlite", "postgresql"
  std::int64_t schema_version = 0;
  std::int64_t locks = 0;           ///< names that were ever held and were not pruned
  std::int64_t waiters = 0;         ///< places in the lines before them
  std::int64_t held_leases = 0;     ///< of locks, jobs, chunks, sessions, items, schedules: as leases() lists them
  std::int64_t expired_leases = 0;  ///< whose time ran out, and that nobody has taken back yet
  std::int64_t ended_leases = 0;    ///< history
  std::int64_t events = 0;
  Timestamp store_now{};
};

/// What pruning deletes, by kind.
struct Pruned {
  std::int64_t jobs = 0;      ///< finished ones, with their attempts, results and errors
  std::int64_t locks = 0;     ///< names that nobody has had or waited for in that time
  std::int64_t leases = 0;    ///< ended ones, with their request ids
  std::int64_t events = 0;    ///< all kinds of them
  std::int64_t claims = 0;    ///< ended ones
  std::int64_t sessions = 0;  ///< closed ones, and those silent for so long
  std::int64_t runs = 0;      ///< lines in the histories of schedules
  std::int64_t shares = 0;    ///< ended shares of locks
  std::int64_t places = 0;    ///< places in lines that their waiters have left behind
  std::int64_t topics = 0;    ///< PostgreSQL's notes of who is to be notified of what, where nobody is any more

  bool operator==(const Pruned&) const = default;
};

/// One thing `leasehold doctor` looked at.
struct Finding {
  enum class Level { fine, advice, danger };
  Level level = Level::fine;
  std::string what;    ///< "synchronous_commit = off"
  std::string advice;  ///< why it matters and what to do; empty when fine
};

/// What a database role may do: look; also acquire, heartbeat and release; also revoke and prune.
enum class Scope { read, work, admin };

/// Cheap to copy; copies share connections. Every method may be called from any thread, but not in a forked child: that
/// opens a store of its own.
/// The last copy closes the store.
class LEASEHOLD_EXPORT Store {
 public:
  static Result<Store> open(std::string_view url, const OpenOptions& options = {});

  /// A SQLite store belongs to the machine it is used on. For a file that came from another one: ends every
  /// lease and lets it be used here. Only when no process uses it there any more. False: it is this machine's
  /// already, and nothing was done.
  static Result<bool> rehome(std::string_view url);

  [[nodiscard]] Locks locks() const;
  [[nodiscard]] Jobs jobs() const;
  [[nodiscard]] Queues queues() const;
  [[nodiscard]] Chunks chunks() const;
  [[nodiscard]] Sessions sessions() const;
  [[nodiscard]] Items items() const;
  [[nodiscard]] Claims claims() const;
  [[nodiscard]] Schedules schedules() const;
  [[nodiscard]] Limits limits() const;
  [[nodiscard]] Migrations migrations() const;

  Result<std::vector<Event>> events(const EventFilter& filter = {}) const;
  /// Sleeps until something in the store may have changed, or `timeout` passed. A hint, not a promise.
  void wait_for_change(Duration timeout) const;

  /// All that is held, by anyone: locks, jobs, chunks, schedules, sessions and what they have claimed. What runs out
  /// first, or has run out, comes first.
  Result<std::vector<LeaseInfo>> leases(int limit = defaults::list_limit) const;
  Result<StoreStatus> status() const;
  /// Settings and circumstances that make leases unsafe.
  Result<std::vector<Finding>> doctor() const;
  /// Deletes what ended longer ago than this, unless something that stays refers to it; in small batches.
  Result<Pruned> prune(Duration older_than) const;
  /// How many of each kind prune() would delete now.
  Result<Pruned> prune_preview(Duration older_than) const;

  /// Ends what has expired, and on this host what belongs to processes that are gone; its work goes back. Never
  /// needed for correctness: the next claim does the same. Safe to run at any time, from many places.
  Result<Recovered> recover() const;
  Result<RecoveryStats> recovery_stats() const;

  /// PostgreSQL: lets a role call the functions of a scope; each includes the one before. Tables stay closed.
  Result<void> grant(std::string_view role, Scope scope) const;

  /// "sqlite" or "postgresql".
  [[nodiscard]] std::string_view backend() const noexcept;

  /// For the library: nobody else has an Impl.
  struct Impl;
  explicit Store(std::shared_ptr<Impl> impl) : impl_(std::move(impl)) {}
  [[nodiscard]] Impl& impl() const { return *impl_; }

 private:
  std::shared_ptr<Impl> impl_;
};

}  // namespace leasehold
