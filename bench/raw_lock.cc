#include "raw_lock.h"

#include <fmt/format.h>

namespace leasehold::bench {

RawSqlite::RawSqlite(const std::string& path, const std::string& name) : db_(path) {
  db_.execute(
      "CREATE TABLE IF NOT EXISTS raw (name TEXT PRIMARY KEY, holder TEXT, token INTEGER NOT NULL,"
      " expires_at INTEGER, ended_at INTEGER) WITHOUT ROWID");
  db_.execute(fmt::format("INSERT OR IGNORE INTO raw (name, token) VALUES ('{}', 0)", name));
  take_ = db_.prepare(
      "UPDATE raw SET token = token + 1, holder = 'bench', expires_at = token, ended_at = NULL"
      " WHERE name = ?1");
  give_ = db_.prepare("UPDATE raw SET ended_at = token WHERE name = ?1");
  for (const auto* update : {&take_, &give_}) {
    sqlite3_bind_text(update->get(), 1, name.data(), static_cast<int>(name.size()), SQLITE_TRANSIENT);
  }
}

bool RawSqlite::pair() { return db_.commit_alone(take_) && db_.commit_alone(give_); }

bool RawSqlite::single() { return db_.commit_alone(take_); }

RawPostgres::RawPostgres(const std::string& url, const std::string& name) : name_(name), connection_(url) {
  connection_.execute(
      "CREATE TABLE IF NOT EXISTS bench_raw (name text PRIMARY KEY, holder text, token bigint NOT NULL,"
      " expires_at timestamptz, ended_at timestamptz) WITH (fillfactor = 70)");
  connection_.execute(fmt::format("INSERT INTO bench_raw (name, token) VALUES ('{}', 0) ON CONFLICT DO NOTHING", name));
  connection_.prepare("take",
                      "UPDATE bench_raw SET token = token + 1, holder = 'bench',"
                      " expires_at = clock_timestamp() + interval '30 seconds', ended_at = NULL WHERE name = $1");
  connection_.prepare("give", "UPDATE bench_raw SET ended_at = clock_timestamp() WHERE name = $1");
}

bool RawPostgres::run(const char* statement) {
  connection_.run(statement, {name_.c_str()});
  return true;
}

bool RawPostgres::pair() { return run("take") && run("give"); }

bool RawPostgres::single() { return run("take"); }

}  // namespace leasehold::bench
