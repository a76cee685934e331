// The bookkeeping table: the migrations that a store records as applied.
//
// Read it inside transactions only: any other query of a SQLite store needs its clock, whose table may not exist yet,
// or no longer.
#pragma once

#include <functional>
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

/// Empty if the table does not exist.
Result<Applied> list_applied(Backend& backend, BootTime deadline);
Result<bool> has_bookkeeping(Transaction& transaction);
/// Waits until no other process migrates, then returns the list; others wait until this transaction ends.
Result<Applied> lock_applied(Transaction& transaction);

const sql::MigrationList::Row* find_applied(const Applied& applied, int version);

/// "0002_lock"
std::string label_of(const Migration& migration);
/// The migration as this binary has it; `row` is the store's record of it, or null.
MigrationInfo info_of(const Migration& migration, const sql::MigrationList::Row* row);

/// `schema_newer` with advice if this binary does not know the store's version.
Result<void> require_known(std::int64_t version, std::span<const Migration> known);
/// What leasehold is tested on.
constexpr int oldest_postgres = 15;
constexpr int newest_postgres = 18;

/// `schema_missing` with advice for a server that is too old to have the schema.
Result<void> require_server(Backend& backend, BootTime deadline);
/// `schema_missing` with advice.
Error missing_schema(std::int64_t version, std::span<const Migration> known);
/// `damaged` with advice, for the store of another unreleased build; `finding` says how one can tell.
Error earlier_build(std::string_view finding);

// Detects edits to a migration's text after it was applied.

/// FNV-1a with 64 bits, as 16 hexadecimal digits: the same on every machine, and short. It detects edits and accidents,
/// not deliberate forgery.
std::string checksum(std::string_view text);

// Migrations as text, for databases where only a web form or a DBA may run DDL.

/// The SQL that up() would run, including the bookkeeping: afterwards the store is as after up().
std::string plan_migrations(const Dialect& dialect, const Applied& applied,
                            const std::function<std::string(std::string_view)>& localize);

// Applies, undoes and verifies the numbered migrations of a dialect, for any Backend.
//
// Each migration is one transaction: lock the bookkeeping table, find the next migration, run its script, record it,
// commit. So ten processes may start at once, some even in the other direction, and a crash leaves only whole
// migrations. Migration 0000 creates the bookkeeping table itself, so undoing down to 0 leaves nothing.
class Migrator {
 public:
  /// `call_timeout` applies to each migration and includes waiting for other processes.
  Migrator(Backend& backend, Duration call_timeout) : backend_(backend), call_timeout_(call_timeout) {}

  /// 0 without a schema. Needs no privilege on any table.
  Result<int> version();
  /// Success, or `schema_missing` / `schema_newer` with advice.
  Result<void> require_current();

  Result<std::vector<MigrationInfo>> status();
  Result<std::vector<MigrationInfo>> up();
  Result<std::vector<MigrationInfo>> down(int version);
  Result<std::vector<Drift>> verify();
  Result<std::string> plan();

 private:
  struct Goal;
  using Step = Result<std::optional<MigrationInfo>>;  ///< empty: nothing left to do

  Result<std::vector<MigrationInfo>> reach(const Goal& goal);
  Step settle(const Goal& goal);
  Step attempt(const Goal& goal, BootTime deadline, const Migration*& chosen);

  [[nodiscard]] BootTime deadline() const { return BootClock::now() + call_timeout_; }

  Backend& backend_;
  Duration call_timeout_;
};

// Compares the actual schema with the expected one, object by object.

/// The expected schema is not described a second time: this runs the migrations in a scratch place up to the store's
/// version, and lists both schemas with the same statement.
Result<std::vector<Drift>> check_schema(Backend& backend, const Applied& applied, BootTime deadline);

// Compares two lists of schema objects.
using SchemaObjects = std::vector<sql::SchemaObjects::Row>;

/// The two may come from schemas with different names. Omits drifts that follow from another one, such as the columns
/// of a missing table.
std::vector<Drift> compare_schemas(SchemaObjects expected, SchemaObjects found);

}  // namespace leasehold::storage
