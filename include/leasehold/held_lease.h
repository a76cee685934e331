// A lease that keeps itself alive.
#pragma once

#include <functional>
#include <memory>
#include <stop_token>

#include "leasehold/export.h"
#include "leasehold/lease.h"
#include "leasehold/result.h"

namespace leasehold {

class TestStore;  // testing.h

/// Heartbeats a grant on its own thread, every third of the ttl.
///
/// The stop token fires when the lease is lost, and at `trusted_until` if no heartbeat got through: always before the
/// lease can expire. After a revoke it fires within two seconds. Work that ignores it is not safe. Callbacks on it must
/// be quick: they run on a thread that stops other leases, too.
///
/// The destructor releases the lease and ignores errors; call release() to get the answer. A lost lease is not
/// released. In a forked child the lease belongs to the parent: there, neither does anything.
class LEASEHOLD_EXPORT HeldLease {
 public:
  using Heartbeat = std::function<Result<Grant>(const Grant&)>;
  using Release = std::function<Result<void>(const Grant&)>;
  /// Called on the heartbeat thread after each successful heartbeat; must be quick.
  using OnExtended = std::function<void(const Grant&)>;
  /// Calls `heartbeat_now` when the lease may have ended, until the returned object is destroyed.
  using Watch = std::function<std::shared_ptr<void>(const Grant&, std::function<void()> heartbeat_now)>;

  /// For features (Locks::hold). They pass how to heartbeat, how to release and, if an operator can revoke the lease,
  /// how to notice that before the next heartbeat. Throws std::system_error if no thread can be started.
  HeldLease(Grant grant, Heartbeat heartbeat, Release release, const Watch& watch = {});
  HeldLease(HeldLease&&) noexcept;
  HeldLease& operator=(HeldLease&&) noexcept;
  ~HeldLease();

  /// Fires once, when work under this lease must stop.
  [[nodiscard]] std::stop_token stop_token() const;

  /// The grant with the latest `expires_at` and `trusted_until`.
  [[nodiscard]] Grant grant() const;
  [[nodiscard]] Token token() const;

  /// Why the stop token fired; nothing while the lease is held.
  [[nodiscard]] std::optional<Error> lost() const;

  void on_extended(OnExtended callback);

  /// Stops the heartbeats, then releases the lease. A repeated call returns the first answer; it asks the store again
  /// only if the store could not be reached.
  Result<void> release();

  /// Stops the heartbeats and leaves the lease to the caller, who settles what it holds: the destructor then releases
  /// nothing. Fails only in a forked child.
  Result<void> end_heartbeats();
  /// The caller has settled the lease: there is nothing left to release.
  void note_settled();

 private:
  friend class TestStore;
  void heartbeat_now();

  struct Impl;
  std::shared_ptr<Impl> impl_;
};

}  // namespace leasehold
