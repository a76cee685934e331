#include "storage/sqlite/values.h"

#include <fmt/format.h>
#include <string>

namespace leasehold::sqlite {
namespace {

using storage::Cell;
using storage::Row;
using storage::Type;

int bind_string(sqlite3_stmt* statement, int place, Type type, std::string_view value) {
  // A null pointer would bind NULL instead of an empty value.
  const auto* data = value.data() == nullptr ? "" : value.data();
  if (type == Type::bytes) return sqlite3_bind_blob64(statement, place, data, value.size(), SQLITE_STATIC);
  return sqlite3_bind_text64(statement, place, data, value.size(), SQLITE_STATIC, SQLITE_UTF8);
}

Cell cell_at(sqlite3_stmt* statement, int column) {
  switch (sqlite3_column_type(statement, column)) {
    case SQLITE_NULL: return {};
    case SQLITE_INTEGER: return sqlite3_column_int64(statement, column);
    default: {
      const auto* text = static_cast<const char*>(sqlite3_column_blob(statement, column));
      const auto size = static_cast<std::size_t>(sqlite3_column_bytes(statement, column));
      return std::string(text == nullptr ? "" : text, size);
    }
  }
}

Cell empty_list(Type type) {
  if (type == Type::texts || type == Type::bytes_list) return std::vector<std::string>();
  return std::vector<std::int64_t>();
}

}  // namespace

int bind_value(sqlite3_stmt* statement, int place, Type type, const storage::Param& value) {
  if (const auto* number = std::get_if<std::int64_t>(&value)) return sqlite3_bind_int64(statement, place, *number);
  if (const auto* text = std::get_if<std::string_view>(&value)) return bind_string(statement, place, type, *text);
  if (std::holds_alternative<std::monostate>(value)) return sqlite3_bind_null(statement, place);
  return bind_list(statement, place, type, value);
}

Row read_row(sqlite3_stmt* statement) {
  Row row;
  const int columns = sqlite3_column_count(statement);
  row.reserve(static_cast<std::size_t>(columns));
  for (int column = 0; column < columns; ++column) row.push_back(cell_at(statement, column));
  return row;
}

void gather_row(sqlite3_stmt* statement, std::span<const storage::Field> columns, storage::Rows& rows) {
  if (rows.empty()) {
    rows.emplace_back();
    for (std::size_t i = 0; i < columns.size(); ++i) {
      rows.front().push_back(is_list(columns[i].type) ? empty_list(columns[i].type)
                                                      : cell_at(statement, static_cast<int>(i)));
    }
  }
  for (std::size_t i = 0; i < columns.size(); ++i) {
    if (!is_list(columns[i].type)) continue;
    auto value = cell_at(statement, static_cast<int>(i));
    auto& list = rows.front()[i];
    auto* numbers = std::get_if<std::vector<std::int64_t>>(&list);
    auto* texts = std::get_if<std::vector<std::string>>(&list);
    if (auto* number = std::get_if<std::int64_t>(&value); number && numbers) numbers->push_back(*number);
    if (auto* text = std::get_if<std::string>(&value); text && texts) texts->push_back(std::move(*text));
  }
}

Row read_text_row(sqlite3_stmt* statement) {
  Row row;
  for (int column = 0; column < sqlite3_column_count(statement); ++column) {
    const auto* text = sqlite3_column_text(statement, column);
    row.push_back(text == nullptr ? Cell{} : Cell(reinterpret_cast<const char*>(text)));
  }
  return row;
}

namespace {

Errc code_for(int code, std::string_view message) {
  switch (code & 0xFF) {
    case SQLITE_BUSY:
    case SQLITE_LOCKED: return Errc::busy;
    case SQLITE_CANTOPEN:
    case SQLITE_READONLY:
    case SQLITE_FULL:
    case SQLITE_IOERR:
    case SQLITE_NOMEM:
    case SQLITE_PROTOCOL: return Errc::unavailable;
    case SQLITE_PERM:
    case SQLITE_AUTH: return Errc::denied;
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB: return Errc::damaged;
    case SQLITE_TOOBIG:
    case SQLITE_MISMATCH: return Errc::invalid_argument;
    default: break;
  }
  return message.starts_with("no such table") ? Errc::schema_missing : Errc::internal;
}

std::string_view advice_for(int code) {
  switch (code & 0xFF) {
    case SQLITE_BUSY: return ": another process has been writing too long; try again";
    case SQLITE_CANTOPEN: return ": does its folder exist, and can you write there?";
    case SQLITE_READONLY: return ": leases need to write; check the permissions of the file and its folder";
    case SQLITE_FULL: return ": make room on the disk and try again";
    case SQLITE_CORRUPT: return ": the file is damaged; restore it from a backup";
    case SQLITE_NOTADB: return ": it is not a SQLite database; if the path is right, restore the file from a backup";
    default: return "";
  }
}

}  // namespace

Error error_of(sqlite3* connection, int code, std::string_view doing) {
  const std::string message = connection != nullptr ? sqlite3_errmsg(connection) : sqlite3_errstr(code);
  const auto meaning = code_for(code, message);
  if (meaning == Errc::schema_missing) {
    return {.code = meaning,
            .message = fmt::format("{}: the leasehold tables are missing: run `leasehold migrate up`", doing)};
  }
  return {.code = meaning, .message = fmt::format("{}: {}{}", doing, message, advice_for(code))};
}

}  // namespace leasehold::sqlite
