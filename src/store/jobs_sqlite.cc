// Jobs in a user's own SQLite transaction.
#include "core/job_limits.h"
#include "leasehold/sqlite.h"
#include "queue/answer.h"
#include "queue/enqueue.h"
#include "storage/query.h"
#include "storage/sqlite/connection.h"
#include "storage/sqlite/store_clock.h"

namespace leasehold {
namespace {

/// Runs the statement on the user's connection, by the same clock as everybody who uses the file.
template <typename S>
Result<typename S::Row> run_one(sqlite3* database, const S& statement) {
  // A statement is several steps; only a write transaction keeps others from coming in between.
  if (sqlite3_txn_state(database, "main") != SQLITE_TXN_WRITE) {
    return Error{.code = Errc::invalid_argument,
                 .message = "jobs need a write transaction: begin it with BEGIN IMMEDIATE"};
  }
  auto connection = sqlite::Connection::borrow(database);
  if (!connection) return std::move(connection).error();
  sqlite::StoreClock clock(system_clock());
  if (auto loaded = clock.load(**connection); !loaded) return std::move(loaded).error();
  auto rows = storage::decode_rows<S>((*connection)->run(S::statement(), statement.params(), clock.read()));
  if (!rows) return std::move(rows).error();
  if (rows->size() != 1) return queue::odd_answer(S::statement().name, "nothing");
  return std::move(rows->front());
}

}  // namespace

Result<Enqueued> enqueue(sqlite3* connection, std::string_view queue, const NewJob& job) {
  if (auto checked = queue::check_enqueue(queue, std::span(&job, 1)); !checked) return std::move(checked).error();
  const queue::EnqueueStatement statement(queue, job);
  auto row = run_one(connection, statement.get());
  if (!row) return std::move(row).error();
  return queue::enqueued_from(*row);
}

Result<Settled> complete(sqlite3* connection, JobId id, Token token, std::string_view result) {
  if (auto checked = check_result(result); !checked) return std::move(checked).error();
  sql::JobSettle statement{.job_id = id, .token = token.value, .verdict = "complete"};
  if (!result.empty()) statement.result = result;
  auto row = run_one(connection, statement);
  if (!row) return std::move(row).error();
  return queue::settled_from(*row);
}

}  // namespace leasehold
