// The number of connections that workers keep on PostgreSQL.
#include <fmt/format.h>
#include <libpq-fe.h>

#include <chrono>
#include <memory>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "../measure.h"
#include "leasehold/worker.h"
#include "scenarios.h"

namespace leasehold::bench {
namespace {

using namespace std::chrono_literals;
using Steady = std::chrono::steady_clock;

constexpr int jobs_at_once = 16;
constexpr auto watched_for = 3s;

/// Counts the sessions of this database, except its own.
class SessionCount {
 public:
  explicit SessionCount(const std::string& url) : connection_(PQconnectdb(url.c_str()), PQfinish) {
    if (PQstatus(connection_.get()) != CONNECTION_OK) die(PQerrorMessage(connection_.get()));
  }

  [[nodiscard]] int now() const {
    const std::unique_ptr<PGresult, void (*)(PGresult*)> answer(
        PQexec(connection_.get(),
               "SELECT count(*) FROM pg_stat_activity "
               "WHERE datname = current_database() AND pid <> pg_backend_pid()"),
        PQclear);
    if (PQntuples(answer.get()) != 1) die(PQerrorMessage(connection_.get()));
    return std::stoi(PQgetvalue(answer.get(), 0, 0));
  }

 private:
  std::unique_ptr<PGconn, void (*)(PGconn*)> connection_;
};

/// A worker with a store of its own, as each process has one.
std::jthread worker_on(const std::string& url, const std::string& queue) {
  return std::jthread([url, queue](const std::stop_token& stop) {
    auto store = Store::open(url);
    if (!store) die(store.error().message);
    Worker worker(*store, {.concurrency = jobs_at_once});
    worker.handle(queue, [](const Job&, JobContext&) { return Verdict::complete(); });
    if (auto ran = worker.run(stop); !ran) die(ran.error().message);
  });
}

/// The most sessions that were open at once while jobs kept coming.
int most_sessions(const Setting& setting, const Jobs& jobs, const std::string& queue) {
  const SessionCount sessions(setting.raw_url);
  const std::vector<NewJob> fresh(jobs_at_once, NewJob{.payload = "x"});
  int most = 0;
  for (const auto began = Steady::now(); Steady::now() - began < watched_for;) {
    if (auto added = jobs.enqueue(queue, fresh); !added) die(added.error().message);
    most = std::max(most, sessions.now());
  }
  return most;
}

}  // namespace

void measure_connections(const Setting& setting, const Record& record) {
  if (setting.raw_url.empty()) return;
  auto store = Store::open(setting.url, {.migrate = MigrateOnOpen::yes});
  if (!store) die(store.error().message);
  for (const int processes : {1, 4, 16}) {
    const auto queue = fmt::format("connections-{}", processes);
    const int own = SessionCount(setting.raw_url).now();
    std::vector<std::jthread> workers;
    for (int i = 0; i < processes; ++i) workers.push_back(worker_on(setting.url, queue));
    const int most = most_sessions(setting, store->jobs(), queue);
    record({.config = fmt::format("{} jobs at once each", jobs_at_once),
            .what = "connections",
            .store = setting.store,
            .durability = setting.durability,
            .numbers = {{"processes", processes}, {"connections", most - own}}});
  }
}

}  // namespace leasehold::bench
