// The store clock of a SQLite file.
//
// All users of a file share one kernel, so the wall clock's steps need not matter: once per boot the
// file notes one pair (wall clock, boot-time clock), and everybody computes lease time from it.
#pragma once

#include "base/clock.h"
#include "storage/sqlite/connection.h"

namespace leasehold::sqlite {

class StoreClock {
 public:
  explicit StoreClock(const Clock& clock) : clock_(clock) {}

  /// Reads this boot's pair, noting it first where this boot is new: then no holder of an earlier boot
  /// can be alive, and their leases end. Inside a write transaction of `connection`.
  /// `unavailable` with advice: the file was last used on another machine, in another time namespace, or
  /// by a later boot than this.
  Result<void> load(Connection& connection);

  /// As load(), but only reads: false where this boot has to be noted first.
  Result<bool> find(Connection& connection);

  /// Whether load() would succeed, as far as machine and boot go.
  Result<bool> is_usable(Connection& connection);

  /// After load().
  [[nodiscard]] Moment read() const;

 private:
  struct Pair {
    Timestamp wall;
    BootTime boot;
  };
  Result<bool> find_this_boot(Connection& connection, const MachineFacts& machine);
  Result<void> note_this_boot(Connection& connection, const MachineFacts& machine);

  const Clock& clock_;
  Pair pair_{};
};

/// Ends every lease and forgets every boot: the file may then be used on another machine. Inside a
/// write transaction.
Result<void> forget_machine(Connection& connection, Timestamp wall);

}  // namespace leasehold::sqlite
