// Named statements on a user's own SQLite connection, in its write transaction.
#pragma once

#include <sqlite3.h>

#include <string>

#include "lease/answer.h"
#include "storage/query.h"
#include "storage/sqlite/connection.h"
#include "storage/sqlite/store_clock.h"

namespace leasehold::sqlite {

/// For statements that always give exactly one row; by the same clock as everybody who uses the file. `what` is for
/// the message: "jobs".
template <typename S>
Result<typename S::Row> run_one(sqlite3* database, const S& statement, const char* what) {
  // A statement is several steps; only a write transaction keeps others from coming in between.
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

}  // namespace leasehold::sqlite
