// Leader election: one of the candidates for a name leads, until it resigns or its heartbeats stop.
//
//   leasehold::Election election(store->locks(), "billing/leader");
//   while (!shutdown.stop_requested()) {
//     auto leadership = election.campaign({}, {.stop = shutdown});
//     if (!leadership) return leadership.error();
//     lead(leadership->term(), leadership->stop_token());    // until the token fires
//   }
//
// An election is the lock of the same name: `leasehold lock show`, revoke and fence work on it. The term is the token
// of the grant and grows with every leader. Store it beside what the leader writes, and refuse a smaller one.
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
  /// A leader counts as gone this long after its last heartbeat.
  Duration ttl = defaults::lock_ttl;
  /// How long to stay a candidate. Candidates are elected in order of arrival.
  Duration wait = Duration::max();
  /// After a leader expires or is revoked, none leads for this long. After it resigns, the next one leads at once.
  Duration lock_delay{0};
};

/// One leader's time in office. It heartbeats by itself; the destructor resigns and ignores errors. Work that ignores
/// the stop token is not safe: once the token has fired, another candidate may lead.
class LEASEHOLD_EXPORT Leadership {
 public:
  explicit Leadership(HeldLease held) : held_(std::move(held)) {}

  [[nodiscard]] Token term() const { return held_.token(); }
  [[nodiscard]] Grant grant() const { return held_.grant(); }

  /// Fires once, when the leader must stop.
  [[nodiscard]] std::stop_token stop_token() const { return held_.stop_token(); }

  /// Why the stop token fired; nothing while leading.
  [[nodiscard]] std::optional<Error> lost() const { return held_.lost(); }

  void on_extended(HeldLease::OnExtended callback) { held_.on_extended(std::move(callback)); }

  /// Resigns; the next candidate leads at once.
  Result<void> resign() { return held_.release(); }

 private:
  HeldLease held_;
};

/// A cheap handle: call its methods from any thread.
class LEASEHOLD_EXPORT Election {
 public:
  Election(Locks locks, std::string name) : locks_(std::move(locks)), name_(std::move(name)) {}

  /// Waits until elected; `call.stop` withdraws the candidacy. `held` or `busy`: `wait` ran out or `call.stop` came
  /// first. `reentry`: this thread leads already.
  [[nodiscard]] Result<Leadership> campaign(const CampaignOptions& options = {}, const Call& call = {}) const;

  /// The current leader, or the last one: see its `state`. `not_found`: there was no leader, or it was pruned.
  [[nodiscard]] Result<LockInfo> leader() const { return locks_.show(name_); }

  /// Reports the leader now and after every change, until `stop`: see Locks::watch.
  Result<void> observe(std::stop_token stop, const Locks::Seen& seen) const { return locks_.watch(name_, stop, seen); }

 private:
  Locks locks_;
  std::string name_;
};

}  // namespace leasehold
