// What makes a claim slower: a backlog, a snapshot that is held open, and leases that expire at once.
#include <fmt/format.h>
#include <libpq-fe.h>

#include <memory>
#include <thread>

#include "jobs.h"
#include "scenarios.h"

namespace leasehold::bench {

using namespace std::chrono_literals;

void measure_backlog(const Setting& setting, const Record& record) {
  const auto jobs = open(setting).jobs();
  int waiting = 0;
  const auto queue = fresh_queue("backlog");
  for (const int backlog : {1'000, 100'000, 1'000'000, 10'000'000}) {
    if (backlog > setting.biggest_backlog) break;
    fill(jobs, queue, backlog - waiting);
    waiting = backlog - 300;
    record({.config = fmt::format("{} waiting", backlog),
            .what = "claim_cost",
            .store = setting.store,
            .durability = setting.durability,
            .numbers = {{"backlog", backlog}, {"median_us", median_claim(jobs, queue, 300)}}});
  }
  const auto leased = fresh_queue("leased");
  fill(jobs, leased, 101'000);
  for (int i = 0; i < 100; ++i) need(jobs.claim(leased, {.max = batch, .ttl = 1h}));
  record({.config = "100000 leased ahead",
          .what = "claim_cost",
          .store = setting.store,
          .durability = setting.durability,
          .numbers = {{"backlog", 1000}, {"median_us", median_claim(jobs, leased, 300)}}});
}

void measure_old_snapshot(const Setting& setting, const Record& record) {
  if (setting.raw_url.empty()) return;
  const auto jobs = open(setting).jobs();
  const auto queue = fresh_queue("snapshot");
  fill(jobs, queue, 202'000);
  const std::unique_ptr<PGconn, void (*)(PGconn*)> holder(PQconnectdb(setting.raw_url.c_str()), PQfinish);
  PQclear(PQexec(holder.get(), "BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT 1 FROM pg_class LIMIT 1"));
  const auto rate_of = [&](int times) {
    const auto began = Steady::now();
    for (int i = 0; i < times; ++i) claim_and_complete(jobs, queue);
    return times / seconds_since(began);
  };
  const auto before = rate_of(1000);
  for (int done = 0; done < 200'000; done += batch) {
    const auto grant = need(jobs.claim(queue, {.max = batch, .ttl = 60s}));
    std::vector<Settlement> verdicts;
    for (const auto& job : grant.jobs) verdicts.push_back({.id = job.id, .token = job.token});
    need(jobs.settle(verdicts));
  }
  const auto after = rate_of(1000);
  PQclear(PQexec(holder.get(), "COMMIT"));
  record({.config = "a snapshot held open for 200000 jobs",
          .what = "old_snapshot",
          .store = setting.store,
          .durability = setting.durability,
          .numbers = {{"before_per_second", before}, {"after_per_second", after}, {"ratio", after / before}}});
}

void measure_healing(const Setting& setting, const Record& record) {
  const auto jobs = open(setting).jobs();
  const auto queue = fresh_queue("fleet");
  fill(jobs, queue, 3000);
  const auto before = median_claim(jobs, queue, 300);
  for (int i = 0; i < 1000; ++i) need(jobs.claim(queue, {.ttl = 2s}));
  std::this_thread::sleep_for(2s);
  std::vector<double> micros;
  for (int i = 0; i < 300; ++i) {
    const auto began = Steady::now();
    const auto grant = need(jobs.claim(queue, {.ttl = 10min}));
    micros.push_back(micros_since(began));
    need(jobs.complete(grant.jobs[0].id, grant.token));
  }
  record({.config = "1000 leases expire at once",
          .what = "healing",
          .store = setting.store,
          .durability = setting.durability,
          .numbers = {
              {"before_us", before}, {"median_us", percentile(micros, 0.5)}, {"worst_us", percentile(micros, 1)}}});
}

}  // namespace leasehold::bench
