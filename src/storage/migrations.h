// The bookkeeping table: which migrations a store says have been applied.
//
// Read inside transactions only: a plain query of a SQLite store needs its clock, which lives in a table
// that may not be there, or not any more.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "leasehold/migrations.h"
#include "storage/backend.h"
#include "storage/statements.h"

namespace leasehold::storage {

using Applied = std::vector<sql::MigrationList::Row>;

/// Empty where there is no such table.
Result<Applied> list_applied(Backend& backend, BootTime deadline);
Result<bool> has_bookkeeping(Transaction& transaction);
/// The list, once nobody else migrates; they wait until this transaction ends.
Result<Applied> lock_applied(Transaction& transaction);

const sql::MigrationList::Row* find_applied(const Applied& applied, int version);

/// "0002_lock"
std::string label_of(const Migration& migration);
/// As this binary carries it; `row` is what the store says, or null.
MigrationInfo info_of(const Migration& migration, const sql::MigrationList::Row* row);

/// `schema_newer` with advice, when the store is at a version this binary does not know.
Result<void> require_known(std::int64_t version, std::span<const Migration> known);
/// `schema_missing` with advice.
Error missing_schema(std::int64_t version, std::span<const Migration> known);

// Tells whether a migration's text was edited after it had been applied.

/// FNV-1a with 64 bits, as 16 hexadecimal digits: the same on every machine, and small enough to read.
/// It notices edits and accidents; it is no protection against somebody who wants to fool it.
std::string checksum(std::string_view text);

// Migrations as text, for databases where only a web form or a DBA may run DDL.

/// What up() would run, bookkeeping included: afterwards the store is as if up() had run.
std::string plan_migrations(const Backend& backend, const Applied& applied);

// Applies, undoes and verifies the numbered migrations of a dialect; written once, over the seam.
//
// Each migration is one transaction: take the bookkeeping table, see which one is next, run its script,
// note it, commit. So ten processes may start at once, some even the other way, and a crash leaves whole
// migrations behind. Number 0000 makes the bookkeeping table itself, so undoing down to 0 leaves nothing.
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

// Compares the schema there is with the one there should be, object by object.

/// What should be there is not described anywhere a second time: the migrations are run in a scratch
/// place up to the store's version, and both are listed by the same statement.
Result<std::vector<Drift>> check_schema(Backend& backend, const Applied& applied, BootTime deadline);

// Two lists of schema objects, held against each other.
using SchemaObjects = std::vector<sql::SchemaObjects::Row>;

/// The two may come from schemas of different names. What follows from another drift is not told:
/// not the columns of a missing table.
std::vector<Drift> compare_schemas(SchemaObjects expected, SchemaObjects found);

}  // namespace leasehold::storage
