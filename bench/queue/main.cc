// Measures the queue: one line of JSON per figure. bench/queues starts it, and provides folder and PostgreSQL.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <filesystem>

#include "scenarios.h"

namespace leasehold::bench {
namespace {

struct Scenario {
  std::string_view name;
  void (*measure)(const Setting&, const Record&);
};

constexpr Scenario scenarios[] = {
    {"enqueue", measure_enqueue},
    {"bulk", measure_bulk},
    {"batches", measure_batches},
    {"callers", measure_callers},
    {"groups", measure_groups},
    {"limits", measure_limits},
    {"one_by_one", measure_one_by_one},
    {"worker", measure_worker},
    {"start_latency", measure_start_latency},
    {"healing", measure_healing},
    {"old_snapshot", measure_old_snapshot},
    {"backlog", measure_backlog},
    {"connections", measure_connections},
};

void measure_store(const Setting& setting) {
  for (const auto& scenario : scenarios) {
    for (int round = 0; round < setting.rounds; ++round) {
      if (setting.only.empty() || setting.only == scenario.name) scenario.measure(setting, print);
    }
  }
}

}  // namespace
}  // namespace leasehold::bench

int main(int argc, char** argv) {
  using namespace leasehold::bench;
  CLI::App app("Measures the queue, one line of JSON per figure");
  std::string folder, postgres, batch_worker, queue, store;
  Setting setting;
  app.add_option("--folder", folder, "where the SQLite files go");
  app.add_option("--postgres", postgres, "URL of a PostgreSQL server");
  app.add_option("--jobs", setting.jobs, "jobs to work off");
  app.add_option("--backlog", setting.biggest_backlog, "the biggest backlog, up to 10000000");
  app.add_option("--rounds", setting.rounds, "how often each is measured");
  app.add_option("--only", setting.only, "one scenario");
  app.add_option("--store", store, "postgresql, sqlite-full or sqlite-normal; all if not given");
  app.add_option("--batch-worker", batch_worker)->group("");
  app.add_option("--queue", queue)->group("");
  CLI11_PARSE(app, argc, argv);
  if (!batch_worker.empty()) return be_batch_worker(batch_worker, queue);

  if (!postgres.empty() && (store.empty() || store == "postgresql")) {
    auto on_postgres = setting;
    on_postgres.url = on_postgres.raw_url = postgres;
    on_postgres.store = "postgresql";
    on_postgres.durability = "fsync=on, synchronous_commit=on";
    measure_store(on_postgres);
  }
  for (const auto* synchronous : {"full", "normal"}) {
    if (!store.empty() && store != fmt::format("sqlite-{}", synchronous)) continue;
    auto on_file = setting;
    on_file.url = fmt::format("sqlite:{}/queue-{}.db?synchronous={}", folder, synchronous, synchronous);
    on_file.store = "sqlite";
    on_file.durability = fmt::format("WAL, synchronous={}", synchronous);
    measure_store(on_file);
  }
  return 0;
}
