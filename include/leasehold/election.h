// Leader election: of all who campaign under a name one leads, until it resigns or falls silent.
//
//   leasehold::Election election(store->locks(), "billing/leader");
//   while (!shutdown.stop_requested()) {
//     auto leadership = election.campaign({}, {.stop = shutdown});
//     if (!leadership) return leadership.error();
//     lead(leadership->term(), leadership->stop_token());    // until the token fires
//   }
//
// An election is the lock of that name: `leasehold lock show`, revoke and the fence work on it. The term is the token
// of the grant, greater with every leader: store it beside what the leader writes, and refuse a smaller one.
#pragma once

#include <optional>
#include <stop_token>
#include <string>

#include "leasehold/export.h"
#include "leasehold/held_lease.h"
#include "leasehold/limits.h"
#include "leasehold/lock.h"
#include "leasehold/result.h"

namespace leasehold {

struct CampaignOptions {
  /// How long after its last heartbeat a leader counts as gone.
  Duration ttl = defaults::lock_ttl;
  /// How long to stand as a candidate; candidates are elected in the order in which they came.
  Duration wait = Duration::max();
  /// For so long after a leader was silent or revoked nobody leads. After it resigned, the next one leads at once.
  Duration lock_delay{0};
};

/// The time of one leader. Heartbeats by itself; destroying it resigns, silently. Work that ignores the stop token is
/// not safe: by the time it has fired, somebody else may lead.
class LEASEHOLD_EXPORT Leadership {
 public:
  explicit Leadership(HeldLease held) : held_(std::move(held)) {}

  [[nodiscard]] Token term() const { return held_.token(); }
  [[nodiscard]] Grant grant() const { return held_.grant(); }

  /// Fires once, when leading must stop.
  [[nodiscard]] std::stop_token stop_token() const { return held_.stop_token(); }

  /// Why it fired; nothing while leading.
  [[nodiscard]] std::optional<Error> lost() const { return held_.lost(); }

  void on_extended(HeldLease::OnExtended callback) { held_.on_extended(std::move(callback)); }

  /// The next candidate leads at once.
  Result<void> resign() { return held_.release(); }

 private:
  HeldLease held_;
};

/// A cheap handle; every method may be called from any thread.
class LEASEHOLD_EXPORT Election {
 public:
  Election(Locks locks, std::string name) : locks_(std::move(locks)), name_(std::move(name)) {}

  /// Waits until elected; `call.stop` withdraws the candidacy. `held` or `busy`: `wait` ran out or `stop` came first.
  /// `reentry`: this thread leads already.
  [[nodiscard]] Result<Leadership> campaign(const CampaignOptions& options = {}, const Call& call = {}) const;

  /// Who leads, or led last: see its `state`. `not_found`: there was never a leader, or it was pruned.
  [[nodiscard]] Result<LockInfo> leader() const { return locks_.show(name_); }

  /// Tells who leads now, and again after every change, until `stop`: see Locks::watch.
  Result<void> observe(std::stop_token stop, const Locks::Seen& seen) const { return locks_.watch(name_, stop, seen); }

 private:
  Locks locks_;
  std::string name_;
};

}  // namespace leasehold
