#include "raw_postgres.h"

#include <fmt/format.h>

#include "measure.h"

namespace leasehold::bench {

RawPostgres::RawPostgres(const std::string& url, const std::string& name)
    : name_(name), connection_(PQconnectdb(url.c_str())) {
  if (PQstatus(connection_.get()) != CONNECTION_OK) die(PQerrorMessage(connection_.get()));
  execute("SET client_min_messages = warning");
  execute(
      "CREATE TABLE IF NOT EXISTS bench_raw (name text PRIMARY KEY, holder text, token bigint NOT NULL,"
      " expires_at timestamptz, ended_at timestamptz) WITH (fillfactor = 70)");
  execute(fmt::format("INSERT INTO bench_raw (name, token) VALUES ('{}', 0) ON CONFLICT DO NOTHING", name));
  prepare("take",
          "UPDATE bench_raw SET token = token + 1, holder = 'bench',"
          " expires_at = clock_timestamp() + interval '30 seconds', ended_at = NULL WHERE name = $1");
  prepare("give", "UPDATE bench_raw SET ended_at = clock_timestamp() WHERE name = $1");
}

void RawPostgres::require(const Answer& answer) const {
  if (PQresultStatus(answer.get()) != PGRES_COMMAND_OK) die(PQerrorMessage(connection_.get()));
}

void RawPostgres::execute(const std::string& sql) { require(Answer(PQexec(connection_.get(), sql.c_str()))); }

void RawPostgres::prepare(const char* statement, const char* sql) {
  require(Answer(PQprepare(connection_.get(), statement, sql, 1, nullptr)));
}

bool RawPostgres::run(const char* statement) {
  const char* const values[] = {name_.c_str()};
  require(Answer(PQexecPrepared(connection_.get(), statement, 1, values, nullptr, nullptr, 0)));
  return true;
}

bool RawPostgres::pair() { return run("take") && run("give"); }

bool RawPostgres::single() { return run("take"); }

}  // namespace leasehold::bench
