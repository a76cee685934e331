// Named locks: one holder per name, or several with a share each, until a moment in time.
//
//   auto store = leasehold::Store::open("sqlite:work.db");
//   if (!store) return tell(store.error());
//   auto held = store->locks().hold("deploy", {.ttl = 30s, .wait = 10s});
//   if (!held) return tell(held.error());
//   while (!held->stop_token().stop_requested() && deploy_a_bit()) continue;
//   auto released = held->release();
//   if (!released) return tell(released.error());                                   // lost: we may not have been alone
//
//   auto reader = locks.acquire("report", {.share = Share{}});                      // beside other readers
//   auto two = locks.acquire("gpu", {.share = Share{.permits = 2, .capacity = 8}}); // two of eight
//   auto both = locks.acquire_all({"account/7", "account/9"});                      // both, or neither
//
// Locks is a cheap handle; it may be copied, and every method may be called from any thread.
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
#include "leasehold/result.h"

namespace leasehold {

/// A part of a lock, beside others. With a capacity it is a semaphore: so many permits of it, and all who share it at
/// a time name the same capacity. Without one it is a shared lock: any number of shares. Whoever wants all of the lock
/// excludes every share, and the other way round.
struct Share {
  std::int64_t permits = 1;
  std::optional<std::int64_t> capacity{};
};

struct AcquireOptions {
  Duration ttl = defaults::lock_ttl;
  /// How long to stand in line, in order of arrival. Zero: ask once. Duration::max(): for ever.
  Duration wait{0};
  /// Makes repeating harmless: the same id gives the first answer again, with what remains of the
  /// lease. Drawn at random when empty; kept as long as ended leases are (see Store::prune).
  std::string request_id{};
  /// A share instead of all of it.
  std::optional<Share> share{};
  /// For so long after this grant expires or is revoked nobody gets its place, since its holder may not know yet. After
  /// a release it is free at once.
  Duration lock_delay{0};
};

/// A lock as people see it. Of shares the rest tells of the one that frees last.
struct LockInfo : LeaseInfo {
  std::int64_t holders = 0;  ///< how many take up a place: live, expired, or gone with their delay not over
  std::int64_t permits = 0;  ///< what their shares have together
  std::optional<std::int64_t> capacity{};
  std::optional<Timestamp> free_at{};   ///< when that grant gives its place back: expiry plus delay
  bool delayed = false;                 ///< nobody is alive in it, and the delay is not over
  std::vector<std::string> together{};  ///< the other locks that were taken with it, and end with it
};

/// One of those who have a lock.
struct LockHolder : LeaseInfo {
  std::optional<std::int64_t> permits{};  ///< of a share
  std::optional<std::int64_t> capacity{};
  Timestamp free_at{};
};

struct LockFilter {
  std::string prefix{};    ///< only names that begin with it
  bool only_held = false;  ///< leave out free ones
  int limit = defaults::list_limit;
};

class LEASEHOLD_EXPORT Locks {
 public:
  /// Takes the lock, or a share of it.
  /// Refused with `held` (current: who, where, until when; retry_at where that is only the lock delay) or `busy` (free,
  /// but others stand in line before you, or a fence is being held over an expired lease); with `wait`, only after it
  /// ran out. At once with `reentry` (this very thread has it already, or so many permits that no room can be left:
  /// waiting would never end; a thread may have several shares) or `mismatch` (others have shares of another capacity).
  Result<Grant> acquire(std::string_view name, const AcquireOptions& options = {}, const Call& call = {}) const;

  /// Takes 1 to bounds::max_locks_together locks in one step, all or none, under one lease and one token. The grant and
  /// a refusal name in their key one of them; a refusal, the first that is in the way. Taken together, given back
  /// together: heartbeat and release need any one of the names, and where one is revoked or taken over after expiry,
  /// all are lost.
  Result<Grant> acquire_all(const std::vector<std::string>& names, const AcquireOptions& options = {},
                            const Call& call = {}) const;

  /// Extends a live lease; never revives an expired one. Without a ttl the lease keeps its own.
  Result<Grant> heartbeat(std::string_view name, Token token, std::optional<Duration> ttl = {}) const;

  /// Gives the lock up. Accepted after expiry while nobody took it; releasing twice is fine.
  Result<void> release(std::string_view name, Token token) const;

  /// Ends a live lease from outside. A holder that keeps it with hold() hears of it within two
  /// seconds, any other at its next heartbeat.
  /// Waits while the holder's own transaction fences it, then `busy`. Without a token all who have it lose it. Gives
  /// the lease that was ended, the latest of them.
  Result<LeaseInfo> revoke(std::string_view name, std::string_view reason,
                           std::optional<Token> token = std::nullopt) const;

  Result<LockInfo> show(std::string_view name) const;
  Result<std::vector<LockInfo>> list(const LockFilter& filter = {}) const;

  /// All who have it, in the order in which they got it; those in their lock delay, too.
  Result<std::vector<LockHolder>> holders(std::string_view name, int limit = defaults::list_limit) const;

  /// acquire() plus heartbeats on a thread of their own, ended by the returned object.
  Result<HeldLease> hold(std::string_view name, const AcquireOptions& options = {}, const Call& call = {}) const;
  Result<HeldLease> hold_all(const std::vector<std::string>& names, const AcquireOptions& options = {},
                             const Call& call = {}) const;

  /// How it stands, or why that cannot be told: `not_found` before the first grant and after a prune, or trouble with
  /// the store.
  using Seen = std::function<void(const Result<LockInfo>&)>;

  /// Tells how a lock stands now, and again whenever it changes hands or a share comes or goes, until `stop`. A picture
  /// from now and then: who has it for less than half a second may be missed; the events tell of everybody. Goes on
  /// through trouble with the store, which is told once.
  Result<void> watch(std::string_view name, std::stop_token stop, const Seen& seen) const;

  /// For the library: nobody else has an Impl.
  struct Impl;
  explicit Locks(std::shared_ptr<const Impl> impl) : impl_(std::move(impl)) {}

 private:
  std::shared_ptr<const Impl> impl_;
};

}  // namespace leasehold
