#include "raw_store.h"

#include "measure.h"

namespace leasehold::bench {

RawSqliteConnection::RawSqliteConnection(const std::string& path) {
  sqlite3* db = nullptr;
  const int opened = sqlite3_open(path.c_str(), &db);
  db_.reset(db);
  if (opened != SQLITE_OK) die(sqlite3_errmsg(db));
  sqlite3_busy_timeout(db, 10'000);
  execute("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL");
  begin_ = prepare("BEGIN IMMEDIATE");
  commit_ = prepare("COMMIT");
}

void RawSqliteConnection::execute(const std::string& sql) {
  if (sqlite3_exec(db_.get(), sql.c_str(), nullptr, nullptr, nullptr) != SQLITE_OK) die(sqlite3_errmsg(db_.get()));
}

RawSqliteConnection::Statement RawSqliteConnection::prepare(const char* sql) {
  sqlite3_stmt* statement = nullptr;
  if (sqlite3_prepare_v3(db_.get(), sql, -1, SQLITE_PREPARE_PERSISTENT, &statement, nullptr) != SQLITE_OK) {
    die(sqlite3_errmsg(db_.get()));
  }
  return Statement(statement);
}

bool RawSqliteConnection::step(const Statement& statement) {
  const int stepped = sqlite3_step(statement.get());
  sqlite3_reset(statement.get());
  if (stepped == SQLITE_BUSY) return false;
  if (stepped != SQLITE_DONE) die(sqlite3_errmsg(db_.get()));
  return true;
}

int RawSqliteConnection::count_rows(const Statement& query) {
  int rows = 0;
  while (sqlite3_step(query.get()) == SQLITE_ROW) ++rows;
  if (sqlite3_reset(query.get()) != SQLITE_OK) die(sqlite3_errmsg(db_.get()));
  return rows;
}

RawPostgresConnection::RawPostgresConnection(const std::string& url) : connection_(PQconnectdb(url.c_str())) {
  if (PQstatus(get()) != CONNECTION_OK) die(PQerrorMessage(get()));
  execute("SET client_min_messages = warning");
}

void RawPostgresConnection::execute(const std::string& sql) { require(PQexec(get(), sql.c_str())); }

void RawPostgresConnection::prepare(const char* statement, const char* sql) {
  require(PQprepare(get(), statement, sql, 0, nullptr));
}

RawPostgresConnection::Answer RawPostgresConnection::run(const char* statement,
                                                         std::initializer_list<const char*> values) {
  const auto count = static_cast<int>(values.size());
  return require(PQexecPrepared(get(), statement, count, values.begin(), nullptr, nullptr, 0));
}

RawPostgresConnection::Answer RawPostgresConnection::require(PGresult* result) const {
  Answer answer(result);
  const auto status = PQresultStatus(result);
  if (status != PGRES_COMMAND_OK && status != PGRES_TUPLES_OK) die(PQerrorMessage(get()));
  return answer;
}

}  // namespace leasehold::bench
