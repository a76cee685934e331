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
#include "leasehold/claim.h"
#include "leasehold/events.h"
#include "leasehold/export.h"
#include "leasehold/limit.h"
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
  Duration call_timeout = std::chrono::seconds(10);
};

struct StoreStatus {
  std::string backend;  ///< "sqlite", "postgresql"
  std::int64_t schema_version = 0;
  std::int64_t locks = 0;           ///< names that were ever held
  std::int64_t waiters = 0;         ///< places in the lines before them
  std::int64_t held_leases = 0;     ///< of locks, jobs, chunks, sessions, items, schedules: as leases() lists them
  std::int64_t expired_leases = 0;  ///< whose time ran out, and that nobody has taken back yet
  std::int64_t ended_leases = 0;    ///< history
  std::int64_t events = 0;
  Timestamp store_now{};
};

/// What was deleted, by kind.
struct Pruned {
  std::int64_t jobs = 0;      ///< finished ones, with their attempts, results and errors
  std::int64_t leases = 0;    ///< ended ones, with their request ids
  std::int64_t events = 0;    ///< all kinds of them
  std::int64_t claims = 0;    ///< ended ones
  std::int64_t sessions = 0;  ///< closed ones, and those silent for so long
  std::int64_t runs = 0;      ///< lines in the histories of schedules
  std::int64_t shares = 0;    ///< ended shares of locks
  std::int64_t places = 0;    ///< places in lines that their waiters have left behind
  std::int64_t topics = 0;    ///< PostgreSQL's notes of who is to be notified of what, where nobody is any more
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
class Store {
 public:
  LEASEHOLD_EXPORT static Result<Store> open(std::string_view url, const OpenOptions& options = {});

  /// A SQLite store belongs to the machine it is used on. For a file that came from another one: ends every
  /// lease and lets it be used here. Only when no process uses it there any more. False: it is this machine's
  /// already, and nothing was done.
  LEASEHOLD_EXPORT static Result<bool> rehome(std::string_view url);

  [[nodiscard]] LEASEHOLD_EXPORT Locks locks() const;
  [[nodiscard]] LEASEHOLD_EXPORT Jobs jobs() const;
  [[nodiscard]] LEASEHOLD_EXPORT Queues queues() const;
  [[nodiscard]] LEASEHOLD_EXPORT Chunks chunks() const;
  [[nodiscard]] LEASEHOLD_EXPORT Sessions sessions() const;
  [[nodiscard]] LEASEHOLD_EXPORT Items items() const;
  [[nodiscard]] LEASEHOLD_EXPORT Claims claims() const;
  [[nodiscard]] LEASEHOLD_EXPORT Schedules schedules() const;
  [[nodiscard]] LEASEHOLD_EXPORT Limits limits() const;
  [[nodiscard]] LEASEHOLD_EXPORT Migrations migrations() const;

  LEASEHOLD_EXPORT Result<std::vector<Event>> events(const EventFilter& filter = {}) const;
  /// Sleeps until something in the store may have changed, or `timeout` passed. A hint, not a promise.
  LEASEHOLD_EXPORT void wait_for_change(Duration timeout) const;

  /// All that is held, by anyone: locks, jobs, chunks, schedules, sessions and what they have claimed. What runs out
  /// first, or has run out, comes first.
  LEASEHOLD_EXPORT Result<std::vector<LeaseInfo>> leases(int limit = 1000) const;
  LEASEHOLD_EXPORT Result<StoreStatus> status() const;
  /// Settings and circumstances that make leases unsafe.
  LEASEHOLD_EXPORT Result<std::vector<Finding>> doctor() const;
  /// Deletes what ended longer ago than this, unless something that stays refers to it; in small batches.
  LEASEHOLD_EXPORT Result<Pruned> prune(Duration older_than) const;

  /// Ends what has expired, and on this host what belongs to processes that are gone; its work goes back. Never
  /// needed for correctness: the next claim does the same. Safe to run at any time, from many places.
  LEASEHOLD_EXPORT Result<Recovered> recover() const;
  LEASEHOLD_EXPORT Result<RecoveryStats> recovery_stats() const;

  /// PostgreSQL: lets a role call the functions of a scope; each includes the one before. Tables stay closed.
  LEASEHOLD_EXPORT Result<void> grant(std::string_view role, Scope scope) const;

  /// "sqlite" or "postgresql".
  [[nodiscard]] LEASEHOLD_EXPORT std::string_view backend() const noexcept;

 private:
  friend Store store_over(std::shared_ptr<storage::Backend> backend, const OpenOptions& options);
  friend class Scheduler;
  struct Impl;
  explicit Store(std::shared_ptr<Impl> impl) : impl_(std::move(impl)) {}
  std::shared_ptr<Impl> impl_;
};

}  // namespace leasehold
