// The bookkeeping table: which migrations a store says have been applied.
//
// Read inside transactions only: a plain query of a SQLite store needs its clock, which lives in a table
// that may not be there, or not any more.
#pragma once

#include <span>
#include <string>
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

}  // namespace leasehold::storage
