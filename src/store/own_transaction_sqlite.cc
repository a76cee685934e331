// Named statements on the caller's own SQLite connection, in its write transaction.
#include <fmt/format.h>
#include <sqlite3.h>
#include <initializer_list>
#include <string>

#include "base/text.h"
#include "chunk/chunks.h"
#include "job/jobs.h"
#include "lease/answer.h"
#include "leasehold/sqlite.h"
#include "model/bounds.h"
#include "model/words.h"
#include "schedule/schedules.h"
#include "session/sessions.h"
#include "storage/query.h"
#include "storage/sqlite/backend.h"
#include "storage/sqlite/connection.h"
#include "storage/sqlite/store_clock.h"
#include "storage/sqlite/values.h"

namespace leasehold {

namespace sqlite {

/// For statements that always return exactly one row. Uses the same clock as every other user of the file. `what` is
/// for the message: "jobs".
template <typename S>
Result<typename S::Row> run_one(sqlite3* database, const S& statement, const char* what) {
  // A statement has several steps; only a write transaction keeps other processes from coming in between.
  if (sqlite3_txn_state(database, "main") != SQLITE_TXN_WRITE) {
    return Error{.code = Errc::invalid_argument,
                 .message = std::string(what) + " need a write transaction: begin it with BEGIN IMMEDIATE"};
  }
  auto connection = Connection::borrow(database);
  if (!connection) return std::move(connection).error();
  StoreClock clock(system_clock());
  if (auto loaded = clock.load(**connection); !loaded) return std::move(loaded).error();
  auto rows = storage::decode_rows<S>((*connection)->run(S::statement(), statement.params(), clock.read()));
  if (!rows) return std::move(rows).error();
  if (rows->size() != 1) return lease::odd_answer(S::statement().name, "nothing");
  return std::move(rows->front());
}

}  // namespace sqlite

// Fences in the caller's own SQLite transaction.
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

/// The result of the fence's query: "current", or why the token is not.
class FenceQuery {
 public:
  FenceQuery(sqlite3* connection, std::string_view query, std::string_view schema)
      : connection_(connection), query_(query), schema_(schema) {}

  Result<std::string> ask(std::initializer_list<std::string_view> key, Token token) {
    if (schema_.find('"') != std::string::npos) return fence_error("the schema name has a quote in it");
    // Without a write transaction, another process could take over before the commit.
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

Result<void> fence_job(sqlite3* connection, JobId id, Token token, std::string_view schema) {
  const auto answer = FenceQuery(connection, sqlite::local::fence_job, schema).ask({std::to_string(id)}, token);
  return judge(answer, job::describe(id), token);
}

Result<void> fence_schedule(sqlite3* connection, std::string_view schedule, Token token, std::string_view schema) {
  if (auto checked = check_name("schedule name", schedule); !checked) return checked;
  const auto answer = FenceQuery(connection, sqlite::local::fence_schedule, schema).ask({schedule}, token);
  return judge(answer, schedule::describe(schedule), token);
}

// Jobs in the caller's own SQLite transaction.
Result<Enqueued> enqueue(sqlite3* connection, std::string_view queue, const NewJob& job) {
  if (auto checked = job::check_enqueue(queue, std::span(&job, 1)); !checked) return std::move(checked).error();
  const job::EnqueueStatement statement(queue, job);
  auto row = sqlite::run_one(connection, statement.get(), "jobs");
  if (!row) return std::move(row).error();
  return job::enqueued_from(*row);
}

Result<JobSettled> complete(sqlite3* connection, JobId id, Token token, std::string_view result) {
  const Settlement settlement{id, token, Verdict::complete(std::string(result))};
  if (auto checked = check_verdict(settlement.verdict); !checked) return std::move(checked).error();
  const job::VerdictStatement statement(settlement);
  auto row = sqlite::run_one(connection, statement.get(), "jobs");
  if (!row) return std::move(row).error();
  return job::settled_from(*row);
}

// Chunks in the caller's own SQLite transaction.
Result<void> save_chunk(sqlite3* connection, std::string_view set, std::string_view key, Token token,
                        const ChunkSave& save) {
  if (auto checked = chunk::check_save(set, key, save); !checked) return checked;
  auto row = sqlite::run_one(connection, chunk::heartbeat_statement(set, key, token, save), "chunks");
  if (!row) return std::move(row).error();
  if (!row->outcome.done()) return chunk::settle_refusal(*row, set, key);
  return {};
}

Result<ChunkSettled> complete_chunk(sqlite3* connection, std::string_view set, std::string_view key, Token token,
                                    const ChunkSave& save) {
  const ChunkSettlement settlement{
      .set = std::string(set),
      .key = std::string(key),
      .token = token,
      .verdict = {.kind = Verdict::Kind::complete, .cursor = save.cursor, .rows = save.rows}};
  if (auto checked = chunk::check_settlement(settlement); !checked) return std::move(checked).error();
  auto row = sqlite::run_one(connection, chunk::VerdictStatement(settlement).get(), "chunks");
  if (!row) return std::move(row).error();
  return chunk::settled_from(*row, set, key);
}

}  // namespace leasehold
