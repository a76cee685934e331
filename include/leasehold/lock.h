// Named locks: one holder per name, until a moment in time.
//
//   auto store = leasehold::Store::open("sqlite:work.db");
//   auto held = store->locks().hold("deploy", {.ttl = 30s, .wait = 10s});
//   if (!held) return tell(held.error());
//   while (!held->stop_token().stop_requested()) deploy_a_bit();
//   held->release();
//
// Locks is a cheap handle; it may be copied, and every method may be called from any thread.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "leasehold/export.h"
#include "leasehold/held_lease.h"
#include "leasehold/lease.h"
#include "leasehold/result.h"

namespace leasehold {

struct AcquireOptions {
  Duration ttl = std::chrono::seconds(30);
  /// How long to stand in line, in order of arrival. Zero: ask once.
  Duration wait{0};
  /// Default: Holder::self().
  std::optional<Holder> holder{};
  /// Makes repeating harmless: the same id gives the first answer again, with what remains of the
  /// lease. Drawn at random when empty; kept as long as ended leases are (see Store::prune).
  std::string request_id{};
};

struct LockFilter {
  std::string prefix{};    ///< only names that begin with it
  bool only_held = false;  ///< leave out free ones
  int limit = 1000;
};

class Locks {
 public:
  /// Takes the lock.
  /// Refused with `held` (current: who, where, until when) or `busy` (free, but others stand in line
  /// before you, or a fence is being held over an expired lease); with `wait`, only after it ran out.
  LEASEHOLD_EXPORT Result<Grant> acquire(std::string_view name, const AcquireOptions& options = {}) const;

  /// Extends a live lease; never revives an expired one. A zero ttl keeps the lease's own.
  LEASEHOLD_EXPORT Result<Grant> heartbeat(std::string_view name, Token token, Duration ttl = {}) const;

  /// Gives the lock up. Accepted after expiry while nobody took it; releasing twice is fine.
  LEASEHOLD_EXPORT Result<void> release(std::string_view name, Token token) const;

  /// Ends a live lease from outside. The holder learns it at its next heartbeat.
  /// Waits while the holder's own transaction fences it, then `busy`. Gives the lease that was ended.
  LEASEHOLD_EXPORT Result<LeaseInfo> revoke(std::string_view name, std::string_view reason) const;

  LEASEHOLD_EXPORT Result<LeaseInfo> show(std::string_view name) const;
  LEASEHOLD_EXPORT Result<std::vector<LeaseInfo>> list(const LockFilter& filter = {}) const;

  /// acquire() plus heartbeats on a thread of their own, ended by the returned object.
  LEASEHOLD_EXPORT Result<HeldLease> hold(std::string_view name, const AcquireOptions& options = {}) const;

 private:
  friend class Store;
  struct Impl;
  explicit Locks(std::shared_ptr<const Impl> impl) : impl_(std::move(impl)) {}
  std::shared_ptr<const Impl> impl_;
};

}  // namespace leasehold
