#include <fmt/format.h>

#include "base/names.h"
#include "base/text.h"
#include "core/limits.h"
#include "leasehold/sqlite.h"
#include "storage/sqlite/connection.h"
#include "storage/sqlite/dialect.h"
#include "storage/sqlite/errors.h"

namespace leasehold {
namespace {

Error fence_error(std::string message) { return {.code = Errc::invalid_argument, .message = std::move(message)}; }

std::string in_schema(std::string_view sql, std::string_view schema) {
  std::string text(sql);
  constexpr std::string_view mark = "main.";
  const auto name = fmt::format("\"{}\".", schema);
  for (auto at = text.find(mark); at != std::string::npos; at = text.find(mark, at + name.size())) {
    text.replace(at, mark.size(), name);
  }
  return text;
}

}  // namespace

Result<void> fence(sqlite3* connection, std::string_view name, Token token, std::string_view schema) {
  if (schema.find('"') != std::string_view::npos) return fence_error("the schema name has a quote in it");
  if (auto checked = check_name("lock name", name); !checked) return checked;
  const std::string schema_name(schema);
  // Anything less than a write transaction would let somebody take over before it commits.
  if (sqlite3_txn_state(connection, schema_name.c_str()) != SQLITE_TXN_WRITE) {
    return fence_error("a fence needs a write transaction: begin it with BEGIN IMMEDIATE");
  }
  sqlite3_stmt* raw = nullptr;
  const auto sql = in_schema(sqlite::local::fence, schema);
  int code = sqlite3_prepare_v2(connection, sql.c_str(), -1, &raw, nullptr);
  const sqlite::StatementHandle statement(raw);
  if (code != SQLITE_OK) return sqlite::error_of(connection, code, "fence");
  sqlite3_bind_text(raw, 1, name.data(), static_cast<int>(name.size()), SQLITE_STATIC);
  sqlite3_bind_int64(raw, 2, token.value);
  code = sqlite3_step(raw);
  if (code != SQLITE_ROW && code != SQLITE_DONE) return sqlite::error_of(connection, code, "fence");
  const auto* text = code == SQLITE_ROW ? reinterpret_cast<const char*>(sqlite3_column_text(raw, 0)) : "superseded";
  if (std::string_view(text) == "current") return {};
  return Error{.code = Errc::lost,
               .message = fmt::format("lock {}: token {} is not current ({}); roll back and stop", quoted(name),
                                      token.value, text),
               .lost_reason = lost_reason_from(text)};
}

}  // namespace leasehold
