// The store clock of a SQLite file.
//
// All users of a file share one kernel, so steps of the wall clock need not matter: once per boot the file records one
// pair (wall clock, boot-time clock), and every process computes lease time from it.
#pragma once

#include "base/clock.h"
#include "storage/sqlite/connection.h"

namespace leasehold::sqlite {

class StoreClock {
 public:
  explicit StoreClock(const Clock& clock) : clock_(clock) {}

  /// Reads the pair of this boot. On a new boot it records the pair first: no holder of an earlier boot can be alive,
  /// so their leases end. Must run inside a write transaction of `connection`. `unavailable` with advice: the file was
  /// last used on another machine, in another time namespace, or by a later boot than this.
  Result<void> load(Connection& connection);

  /// As load(), but read-only: false if this boot must be recorded first.
  Result<bool> find(Connection& connection);

  /// Whether machine and boot permit load() to succeed.
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

/// Ends every lease and removes every recorded boot: the file may then be used on another machine. Must run inside a
/// write transaction.
Result<void> forget_machine(Connection& connection, Timestamp wall);

}  // namespace leasehold::sqlite
