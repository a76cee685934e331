// A lease that keeps itself alive.
#pragma once

#include <functional>
#include <memory>
#include <stop_token>

#include "leasehold/export.h"
#include "leasehold/lease.h"
#include "leasehold/result.h"

namespace leasehold {

/// Heartbeats a grant from a thread of its own, a third of the ttl apart.
///
/// The stop token fires when the lease is lost, and at `trusted_until` when no heartbeat got through:
/// always before the lease can expire. After a revoke it fires within two seconds. Work that ignores it is not
/// safe. Callbacks on it run on a thread that stops other leases, too, and must be quick.
///
/// Destroying a HeldLease releases it, silently; call release() to learn how that went. A lost one is not released. In
/// a forked child it is the parent's: there neither does anything.
class LEASEHOLD_EXPORT HeldLease {
 public:
  using Heartbeat = std::function<Result<Grant>(const Grant&)>;
  using Release = std::function<Result<void>(const Grant&)>;
  /// Called from the heartbeat thread after each successful heartbeat; must be quick.
  using OnExtended = std::function<void(const Grant&)>;
  /// Calls `heartbeat_now` when the lease may have ended, until the returned object is destroyed.
  using Watch = std::function<std::shared_ptr<void>(const Grant&, std::function<void()> heartbeat_now)>;

  /// Features make these (Locks::hold); they say how to heartbeat, how to release and, where an operator can revoke
  /// the lease, how to hear of that before the next heartbeat. Throws std::system_error where no thread is to be had.
  HeldLease(Grant grant, Heartbeat heartbeat, Release release, const Watch& watch = {});
  HeldLease(HeldLease&&) noexcept;
  HeldLease& operator=(HeldLease&&) noexcept;
  ~HeldLease();

  /// Fires once, when work under this lease must stop.
  [[nodiscard]] std::stop_token stop_token() const;

  /// The grant with the newest `expires_at` and `trusted_until`.
  [[nodiscard]] Grant grant() const;
  [[nodiscard]] Token token() const;

  /// Why the stop token fired; nothing while the lease is held.
  [[nodiscard]] std::optional<Error> lost() const;

  void on_extended(OnExtended callback);

  /// Ends the heartbeats, then gives the lease up. Said again it gives the first answer again; the store is asked once
  /// more only where it could not be reached.
  Result<void> release();

  /// Ends the heartbeats and leaves the lease to the caller, who settles what is held under it: its destruction
  /// releases nothing any more. An error only in a forked child.
  Result<void> end_heartbeats();
  /// The caller has settled it: there is nothing to release.
  void note_settled();

 private:
  struct Impl;
  std::shared_ptr<Impl> impl_;
};

}  // namespace leasehold
