// Converts values to and from SQLite statements.
#pragma once

#include <sqlite3.h>
#include <span>
#include <string_view>

#include "leasehold/result.h"
#include "storage/statement.h"

namespace leasehold::sqlite {

/// Binds without copying: `value` must stay in place until the statement has run. SQL reads lists through bound_list.
/// Returns SQLite's result code.
int bind_value(sqlite3_stmt* statement, int place, storage::Type type, const storage::Param& value);

/// The current row of a statement. Texts and blobs both become strings.
storage::Row read_row(sqlite3_stmt* statement);

/// For an answer with lists: appends the values of the current row to them. See embed_sql.
void gather_row(sqlite3_stmt* statement, std::span<const storage::Field> columns, storage::Rows& rows);

/// Like read_row(), all columns as text.
storage::Row read_text_row(sqlite3_stmt* statement);

// Errors for SQLite's result codes.

/// The error that the connection has just reported. `doing` is for the message: "opening work.db".
Error error_of(sqlite3* connection, int code, std::string_view doing);

// Lists as parameters of a SQLite statement: a table-valued function over a bound list.
//
//   DELETE FROM ready WHERE job_id IN (SELECT value FROM bound_list(:job_ids));
//   SELECT a.value, b.value FROM bound_list(:job_ids) AS a JOIN bound_list(:tokens) AS b ON b.i = a.i;
//
// `i` counts from 0; `value` is INTEGER, TEXT or BLOB by the type of the field. Nothing is copied or parsed, and one
// statement text serves lists of every length. Looking up one `i` is as cheap as reading an array.

/// Registers bound_list with a connection. Returns SQLite's result code.
int register_bound_list(sqlite3* database);

/// Binds a list for bound_list to read. The object `list` itself must stay until the statement has run. Returns
/// SQLite's result code; SQLITE_MISMATCH if it is not a list of this type.
int bind_list(sqlite3_stmt* statement, int place, storage::Type type, const storage::Param& list);

}  // namespace leasehold::sqlite
