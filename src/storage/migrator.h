// Applies, undoes and verifies the numbered migrations of a dialect; written once, over the seam.
//
// Each migration is one transaction: take the bookkeeping table, see which one is next, run its script,
// note it, commit. So ten processes may start at once, some even the other way, and a crash leaves whole
// migrations behind. Number 0000 makes the bookkeeping table itself, so undoing down to 0 leaves nothing.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "leasehold/migrations.h"
#include "storage/backend.h"

namespace leasehold::storage {

class Migrator {
 public:
  /// `call_timeout` is for each migration, waiting for others included.
  Migrator(Backend& backend, Duration call_timeout) : backend_(backend), call_timeout_(call_timeout) {}

  /// 0 where there is no schema at all. Needs no right to see a table.
  Result<int> version();
  /// Fine, or `schema_missing` / `schema_newer` with advice.
  Result<void> require_current();

  Result<std::vector<MigrationInfo>> status();
  Result<std::vector<MigrationInfo>> up();
  Result<std::vector<MigrationInfo>> down(int version);
  Result<std::vector<Drift>> verify();
  Result<std::string> plan();

 private:
  struct Goal;
  using Step = Result<std::optional<MigrationInfo>>;  ///< empty: there was nothing left to do

  Result<std::vector<MigrationInfo>> reach(const Goal& goal);
  Step settle(const Goal& goal);
  Step attempt(const Goal& goal, BootTime deadline, const Migration*& chosen);

  [[nodiscard]] BootTime deadline() const { return BootClock::now() + call_timeout_; }

  Backend& backend_;
  Duration call_timeout_;
};

}  // namespace leasehold::storage
