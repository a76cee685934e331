// The parts of the emitter for PostgreSQL: the facts about a table, the checks of the file against them, and the SQL
// that no template has.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "adopt/catalogue.h"
#include "adopt/description.h"
#include "adopt/emission.h"
#include "adopt/template.h"
#include "leasehold/result.h"
#include "leasehold/time.h"
#include "storage/direct.h"

namespace leasehold::adopt::postgres {

// Reads PostgreSQL's catalogue about the table, and refuses a table that cannot be adopted.

/// Refuses a relation without rows of its own, and a table without a key for its rows. The answer's primary_key is the
/// key that the description wants.
Result<TableFacts> inspect(storage::Direct& database, const Description& table, BootTime deadline);

/// The columns of any relation; empty if there is none of that name.
Result<std::vector<ColumnFacts>> columns_of(storage::Direct& database, std::string_view schema, std::string_view name,
                                            BootTime deadline);

/// nullptr if there is none.
const ColumnFacts* column_of(const std::vector<ColumnFacts>& columns, std::string_view name);

// Asks the database, before anything is generated, whether the user's fragments are SQL, and what a person should know
// about the table.

/// Plans each fragment without running it. An error names the line and the key of the file.
Result<void> check_fragments(storage::Direct& database, const Description& table, const Values& values,
                             BootTime deadline);

/// Triggers, foreign keys and views that matter, and rows that look as if they are in work.
Result<std::vector<Note>> notes_on(storage::Direct& database, const Description& table, const TableFacts& facts,
                                   const Values& values, BootTime deadline);

// Functions and indexes under the user's own names.

/// The step that creates a function, or replaces one that has the same arguments and result. A replaced function keeps
/// its owner, grants, comment, SECURITY and settings, and comes back as it was.
Result<Step> function_step(storage::Direct& database, const Description& table, const WantedFunction& function,
                           BootTime deadline);

std::vector<Step> index_steps(const Description& table, bool partitioned);

}  // namespace leasehold::adopt::postgres
