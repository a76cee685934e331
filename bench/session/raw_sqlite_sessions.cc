#include <fmt/format.h>

#include "../measure.h"
#include "raw_sessions.h"

namespace leasehold::bench {

RawSqliteSessions::RawSqliteSessions(const std::string& path, int sessions, int caller, int callers)
    : sessions_(sessions), callers_(callers), next_(caller) {
  sqlite3* db = nullptr;
  const int opened = sqlite3_open(path.c_str(), &db);
  db_.reset(db);
  if (opened != SQLITE_OK) die(sqlite3_errmsg(db));
  sqlite3_busy_timeout(db, 10'000);
  execute("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL");
  execute(
      "CREATE TABLE IF NOT EXISTS raw_session (id INTEGER PRIMARY KEY, holder TEXT, heartbeat_at INTEGER,"
      " expires_at INTEGER);"
      "CREATE TABLE IF NOT EXISTS raw_claim (item INTEGER, token INTEGER, session INTEGER, taken_at INTEGER,"
      " ended_at INTEGER, PRIMARY KEY (item, token)) WITHOUT ROWID;"
      "CREATE UNIQUE INDEX IF NOT EXISTS raw_claim_active ON raw_claim (item) WHERE ended_at IS NULL");
  execute(
      fmt::format("WITH RECURSIVE n(id) AS (SELECT 0 UNION ALL SELECT id + 1 FROM n WHERE id + 1 < {})"
                  " INSERT OR IGNORE INTO raw_session SELECT id, 'bench', 0, 0 FROM n",
                  sessions));
  begin_ = prepare("BEGIN IMMEDIATE");
  commit_ = prepare("COMMIT");
  beat_ = prepare("UPDATE raw_session SET heartbeat_at = heartbeat_at + 1, expires_at = heartbeat_at WHERE id = ?1");
  take_ = prepare("INSERT INTO raw_claim VALUES (?1, ?2, ?1, ?2, NULL)");
  release_ = prepare("UPDATE raw_claim SET ended_at = ?2 WHERE item = ?1 AND token = ?2");
  for (const auto* statement : {&take_, &release_}) sqlite3_bind_int(statement->get(), 1, caller);
}

void RawSqliteSessions::execute(const std::string& sql) {
  if (sqlite3_exec(db_.get(), sql.c_str(), nullptr, nullptr, nullptr) != SQLITE_OK) die(sqlite3_errmsg(db_.get()));
}

RawSqliteSessions::Statement RawSqliteSessions::prepare(const char* sql) {
  sqlite3_stmt* statement = nullptr;
  if (sqlite3_prepare_v3(db_.get(), sql, -1, SQLITE_PREPARE_PERSISTENT, &statement, nullptr) != SQLITE_OK) {
    die(sqlite3_errmsg(db_.get()));
  }
  return Statement(statement);
}

bool RawSqliteSessions::step(const Statement& statement) {
  const int stepped = sqlite3_step(statement.get());
  sqlite3_reset(statement.get());
  if (stepped == SQLITE_BUSY) return false;
  if (stepped != SQLITE_DONE) die(sqlite3_errmsg(db_.get()));
  return true;
}

bool RawSqliteSessions::commit_alone(const Statement& statement) {
  return step(begin_) && step(statement) && step(commit_);
}

bool RawSqliteSessions::heartbeat() {
  sqlite3_bind_int(beat_.get(), 1, next_ % sessions_);
  next_ += callers_;
  return commit_alone(beat_);
}

bool RawSqliteSessions::take_and_release() {
  ++token_;
  for (const auto* statement : {&take_, &release_}) sqlite3_bind_int64(statement->get(), 2, token_);
  return commit_alone(take_) && commit_alone(release_);
}

}  // namespace leasehold::bench
