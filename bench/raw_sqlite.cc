#include "raw_sqlite.h"

#include <fmt/format.h>

#include "measure.h"

namespace leasehold::bench {

RawSqlite::RawSqlite(const std::string& path, const std::string& name) {
  sqlite3* db = nullptr;
  const int opened = sqlite3_open(path.c_str(), &db);
  db_.reset(db);
  if (opened != SQLITE_OK) die(sqlite3_errmsg(db));
  sqlite3_busy_timeout(db, 10'000);
  execute("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL");
  execute(
      "CREATE TABLE IF NOT EXISTS raw (name TEXT PRIMARY KEY, holder TEXT, token INTEGER NOT NULL,"
      " expires_at INTEGER, ended_at INTEGER) WITHOUT ROWID");
  execute(fmt::format("INSERT OR IGNORE INTO raw (name, token) VALUES ('{}', 0)", name));
  begin_ = prepare("BEGIN IMMEDIATE");
  commit_ = prepare("COMMIT");
  take_ = prepare(
      "UPDATE raw SET token = token + 1, holder = 'bench', expires_at = token, ended_at = NULL"
      " WHERE name = ?1");
  give_ = prepare("UPDATE raw SET ended_at = token WHERE name = ?1");
  for (const auto* update : {&take_, &give_}) {
    sqlite3_bind_text(update->get(), 1, name.data(), static_cast<int>(name.size()), SQLITE_TRANSIENT);
  }
}

void RawSqlite::execute(const std::string& sql) {
  if (sqlite3_exec(db_.get(), sql.c_str(), nullptr, nullptr, nullptr) != SQLITE_OK) die(sqlite3_errmsg(db_.get()));
}

RawSqlite::Statement RawSqlite::prepare(const char* sql) {
  sqlite3_stmt* statement = nullptr;
  if (sqlite3_prepare_v3(db_.get(), sql, -1, SQLITE_PREPARE_PERSISTENT, &statement, nullptr) != SQLITE_OK) {
    die(sqlite3_errmsg(db_.get()));
  }
  return Statement(statement);
}

bool RawSqlite::step(const Statement& statement) {
  const int stepped = sqlite3_step(statement.get());
  sqlite3_reset(statement.get());
  if (stepped == SQLITE_BUSY) return false;
  if (stepped != SQLITE_DONE) die(sqlite3_errmsg(db_.get()));
  return true;
}

bool RawSqlite::commit_alone(const Statement& update) { return step(begin_) && step(update) && step(commit_); }

bool RawSqlite::pair() { return commit_alone(take_) && commit_alone(give_); }

bool RawSqlite::single() { return commit_alone(take_); }

}  // namespace leasehold::bench
