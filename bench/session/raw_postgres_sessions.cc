#include <fmt/format.h>

#include "../measure.h"
#include "raw_sessions.h"

namespace leasehold::bench {

RawPostgresSessions::RawPostgresSessions(const std::string& url, int sessions, int caller, int callers)
    : sessions_(sessions),
      callers_(callers),
      next_(caller),
      item_(std::to_string(caller)),
      connection_(PQconnectdb(url.c_str())) {
  if (PQstatus(connection_.get()) != CONNECTION_OK) die(PQerrorMessage(connection_.get()));
  execute("SET client_min_messages = warning");
  execute(
      "CREATE TABLE IF NOT EXISTS raw_session (id bigint PRIMARY KEY, holder text, heartbeat_at timestamptz,"
      " expires_at timestamptz) WITH (fillfactor = 70)");
  execute(
      "CREATE TABLE IF NOT EXISTS raw_claim (item bigint, token bigint GENERATED ALWAYS AS IDENTITY, session bigint,"
      " taken_at timestamptz, ended_at timestamptz, PRIMARY KEY (item, token))");
  execute("CREATE UNIQUE INDEX IF NOT EXISTS raw_claim_active ON raw_claim (item) WHERE ended_at IS NULL");
  execute(
      fmt::format("INSERT INTO raw_session SELECT n, 'bench' FROM generate_series(0, {}) AS n ON CONFLICT DO NOTHING",
                  sessions - 1));
  prepare("beat",
          "UPDATE raw_session SET heartbeat_at = clock_timestamp(),"
          " expires_at = clock_timestamp() + interval '5 minutes' WHERE id = $1");
  prepare("take", "INSERT INTO raw_claim (item, session, taken_at) VALUES ($1, $1, clock_timestamp())");
  prepare("release", "UPDATE raw_claim SET ended_at = clock_timestamp() WHERE item = $1 AND ended_at IS NULL");
}

void RawPostgresSessions::require(const Answer& answer) const {
  if (PQresultStatus(answer.get()) != PGRES_COMMAND_OK) die(PQerrorMessage(connection_.get()));
}

void RawPostgresSessions::execute(const std::string& sql) { require(Answer(PQexec(connection_.get(), sql.c_str()))); }

void RawPostgresSessions::prepare(const char* statement, const char* sql) {
  require(Answer(PQprepare(connection_.get(), statement, sql, 1, nullptr)));
}

void RawPostgresSessions::run(const char* statement, const std::string& number) {
  const char* const values[] = {number.c_str()};
  require(Answer(PQexecPrepared(connection_.get(), statement, 1, values, nullptr, nullptr, 0)));
}

bool RawPostgresSessions::heartbeat() {
  run("beat", std::to_string(next_ % sessions_));
  next_ += callers_;
  return true;
}

bool RawPostgresSessions::take_and_release() {
  run("take", item_);
  run("release", item_);
  return true;
}

}  // namespace leasehold::bench
