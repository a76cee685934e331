#include "raw_queue.h"

#include <fmt/format.h>
#include <poll.h>

#include <chrono>

#include "../measure.h"

namespace leasehold::bench {

RawQueue::RawQueue(const std::string& url) : connection_(PQconnectdb(url.c_str())) {
  if (PQstatus(connection_.get()) != CONNECTION_OK) die(PQerrorMessage(connection_.get()));
  auto* const raw = connection_.get();
  require(PQexec(raw, "SET client_min_messages = warning"));
  require(PQexec(raw,
                 "CREATE TABLE IF NOT EXISTS bench_job (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,"
                 " queue text NOT NULL, payload bytea NOT NULL, priority int NOT NULL DEFAULT 0,"
                 " state text NOT NULL DEFAULT 'ready', token bigint NOT NULL DEFAULT 0, locked_by text,"
                 " locked_until timestamptz, created_at timestamptz NOT NULL DEFAULT clock_timestamp())"));
  require(PQexec(raw,
                 "CREATE INDEX IF NOT EXISTS bench_job_ready ON bench_job (queue, priority DESC, id)"
                 " WHERE state = 'ready'"));
  require(
      PQprepare(raw, "insert", "INSERT INTO bench_job (queue, payload) VALUES ('bench', $1) RETURNING id", 1, nullptr));
  require(PQprepare(raw, "claim",
                    "UPDATE bench_job SET state = 'running', token = token + 1, locked_by = 'bench',"
                    " locked_until = clock_timestamp() + interval '30 seconds' WHERE id = (SELECT id FROM bench_job"
                    " WHERE queue = 'bench' AND state = 'ready' ORDER BY priority DESC, id LIMIT 1"
                    " FOR UPDATE SKIP LOCKED) RETURNING id, token, payload",
                    0, nullptr));
  require(PQprepare(raw, "complete",
                    "UPDATE bench_job SET state = 'done', locked_until = NULL WHERE id = $1 AND token = $2", 2,
                    nullptr));
}

RawQueue::Answer RawQueue::require(PGresult* result) const {
  Answer answer(result);
  const auto status = PQresultStatus(result);
  if (status != PGRES_COMMAND_OK && status != PGRES_TUPLES_OK) die(PQerrorMessage(connection_.get()));
  return answer;
}

void RawQueue::insert() {
  const char* const values[] = {"x"};
  require(PQexecPrepared(connection_.get(), "insert", 1, values, nullptr, nullptr, 0));
}

void RawQueue::fill(int jobs) {
  const auto sql =
      fmt::format("INSERT INTO bench_job (queue, payload) SELECT 'bench', 'x' FROM generate_series(1, {})", jobs);
  require(PQexec(connection_.get(), sql.c_str()));
}

bool RawQueue::claim_and_complete() {
  const auto claimed = require(PQexecPrepared(connection_.get(), "claim", 0, nullptr, nullptr, nullptr, 0));
  if (PQntuples(claimed.get()) == 0) return false;
  const char* const values[] = {PQgetvalue(claimed.get(), 0, 0), PQgetvalue(claimed.get(), 0, 1)};
  require(PQexecPrepared(connection_.get(), "complete", 2, values, nullptr, nullptr, 0));
  return true;
}

void RawQueue::listen() { require(PQexec(connection_.get(), "LISTEN bench_wake_up")); }

double RawQueue::wake_up(RawQueue& listener) {
  const auto began = std::chrono::steady_clock::now();
  require(
      PQexec(connection_.get(), "INSERT INTO bench_job (queue, payload) VALUES ('wake', 'x'); NOTIFY bench_wake_up"));
  auto* const other = listener.connection_.get();
  for (;;) {
    if (PGnotify* got = PQnotifies(other)) {
      PQfreemem(got);
      return std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - began).count();
    }
    pollfd readable{.fd = PQsocket(other), .events = POLLIN, .revents = 0};
    if (poll(&readable, 1, 5000) <= 0) die("no notification came");
    PQconsumeInput(other);
  }
}

}  // namespace leasehold::bench
