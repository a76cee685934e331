#include "raw_queue.h"

#include <fmt/format.h>
#include <poll.h>

#include <chrono>

#include "../measure.h"

namespace leasehold::bench {

RawQueue::RawQueue(const std::string& url) : connection_(url) {
  connection_.execute(
      "CREATE TABLE IF NOT EXISTS bench_job (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,"
      " queue text NOT NULL, payload bytea NOT NULL, priority int NOT NULL DEFAULT 0,"
      " state text NOT NULL DEFAULT 'ready', token bigint NOT NULL DEFAULT 0, locked_by text,"
      " locked_until timestamptz, created_at timestamptz NOT NULL DEFAULT clock_timestamp())");
  connection_.execute(
      "CREATE INDEX IF NOT EXISTS bench_job_ready ON bench_job (queue, priority DESC, id)"
      " WHERE state = 'ready'");
  connection_.prepare("insert", "INSERT INTO bench_job (queue, payload) VALUES ('bench', $1) RETURNING id");
  connection_.prepare("claim",
                      "UPDATE bench_job SET state = 'running', token = token + 1, locked_by = 'bench',"
                      " locked_until = clock_timestamp() + interval '30 seconds' WHERE id = (SELECT id FROM bench_job"
                      " WHERE queue = 'bench' AND state = 'ready' ORDER BY priority DESC, id LIMIT 1"
                      " FOR UPDATE SKIP LOCKED) RETURNING id, token, payload");
  connection_.prepare("complete",
                      "UPDATE bench_job SET state = 'done', locked_until = NULL WHERE id = $1 AND token = $2");
}

void RawQueue::insert() { connection_.run("insert", {"x"}); }

void RawQueue::fill(int jobs) {
  const auto sql =
      fmt::format("INSERT INTO bench_job (queue, payload) SELECT 'bench', 'x' FROM generate_series(1, {})", jobs);
  connection_.execute(sql);
}

bool RawQueue::claim_and_complete() {
  const auto claimed = connection_.run("claim");
  if (PQntuples(claimed.get()) == 0) return false;
  connection_.run("complete", {PQgetvalue(claimed.get(), 0, 0), PQgetvalue(claimed.get(), 0, 1)});
  return true;
}

void RawQueue::listen() { connection_.execute("LISTEN bench_wake_up"); }

double RawQueue::wake_up(RawQueue& listener) {
  const auto began = std::chrono::steady_clock::now();
  connection_.execute("INSERT INTO bench_job (queue, payload) VALUES ('wake', 'x'); NOTIFY bench_wake_up");
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
