#include <fmt/format.h>

#include <chrono>

#include "../measure.h"
#include "raw_schedules.h"

namespace leasehold::bench {
namespace {

/// In microseconds, as leasehold stores it.
std::int64_t wall_now() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::microseconds>(now).count();
}

}  // namespace

RawSqliteSchedules::RawSqliteSchedules(const std::string& path, int schedules, int caller, int callers) {
  sqlite3* db = nullptr;
  const int opened = sqlite3_open(path.c_str(), &db);
  db_.reset(db);
  if (opened != SQLITE_OK) die(sqlite3_errmsg(db));
  sqlite3_busy_timeout(db, 10'000);
  execute("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL");
  if (caller == 0) make_tables(schedules, callers);
  begin_ = prepare("BEGIN IMMEDIATE");
  commit_ = prepare("COMMIT");
  take_ = prepare(
      "UPDATE raw_schedule SET token = token + 1, holder = 'bench', expires_at = ?2 + 300000000,"
      " next_run_at = ?2 + 3600000000"
      " WHERE id = ?1 AND next_run_at <= ?2 AND (expires_at IS NULL OR expires_at <= ?2)");
  note_ = prepare(
      "INSERT INTO raw_run (schedule, occurrence, token, started_at)"
      " SELECT id, ?2, token, ?2 FROM raw_schedule WHERE id = ?1");
  end_ = prepare("UPDATE raw_run SET outcome = 'ok', finished_at = ?2 WHERE schedule = ?1 AND outcome IS NULL");
  free_ = prepare("UPDATE raw_schedule SET expires_at = NULL, next_run_at = ?2 WHERE id = ?1");
  look_ = prepare("SELECT next_run_at, holder, expires_at FROM raw_schedule WHERE id = ?1");
  find_ = prepare("SELECT id, next_run_at FROM raw_schedule WHERE next_run_at <= ?1 ORDER BY next_run_at, id LIMIT ?2");
  for (const auto* statement : {&take_, &note_, &end_, &free_, &look_}) sqlite3_bind_int(statement->get(), 1, caller);
}

void RawSqliteSchedules::make_tables(int schedules, int due) {
  execute(
      "CREATE TABLE raw_schedule (id INTEGER PRIMARY KEY, token INTEGER NOT NULL, holder TEXT, expires_at INTEGER,"
      " next_run_at INTEGER NOT NULL);"
      "CREATE INDEX raw_schedule_due ON raw_schedule (next_run_at, id);"
      "CREATE TABLE raw_run (schedule INTEGER, occurrence INTEGER, token INTEGER NOT NULL, started_at INTEGER,"
      " finished_at INTEGER, outcome TEXT, PRIMARY KEY (schedule, occurrence)) WITHOUT ROWID;"
      "CREATE UNIQUE INDEX raw_run_open ON raw_run (schedule) WHERE outcome IS NULL");
  const auto in_a_year = wall_now() + std::int64_t{365} * 86'400'000'000;
  execute(
      fmt::format("WITH RECURSIVE n(id) AS (SELECT 0 UNION ALL SELECT id + 1 FROM n WHERE id + 1 < {})"
                  " INSERT INTO raw_schedule SELECT id, 0, NULL, NULL, iif(id < {}, 0, {}) FROM n",
                  schedules, due, in_a_year));
}

void RawSqliteSchedules::execute(const std::string& sql) {
  if (sqlite3_exec(db_.get(), sql.c_str(), nullptr, nullptr, nullptr) != SQLITE_OK) die(sqlite3_errmsg(db_.get()));
}

RawSqliteSchedules::Statement RawSqliteSchedules::prepare(const char* sql) {
  sqlite3_stmt* statement = nullptr;
  if (sqlite3_prepare_v3(db_.get(), sql, -1, SQLITE_PREPARE_PERSISTENT, &statement, nullptr) != SQLITE_OK) {
    die(sqlite3_errmsg(db_.get()));
  }
  return Statement(statement);
}

bool RawSqliteSchedules::step(const Statement& statement) {
  const int stepped = sqlite3_step(statement.get());
  sqlite3_reset(statement.get());
  if (stepped == SQLITE_BUSY) return false;
  if (stepped != SQLITE_DONE) die(sqlite3_errmsg(db_.get()));
  return true;
}

bool RawSqliteSchedules::take_and_end() {
  const auto now = wall_now();
  for (const auto* statement : {&take_, &note_, &end_, &free_}) sqlite3_bind_int64(statement->get(), 2, now);
  if (!step(begin_)) return false;
  step(take_);
  if (sqlite3_changes(db_.get()) != 1) die("the raw schedule was not due");
  return step(note_) && step(commit_) && step(begin_) && step(end_) && step(free_) && step(commit_);
}

int RawSqliteSchedules::count_rows(const Statement& query) {
  int rows = 0;
  while (sqlite3_step(query.get()) == SQLITE_ROW) ++rows;
  if (sqlite3_reset(query.get()) != SQLITE_OK) die(sqlite3_errmsg(db_.get()));
  return rows;
}

bool RawSqliteSchedules::look() { return count_rows(look_) == 1; }

bool RawSqliteSchedules::find_due(int max) {
  sqlite3_bind_int64(find_.get(), 1, wall_now());
  sqlite3_bind_int(find_.get(), 2, max);
  if (count_rows(find_) != max) die("not as many raw schedules are due");
  return true;
}

}  // namespace leasehold::bench
