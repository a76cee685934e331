// Fences in a user's own SQLite transaction.
#include <fmt/format.h>

#include <initializer_list>
#include <string>

#include "base/names.h"
#include "base/text.h"
#include "chunk/answer.h"
#include "core/chunk_limits.h"
#include "core/limits.h"
#include "leasehold/sqlite.h"
#include "schedule/answer.h"
#include "session/answer.h"
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

/// What the fence's query says of the token: "current", or why it is not.
class FenceQuery {
 public:
  FenceQuery(sqlite3* connection, std::string_view query, std::string_view schema)
      : connection_(connection), query_(query), schema_(schema) {}

  Result<std::string> ask(std::initializer_list<std::string_view> key, Token token) {
    if (schema_.find('"') != std::string::npos) return fence_error("the schema name has a quote in it");
    // Anything less than a write transaction would let somebody take over before it commits.
    if (sqlite3_txn_state(connection_, schema_.c_str()) != SQLITE_TXN_WRITE) {
      return fence_error("a fence needs a write transaction: begin it with BEGIN IMMEDIATE");
    }
    sqlite3_stmt* raw = nullptr;
    int code = sqlite3_prepare_v2(connection_, in_schema(query_, schema_).c_str(), -1, &raw, nullptr);
    const sqlite::StatementHandle statement(raw);
    if (code != SQLITE_OK) return sqlite::error_of(connection_, code, "fence");
    int index = 0;
    for (const auto part : key) {
      sqlite3_bind_text(raw, ++index, part.data(), static_cast<int>(part.size()), SQLITE_STATIC);
    }
    sqlite3_bind_int64(raw, ++index, token.value);
    code = sqlite3_step(raw);
    if (code == SQLITE_DONE) return std::string("superseded");
    if (code != SQLITE_ROW) return sqlite::error_of(connection_, code, "fence");
    return std::string(reinterpret_cast<const char*>(sqlite3_column_text(raw, 0)));
  }

 private:
  sqlite3* connection_;
  std::string_view query_;
  std::string schema_;
};

Result<void> judge(const Result<std::string>& answer, std::string_view what, Token token) {
  if (!answer) return answer.error();
  if (*answer == "current") return {};
  return Error{
      .code = Errc::lost,
      .message = fmt::format("{}: token {} is not current ({}); roll back and stop", what, token.value, *answer),
      .lost_reason = lost_reason_from(*answer)};
}

}  // namespace

Result<void> fence(sqlite3* connection, std::string_view name, Token token, std::string_view schema) {
  if (auto checked = check_name("lock name", name); !checked) return checked;
  const auto answer = FenceQuery(connection, sqlite::local::fence, schema).ask({name}, token);
  return judge(answer, "lock " + quoted(name), token);
}

Result<void> fence_chunk(sqlite3* connection, std::string_view set, std::string_view key, Token token,
                         std::string_view schema) {
  if (auto checked = check_chunk(set, key); !checked) return checked;
  const auto answer = FenceQuery(connection, sqlite::local::fence_chunk, schema).ask({set, key}, token);
  return judge(answer, chunk::describe(set, key), token);
}

Result<void> fence_claim(sqlite3* connection, std::string_view item, Token token, std::string_view schema) {
  if (auto checked = check_name("item key", item); !checked) return checked;
  const auto answer = FenceQuery(connection, sqlite::local::fence_claim, schema).ask({item}, token);
  return judge(answer, session::describe_item(item), token);
}

Result<void> fence_schedule(sqlite3* connection, std::string_view schedule, Token token, std::string_view schema) {
  if (auto checked = check_name("schedule name", schedule); !checked) return checked;
  const auto answer = FenceQuery(connection, sqlite::local::fence_schedule, schema).ask({schedule}, token);
  return judge(answer, schedule::describe(schedule), token);
}

}  // namespace leasehold
