// Values on their way into a SQLite statement and out of it.
#pragma once

#include <sqlite3.h>

#include <span>

#include "storage/statement.h"
#include "storage/value.h"

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

}  // namespace leasehold::sqlite
