// Values on their way into a SQLite statement and out of it.
#pragma once

#include <sqlite3.h>
#include <span>
#include <string_view>

#include "leasehold/result.h"
#include "storage/statement.h"

namespace leasehold::sqlite {

/// Binds without copying: `value` must stay in its place until the statement has run. Lists are read in SQL through
/// bound_list. Gives SQLite's result code.
int bind_value(sqlite3_stmt* statement, int place, storage::Type type, const storage::Param& value);

/// The row a statement stands on. Texts and blobs both become strings.
storage::Row read_row(sqlite3_stmt* statement);

/// For an answer with lists: the row it stands on adds its values to them. See embed_sql.
void gather_row(sqlite3_stmt* statement, std::span<const storage::Field> columns, storage::Rows& rows);

/// The same as read_row, all columns as text.
storage::Row read_text_row(sqlite3_stmt* statement);

// What SQLite's result codes mean to a caller.

/// The error that the connection has just reported. `doing` is for the message: "opening work.db".
Error error_of(sqlite3* connection, int code, std::string_view doing);

// Lists as parameters of a SQLite statement: a table-valued function over what the caller has bound.
//
//   DELETE FROM ready WHERE job_id IN (SELECT value FROM bound_list(:job_ids));
//   SELECT a.value, b.value FROM bound_list(:job_ids) AS a JOIN bound_list(:tokens) AS b ON b.i = a.i;
//
// `i` counts from 0; `value` is INTEGER, TEXT or BLOB by the type of the field. Nothing is copied or parsed, and one
// statement text serves lists of every length. Looking up one `i` is as cheap as reading an array.

/// Makes bound_list known to a connection. Gives SQLite's result code.
int register_bound_list(sqlite3* database);

/// Binds a list for bound_list to read. `list`, the very object, must stay until the statement has run. Gives
/// SQLite's result code; SQLITE_MISMATCH where it is not a list of this type.
int bind_list(sqlite3_stmt* statement, int place, storage::Type type, const storage::Param& list);

}  // namespace leasehold::sqlite
