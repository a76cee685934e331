#include <fmt/format.h>

#include "../measure.h"
#include "raw_schedules.h"

namespace leasehold::bench {

RawPostgresSchedules::RawPostgresSchedules(const std::string& url, int schedules, int caller, int callers)
    : mine_(std::to_string(caller)), connection_(PQconnectdb(url.c_str())) {
  if (PQstatus(connection_.get()) != CONNECTION_OK) die(PQerrorMessage(connection_.get()));
  if (caller == 0) make_tables(schedules, callers);
  prepare("take",
          "WITH taken AS (UPDATE raw_schedule SET token = token + 1, holder = 'bench',"
          " expires_at = clock_timestamp() + interval '5 minutes', next_run_at = clock_timestamp() + interval '1 hour'"
          " WHERE id = $1 AND next_run_at <= clock_timestamp()"
          " AND (expires_at IS NULL OR expires_at <= clock_timestamp()) RETURNING id, token)"
          " INSERT INTO raw_run (schedule, occurrence, token, started_at)"
          " SELECT id, clock_timestamp(), token, clock_timestamp() FROM taken");
  prepare("end",
          "WITH ended AS (UPDATE raw_run SET outcome = 'ok', finished_at = clock_timestamp()"
          " WHERE schedule = $1 AND outcome IS NULL RETURNING schedule)"
          " UPDATE raw_schedule SET expires_at = NULL, next_run_at = clock_timestamp()"
          " WHERE id = $1 AND EXISTS (SELECT FROM ended)");
  prepare("look", "SELECT next_run_at, holder, expires_at FROM raw_schedule WHERE id = $1");
  prepare("find",
          "SELECT id, next_run_at FROM raw_schedule WHERE next_run_at <= now() ORDER BY next_run_at, id LIMIT $1");
}

void RawPostgresSchedules::make_tables(int schedules, int due) {
  execute(
      "CREATE TABLE raw_schedule (id bigint PRIMARY KEY, token bigint NOT NULL, holder text, expires_at timestamptz,"
      " next_run_at timestamptz NOT NULL) WITH (fillfactor = 70)");
  execute("CREATE INDEX raw_schedule_due ON raw_schedule (next_run_at, id)");
  execute(
      "CREATE TABLE raw_run (schedule bigint, occurrence timestamptz, token bigint NOT NULL, started_at timestamptz,"
      " finished_at timestamptz, outcome text, PRIMARY KEY (schedule, occurrence))");
  execute("CREATE UNIQUE INDEX raw_run_open ON raw_run (schedule) WHERE outcome IS NULL");
  execute(
      fmt::format("INSERT INTO raw_schedule SELECT n, 0, NULL, NULL,"
                  " clock_timestamp() + CASE WHEN n < {} THEN interval '0' ELSE interval '1 year' END"
                  " FROM generate_series(0, {}) AS n",
                  due, schedules - 1));
  execute("ANALYZE raw_schedule");
}

void RawPostgresSchedules::require(const Answer& answer, ExecStatusType status) const {
  if (PQresultStatus(answer.get()) != status) die(PQerrorMessage(connection_.get()));
}

void RawPostgresSchedules::execute(const std::string& sql) {
  require(Answer(PQexec(connection_.get(), sql.c_str())), PGRES_COMMAND_OK);
}

void RawPostgresSchedules::prepare(const char* statement, const char* sql) {
  require(Answer(PQprepare(connection_.get(), statement, sql, 1, nullptr)), PGRES_COMMAND_OK);
}

RawPostgresSchedules::Answer RawPostgresSchedules::run(const char* statement, const std::string& number,
                                                       ExecStatusType status) {
  const char* const values[] = {number.c_str()};
  Answer answer(PQexecPrepared(connection_.get(), statement, 1, values, nullptr, nullptr, 0));
  require(answer, status);
  return answer;
}

bool RawPostgresSchedules::take_and_end() {
  const std::string one_row = "1";
  for (const auto* statement : {"take", "end"}) {
    if (PQcmdTuples(run(statement, mine_, PGRES_COMMAND_OK).get()) != one_row) die("the raw schedule was not due");
  }
  return true;
}

bool RawPostgresSchedules::look() { return PQntuples(run("look", mine_, PGRES_TUPLES_OK).get()) == 1; }

bool RawPostgresSchedules::find_due(int max) {
  const auto found = run("find", std::to_string(max), PGRES_TUPLES_OK);
  if (PQntuples(found.get()) != max) die("not as many raw schedules are due");
  return true;
}

}  // namespace leasehold::bench
