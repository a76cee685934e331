#include "raw_sessions.h"

#include <fmt/format.h>

namespace leasehold::bench {

RawSqliteSessions::RawSqliteSessions(const std::string& path, int sessions, int caller, int callers)
    : sessions_(sessions), callers_(callers), next_(caller), db_(path) {
  db_.execute(
      "CREATE TABLE IF NOT EXISTS raw_session (id INTEGER PRIMARY KEY, holder TEXT, heartbeat_at INTEGER,"
      " expires_at INTEGER);"
      "CREATE TABLE IF NOT EXISTS raw_claim (item INTEGER, token INTEGER, session INTEGER, taken_at INTEGER,"
      " ended_at INTEGER, PRIMARY KEY (item, token)) WITHOUT ROWID;"
      "CREATE UNIQUE INDEX IF NOT EXISTS raw_claim_active ON raw_claim (item) WHERE ended_at IS NULL");
  db_.execute(
      fmt::format("WITH RECURSIVE n(id) AS (SELECT 0 UNION ALL SELECT id + 1 FROM n WHERE id + 1 < {})"
                  " INSERT OR IGNORE INTO raw_session SELECT id, 'bench', 0, 0 FROM n",
                  sessions));
  beat_ =
      db_.prepare("UPDATE raw_session SET heartbeat_at = heartbeat_at + 1, expires_at = heartbeat_at WHERE id = ?1");
  take_ = db_.prepare("INSERT INTO raw_claim VALUES (?1, ?2, ?1, ?2, NULL)");
  release_ = db_.prepare("UPDATE raw_claim SET ended_at = ?2 WHERE item = ?1 AND token = ?2");
  for (const auto* statement : {&take_, &release_}) sqlite3_bind_int(statement->get(), 1, caller);
}

bool RawSqliteSessions::heartbeat() {
  sqlite3_bind_int(beat_.get(), 1, next_ % sessions_);
  next_ += callers_;
  return db_.commit_alone(beat_);
}

bool RawSqliteSessions::take_and_release() {
  ++token_;
  for (const auto* statement : {&take_, &release_}) sqlite3_bind_int64(statement->get(), 2, token_);
  return db_.commit_alone(take_) && db_.commit_alone(release_);
}

RawPostgresSessions::RawPostgresSessions(const std::string& url, int sessions, int caller, int callers)
    : sessions_(sessions), callers_(callers), next_(caller), item_(std::to_string(caller)), connection_(url) {
  connection_.execute(
      "CREATE TABLE IF NOT EXISTS raw_session (id bigint PRIMARY KEY, holder text, heartbeat_at timestamptz,"
      " expires_at timestamptz) WITH (fillfactor = 70)");
  connection_.execute(
      "CREATE TABLE IF NOT EXISTS raw_claim (item bigint, token bigint GENERATED ALWAYS AS IDENTITY, session bigint,"
      " taken_at timestamptz, ended_at timestamptz, PRIMARY KEY (item, token))");
  connection_.execute("CREATE UNIQUE INDEX IF NOT EXISTS raw_claim_active ON raw_claim (item) WHERE ended_at IS NULL");
  connection_.execute(
      fmt::format("INSERT INTO raw_session SELECT n, 'bench' FROM generate_series(0, {}) AS n ON CONFLICT DO NOTHING",
                  sessions - 1));
  connection_.prepare("beat",
                      "UPDATE raw_session SET heartbeat_at = clock_timestamp(),"
                      " expires_at = clock_timestamp() + interval '5 minutes' WHERE id = $1");
  connection_.prepare("take", "INSERT INTO raw_claim (item, session, taken_at) VALUES ($1, $1, clock_timestamp())");
  connection_.prepare("release",
                      "UPDATE raw_claim SET ended_at = clock_timestamp() WHERE item = $1 AND ended_at IS NULL");
}

bool RawPostgresSessions::heartbeat() {
  connection_.run("beat", {std::to_string(next_ % sessions_).c_str()});
  next_ += callers_;
  return true;
}

bool RawPostgresSessions::take_and_release() {
  connection_.run("take", {item_.c_str()});
  connection_.run("release", {item_.c_str()});
  return true;
}

}  // namespace leasehold::bench
