// Named locks: one holder per name, or several that share it, for a limited time.
//
//   auto store = leasehold::Store::open("sqlite:work.db");
//   if (!store) return report(store.error());
//   auto held = store->locks().hold("deploy", {.ttl = 30s, .wait = 10s});
//   if (!held) return report(held.error());
//   while (!held->stop_token().stop_requested() && deploy_a_bit()) continue;
//   auto released = held->release();
//   if (!released) return report(released.error());                                   // lost: others may have had it
//
//   auto reader = locks.acquire("report", {.share = Share{}});                      // beside other readers
//   auto two = locks.acquire("gpu", {.share = Share{.permits = 2, .capacity = 8}}); // two of eight
//   auto both = locks.acquire_all({"account/7", "account/9"});                      // both, or neither
//
// Locks is a cheap handle: copy it freely, and call its methods from any thread.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "leasehold/call.h"
#include "leasehold/export.h"
#include "leasehold/held_lease.h"
#include "leasehold/lease.h"
#include "leasehold/limits.h"
#include "leasehold/page.h"
#include "leasehold/result.h"

namespace leasehold {

/// A share of a lock, beside other shares. With a capacity it is a semaphore: the shares have up to that many permits
/// together, and all of them name the same capacity. Without one it is a shared lock: any number of shares. A holder of
/// the whole lock excludes every share, and the other way round.
struct Share {
  std::int64_t permits = 1;
  std::optional<std::int64_t> capacity{};
};

struct AcquireOptions {
  Duration ttl = defaults::lock_ttl;
  /// How long to wait in line, in order of arrival. Zero: try once. Duration::max(): forever.
  Duration wait{0};
  /// Makes a repeated call harmless: the same id returns the first grant again, with the rest of its lease. Empty: a
  /// random id. The store keeps the id as long as ended leases (see Store::prune).
  std::string request_id{};
  /// A share instead of the whole lock.
  std::optional<Share> share{};
  /// How long its place stays taken after this grant expires or is revoked, since the holder may not know yet. After a
  /// release it is free at once.
  Duration lock_delay{0};
};

/// A snapshot of a lock. If it is shared, the lease is the share that frees last.
struct LockInfo : LeaseInfo {
  std::int64_t holders = 0;  ///< leases that take up a place: live, expired, or ended with their lock delay not over
  std::int64_t permits = 0;  ///< of their shares together
  std::optional<std::int64_t> capacity{};
  std::optional<Timestamp> free_at{};   ///< when that grant frees its place: expiry plus lock delay
  bool delayed = false;                 ///< no holder is alive, and the lock delay is not over
  std::vector<std::string> together{};  ///< the other locks that were acquired with it, and end with it
};

/// One of the holders of a lock.
struct LockHolder : LeaseInfo {
  std::optional<std::int64_t> permits{};  ///< of a share
  std::optional<std::int64_t> capacity{};
  Timestamp free_at{};
};

struct LockFilter {
  std::string prefix{};          ///< only names with this prefix
  bool only_held = false;        ///< leave out free locks
  int max = defaults::list_max;  ///< listed in name order
  std::string page{};            ///< Page::next of the previous page; empty: the first page
};

class LEASEHOLD_EXPORT Locks {
 public:
  /// Acquires the lock, or a share of it.
  /// Refused with `held` (held_by: the holder, its host, until when; retry_at if only the lock delay is left) or `busy`
  /// (free, but other callers are ahead in line, or a fence holds an expired lease); with `wait`, only when it is over.
  /// Refused at once with `reentry` (this thread has the lock already, or so many permits that there is no room left:
  /// it would wait forever; a thread may have several shares) or `mismatch` (the other shares have another capacity).
  Result<Grant> acquire(std::string_view name, const AcquireOptions& options = {}, const Call& call = {}) const;

  /// Acquires 1 to bounds::max_locks_together locks in one step, all or none, under one lease and one token. The key of
  /// the grant is one of the names; the key of a refusal is the first lock in the way. The locks stay together:
  /// heartbeat and release take any of the names, and if one is revoked or taken over after expiry, all are lost.
  Result<Grant> acquire_all(const std::vector<std::string>& names, const AcquireOptions& options = {},
                            const Call& call = {}) const;

  /// Extends a live lease; never revives an expired one. Without a ttl the lease keeps its own.
  Result<Grant> heartbeat(std::string_view name, Token token, std::optional<Duration> ttl = {}) const;

  /// Releases the lock. Accepted after expiry while no other caller has taken it. Releasing twice is harmless.
  Result<void> release(std::string_view name, Token token) const;

  /// For operators: ends a live lease. A holder that uses hold() notices within two seconds, any other at its next
  /// heartbeat. While the holder's own transaction fences the lease, it waits, then returns `busy`. Without a token,
  /// all holders lose the lock. Returns the ended lease, or the latest of them.
  Result<LeaseInfo> revoke(std::string_view name, std::string_view reason,
                           std::optional<Token> token = std::nullopt) const;

  Result<LockInfo> show(std::string_view name) const;
  Result<Page<LockInfo>> list(const LockFilter& filter = {}) const;

  /// All holders, in the order in which they acquired the lock, including those in their lock delay.
  Result<std::vector<LockHolder>> holders(std::string_view name, int max = defaults::list_max) const;

  /// acquire() plus heartbeats on their own thread; the returned object releases the lock.
  Result<HeldLease> hold(std::string_view name, const AcquireOptions& options = {}, const Call& call = {}) const;
  Result<HeldLease> hold_all(const std::vector<std::string>& names, const AcquireOptions& options = {},
                             const Call& call = {}) const;

  /// The state of the lock, or why it is unknown: `not_found` before the first grant and after a prune, or trouble with
  /// the store.
  using Seen = std::function<void(const Result<LockInfo>&)>;

  /// Reports the state of the lock now, and whenever its holder changes or a share comes or goes, until `stop`. It
  /// samples: a holder of less than half a second may be missed; the events show every holder. Continues through
  /// trouble with the store, which it reports once.
  Result<void> watch(std::string_view name, std::stop_token stop, const Seen& seen) const;

  /// For the library: only it creates an Impl.
  struct Impl;
  explicit Locks(std::shared_ptr<const Impl> impl) : impl_(std::move(impl)) {}

 private:
  std::shared_ptr<const Impl> impl_;
};

}  // namespace leasehold
