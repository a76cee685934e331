#include "raw_schedules.h"

#include <fmt/format.h>

#include <chrono>

#include "../measure.h"

namespace leasehold::bench {
namespace {

/// In microseconds, as leasehold stores it.
std::int64_t wall_now() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::microseconds>(now).count();
}

}  // namespace

RawSqliteSchedules::RawSqliteSchedules(const std::string& path, int schedules, int caller, int callers) : db_(path) {
  if (caller == 0) make_tables(schedules, callers);
  take_ = db_.prepare(
      "UPDATE raw_schedule SET token = token + 1, holder = 'bench', expires_at = ?2 + 300000000,"
      " next_run_at = ?2 + 3600000000"
      " WHERE id = ?1 AND next_run_at <= ?2 AND (expires_at IS NULL OR expires_at <= ?2)");
  note_ = db_.prepare(
      "INSERT INTO raw_run (schedule, occurrence, token, started_at)"
      " SELECT id, ?2, token, ?2 FROM raw_schedule WHERE id = ?1");
  end_ = db_.prepare("UPDATE raw_run SET outcome = 'ok', finished_at = ?2 WHERE schedule = ?1 AND outcome IS NULL");
  free_ = db_.prepare("UPDATE raw_schedule SET expires_at = NULL, next_run_at = ?2 WHERE id = ?1");
  look_ = db_.prepare("SELECT next_run_at, holder, expires_at FROM raw_schedule WHERE id = ?1");
  find_ =
      db_.prepare("SELECT id, next_run_at FROM raw_schedule WHERE next_run_at <= ?1 ORDER BY next_run_at, id LIMIT ?2");
  for (const auto* statement : {&take_, &note_, &end_, &free_, &look_}) sqlite3_bind_int(statement->get(), 1, caller);
}

void RawSqliteSchedules::make_tables(int schedules, int due) {
  db_.execute(
      "CREATE TABLE raw_schedule (id INTEGER PRIMARY KEY, token INTEGER NOT NULL, holder TEXT, expires_at INTEGER,"
      " next_run_at INTEGER NOT NULL);"
      "CREATE INDEX raw_schedule_due ON raw_schedule (next_run_at, id);"
      "CREATE TABLE raw_run (schedule INTEGER, occurrence INTEGER, token INTEGER NOT NULL, started_at INTEGER,"
      " finished_at INTEGER, outcome TEXT, PRIMARY KEY (schedule, occurrence)) WITHOUT ROWID;"
      "CREATE UNIQUE INDEX raw_run_open ON raw_run (schedule) WHERE outcome IS NULL");
  const auto in_a_year = wall_now() + std::int64_t{365} * 86'400'000'000;
  db_.execute(
      fmt::format("WITH RECURSIVE n(id) AS (SELECT 0 UNION ALL SELECT id + 1 FROM n WHERE id + 1 < {})"
                  " INSERT INTO raw_schedule SELECT id, 0, NULL, NULL, iif(id < {}, 0, {}) FROM n",
                  schedules, due, in_a_year));
}

bool RawSqliteSchedules::take_and_end() {
  const auto now = wall_now();
  for (const auto* statement : {&take_, &note_, &end_, &free_}) sqlite3_bind_int64(statement->get(), 2, now);
  if (!db_.begin()) return false;
  db_.step(take_);
  if (db_.changes() != 1) die("the raw schedule was not due");
  return db_.step(note_) && db_.commit() && db_.begin() && db_.step(end_) && db_.step(free_) && db_.commit();
}

bool RawSqliteSchedules::look() { return db_.count_rows(look_) == 1; }

bool RawSqliteSchedules::find_due(int max) {
  sqlite3_bind_int64(find_.get(), 1, wall_now());
  sqlite3_bind_int(find_.get(), 2, max);
  if (db_.count_rows(find_) != max) die("not as many raw schedules are due");
  return true;
}

RawPostgresSchedules::RawPostgresSchedules(const std::string& url, int schedules, int caller, int callers)
    : mine_(std::to_string(caller)), connection_(url) {
  if (caller == 0) make_tables(schedules, callers);
  connection_.prepare(
      "take",
      "WITH taken AS (UPDATE raw_schedule SET token = token + 1, holder = 'bench',"
      " expires_at = clock_timestamp() + interval '5 minutes', next_run_at = clock_timestamp() + interval '1 hour'"
      " WHERE id = $1 AND next_run_at <= clock_timestamp()"
      " AND (expires_at IS NULL OR expires_at <= clock_timestamp()) RETURNING id, token)"
      " INSERT INTO raw_run (schedule, occurrence, token, started_at)"
      " SELECT id, clock_timestamp(), token, clock_timestamp() FROM taken");
  connection_.prepare("end",
                      "WITH ended AS (UPDATE raw_run SET outcome = 'ok', finished_at = clock_timestamp()"
                      " WHERE schedule = $1 AND outcome IS NULL RETURNING schedule)"
                      " UPDATE raw_schedule SET expires_at = NULL, next_run_at = clock_timestamp()"
                      " WHERE id = $1 AND EXISTS (SELECT FROM ended)");
  connection_.prepare("look", "SELECT next_run_at, holder, expires_at FROM raw_schedule WHERE id = $1");
  connection_.prepare(
      "find", "SELECT id, next_run_at FROM raw_schedule WHERE next_run_at <= now() ORDER BY next_run_at, id LIMIT $1");
}

void RawPostgresSchedules::make_tables(int schedules, int due) {
  connection_.execute(
      "CREATE TABLE raw_schedule (id bigint PRIMARY KEY, token bigint NOT NULL, holder text, expires_at timestamptz,"
      " next_run_at timestamptz NOT NULL) WITH (fillfactor = 70)");
  connection_.execute("CREATE INDEX raw_schedule_due ON raw_schedule (next_run_at, id)");
  connection_.execute(
      "CREATE TABLE raw_run (schedule bigint, occurrence timestamptz, token bigint NOT NULL, started_at timestamptz,"
      " finished_at timestamptz, outcome text, PRIMARY KEY (schedule, occurrence))");
  connection_.execute("CREATE UNIQUE INDEX raw_run_open ON raw_run (schedule) WHERE outcome IS NULL");
  connection_.execute(
      fmt::format("INSERT INTO raw_schedule SELECT n, 0, NULL, NULL,"
                  " clock_timestamp() + CASE WHEN n < {} THEN interval '0' ELSE interval '1 year' END"
                  " FROM generate_series(0, {}) AS n",
                  due, schedules - 1));
  connection_.execute("ANALYZE raw_schedule");
}

bool RawPostgresSchedules::take_and_end() {
  const std::string one_row = "1";
  for (const auto* statement : {"take", "end"}) {
    if (PQcmdTuples(connection_.run(statement, {mine_.c_str()}).get()) != one_row) die("the raw schedule was not due");
  }
  return true;
}

bool RawPostgresSchedules::look() { return PQntuples(connection_.run("look", {mine_.c_str()}).get()) == 1; }

bool RawPostgresSchedules::find_due(int max) {
  const auto found = connection_.run("find", {std::to_string(max).c_str()});
  if (PQntuples(found.get()) != max) die("not as many raw schedules are due");
  return true;
}

}  // namespace leasehold::bench
