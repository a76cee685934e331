// Measures chunks and rate limits through leasehold beside raw SQL of the same durability, in one run. Started by
// `bench/run chunks`, which provides the folder and the PostgreSQL.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <deque>
#include <functional>

#include "../leasehold_calls.h"
#include "../measure.h"
#include "../raw_postgres.h"
#include "../raw_sqlite.h"
#include "../report.h"
#include "chunk_calls.h"

namespace leasehold::bench {
namespace {

constexpr int many = 16;

struct Options {
  std::string folder, postgres_url, only;
  double seconds = 1;
  int rounds = 5;
  bool json = false;
  bool check = false;
};

/// All that is measured on one store: leasehold's calls, and raw connections, one per caller.
template <typename Raw>
class Bench {
 public:
  Bench(std::string store, const std::string& url, const std::string& raw_where)
      : store_(std::move(store)), calls_(open_store(url)) {
    for (int i = 0; i < many; ++i) raw_.emplace_back(raw_where, fmt::format("bench-{}", i));
  }

  void add_to(Report& report) {
    for (const int callers : {1, many}) {
      const auto cycle = add(
          report, "chunk claim + save + complete", callers, [this](int) { return calls_.cycle(); },
          [this] { calls_.plan_anew(); });
      const auto three = add(report, "three raw UPDATEs", callers,
                             [this](int caller) { return raw(caller).pair() && raw(caller).single(); });
      const auto turn = add(report, "limit take", callers, [this](int) { return calls_.take_turn(); });
      const auto one = add(report, "raw UPDATE", callers, [this](int caller) { return raw(caller).single(); });
      report.ratios.push_back({.name = cycle + " : three raw UPDATEs", .over = cycle, .under = three, .wanted = {}});
      report.ratios.push_back({.name = turn + " : raw UPDATE", .over = turn, .under = one, .wanted = {}});
    }
  }

 private:
  Raw& raw(int caller) { return raw_[static_cast<std::size_t>(caller)]; }

  /// Gives the series' name. What `prepare` does is not measured.
  std::string add(
      Report& report, const std::string& what, int callers, const Act& act,
      const std::function<void()>& prepare = [] {}) {
    const auto name = fmt::format("{} {}, {} caller{}", store_, what, callers, callers == 1 ? "" : "s");
    report.series.push_back({.name = name, .measure = [callers, act, prepare](Duration span) {
                               prepare();
                               return rate(callers, span, act);
                             }});
    return name;
  }

  std::string store_;
  ChunkCalls calls_;
  std::deque<Raw> raw_;
};

Report measure_all(const Options& options) {
  const auto span = std::chrono::duration_cast<Duration>(std::chrono::duration<double>(options.seconds));
  Report report;
  Bench<RawSqlite> sqlite("sqlite", "sqlite:" + options.folder + "/leasehold.db", options.folder + "/raw.db");
  Bench<RawPostgres> postgres("postgresql", options.postgres_url, options.postgres_url);
  if (options.only != "postgresql") sqlite.add_to(report);
  if (options.only != "sqlite") postgres.add_to(report);
  run_rounds(report.series, options.rounds, span, [](int) {});
  return report;
}

int run(int argc, char** argv) {
  Options options;
  CLI::App app("Chunks and rate limits through leasehold beside raw SQL of the same durability");
  app.add_option("--folder", options.folder, "An empty folder on the disk to measure")->required();
  app.add_option("--postgres", options.postgres_url, "URL of a PostgreSQL of its own")->required();
  app.add_option("--seconds", options.seconds, "Length of one measurement")->check(CLI::Range(0.05, 600.0));
  app.add_option("--rounds", options.rounds, "How often each is measured")->check(CLI::Range(1, 1000));
  app.add_option("--only", options.only, "One store")->check(CLI::IsMember({"sqlite", "postgresql"}));
  app.add_flag("--json", options.json, "JSON instead of tables");
  app.add_flag("--check", options.check, "Exit 1 when a figure is below what is wanted");
  CLI11_PARSE(app, argc, argv);
  const auto report = measure_all(options);
  options.json ? print_json(report) : print_tables(report);
  return options.check && !all_reached(report) ? 1 : 0;
}

}  // namespace
}  // namespace leasehold::bench

int main(int argc, char** argv) { return leasehold::bench::run(argc, argv); }
