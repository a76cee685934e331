// Lists as parameters of a SQLite statement: a table-valued function over what the caller has bound.
//
//   DELETE FROM ready WHERE job_id IN (SELECT value FROM bound_list(:job_ids));
//   SELECT a.value, b.value FROM bound_list(:job_ids) AS a JOIN bound_list(:tokens) AS b ON b.i = a.i;
//
// `i` counts from 0; `value` is INTEGER, TEXT or BLOB by the type of the field. Nothing is copied or parsed, and one
// statement text serves lists of every length. Looking up one `i` is as cheap as reading an array.
#pragma once

#include <sqlite3.h>

#include "storage/statement.h"
#include "storage/value.h"

namespace leasehold::sqlite {

/// Makes bound_list known to a connection. Gives SQLite's result code.
int register_bound_list(sqlite3* database);

/// Binds a list for bound_list to read. `list`, the very object, must stay until the statement has run. Gives
/// SQLite's result code; SQLITE_MISMATCH where it is not a list of this type.
int bind_list(sqlite3_stmt* statement, int place, storage::Type type, const storage::Param& list);

}  // namespace leasehold::sqlite
