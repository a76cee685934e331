// Measures locks through leasehold beside raw SQL of the same durability, in one run. Started by bench/run, which
// provides the folder and the PostgreSQL.
#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <deque>

#include "contender.h"
#include "leasehold_calls.h"
#include "measure.h"
#include "raw_postgres.h"
#include "raw_sqlite.h"
#include "report.h"

namespace leasehold::bench {
namespace {

constexpr int many = 16;

struct Options {
  std::string folder, postgres_url, only;
  double seconds = 1;
  int rounds = 5;
  bool json = false;
  bool check = false;
  // For copies of this program, see contender.h.
  std::string contender, sqlite_path;
  int number = 0;
  std::int64_t start = 0, span = 0;
};

/// All that is measured on one store: leasehold's calls, and raw connections, one per caller.
template <typename Raw>
class Bench {
 public:
  Bench(std::string store, LeaseholdCalls& calls, std::deque<Raw>& raw)
      : store_(std::move(store)), calls_(calls), raw_(raw) {}

  void add_to(std::vector<Series>& all) {
    for (const int callers : {1, many}) {
      add(all, "lock cycle", callers, [this](int caller) { return calls_.cycle(caller); });
      add(all, "raw UPDATE pair", callers, [this](int caller) { return connection(caller).pair(); });
      add(all, "heartbeat", callers, [this](int caller) { return calls_.heartbeat(caller); });
      add(all, "raw UPDATE", callers, [this](int caller) { return connection(caller).single(); });
    }
    add(all, "lock cycle, shared names", many, [this](int caller) { return calls_.shared_cycle(caller); });
  }

 private:
  Raw& connection(int caller) { return raw_[static_cast<std::size_t>(caller)]; }

  void add(std::vector<Series>& all, const std::string& what, int callers, const Act& act) {
    all.push_back({.name = fmt::format("{} {}, {} caller{}", store_, what, callers, callers == 1 ? "" : "s"),
                   .measure = [this, callers, act](Duration span) {
                     const auto seen = rate(callers, span, act);
                     calls_.release_all();
                     return seen;
                   }});
  }

  std::string store_;
  LeaseholdCalls& calls_;
  std::deque<Raw>& raw_;
};

/// One over the other, by the names that Bench gives.
Ratio ratio(const std::string& store, const std::string& over, const std::string& under,
            std::optional<double> wanted = {}) {
  return {.name = fmt::format("{} {} : {}", store, over, under),
          .over = fmt::format("{} {}", store, over),
          .under = fmt::format("{} {}", store, under),
          .wanted = wanted};
}

std::vector<Ratio> ratios_of(const std::string& store, std::optional<double> cycle, std::optional<double> cycle_of_many,
                             std::optional<double> many_over_one) {
  return {ratio(store, "lock cycle, 1 caller", "raw UPDATE pair, 1 caller", cycle),
          ratio(store, "lock cycle, 16 callers", "raw UPDATE pair, 16 callers", cycle_of_many),
          ratio(store, "lock cycle, 16 callers", "lock cycle, 1 caller", many_over_one),
          ratio(store, "lock cycle, shared names, 16 callers", "lock cycle, 16 callers"),
          ratio(store, "heartbeat, 1 caller", "raw UPDATE, 1 caller"),
          ratio(store, "heartbeat, 16 callers", "raw UPDATE, 16 callers"),
          ratio(store, "heartbeat, 16 callers", "heartbeat, 1 caller")};
}

template <typename Raw>
std::deque<Raw> raw_connections(const std::string& where) {
  std::deque<Raw> raw;
  for (int i = 0; i < many; ++i) raw.emplace_back(where, fmt::format("bench-{}", i));
  return raw;
}

void show_progress(int done, std::size_t all) {
  if (isatty(STDERR_FILENO) == 0) return;
  fmt::print(stderr, "\r{:3d}%{}", static_cast<std::size_t>(done) * 100 / all,
             static_cast<std::size_t>(done) == all ? "\r    \r" : "");
}

bool wants(const Options& options, std::string_view store) { return options.only.empty() || options.only == store; }

void contend_in_rounds(const Options& options, Duration span, Report& report) {
  FairnessRounds ours{.name = "leasehold lock cycle", .wanted_share = 0.7};
  FairnessRounds raw{.name = "raw UPDATE pair, busy_timeout"};
  for (int round = 0; round < options.rounds; ++round) {
    ours.add(contend("leasehold", options.folder + "/fair.db", 4, span));
    raw.add(contend("raw", options.folder + "/fair-raw.db", 4, span));
  }
  report.fairness = {ours, raw};
}

Report measure_all(const Options& options) {
  const auto span = std::chrono::duration_cast<Duration>(std::chrono::duration<double>(options.seconds));
  Report report;
  LeaseholdCalls sqlite_calls(open_store("sqlite:" + options.folder + "/leasehold.db"), many);
  auto sqlite_raw = raw_connections<RawSqlite>(options.folder + "/raw.db");
  Bench sqlite("sqlite", sqlite_calls, sqlite_raw);
  LeaseholdCalls postgres_calls(open_store(options.postgres_url), many);
  auto postgres_raw = raw_connections<RawPostgres>(options.postgres_url);
  Bench postgres("postgresql", postgres_calls, postgres_raw);
  if (wants(options, "sqlite")) {
    sqlite.add_to(report.series);
    report.ratios = ratios_of("sqlite", 0.6, {}, 4.0);
  }
  if (wants(options, "postgresql")) {
    postgres.add_to(report.series);
    const auto ratios = ratios_of("postgresql", 0.7, 0.5, {});
    report.ratios.insert(report.ratios.end(), ratios.begin(), ratios.end());
  }
  const auto steps = report.series.size() * static_cast<std::size_t>(options.rounds);
  run_rounds(report.series, options.rounds, span, [&](int done) { show_progress(done, steps); });
  if (wants(options, "sqlite")) contend_in_rounds(options, span, report);
  return report;
}

int run(int argc, char** argv) {
  Options options;
  CLI::App app("Locks through leasehold beside raw SQL of the same durability");
  app.add_option("--folder", options.folder, "An empty folder on the disk to measure");
  app.add_option("--postgres", options.postgres_url, "URL of a PostgreSQL of its own");
  app.add_option("--seconds", options.seconds, "Length of one measurement")->check(CLI::Range(0.05, 600.0));
  app.add_option("--rounds", options.rounds, "How often each is measured")->check(CLI::Range(1, 1000));
  app.add_option("--only", options.only, "One store")->check(CLI::IsMember({"sqlite", "postgresql"}));
  app.add_flag("--json", options.json, "JSON instead of tables");
  app.add_flag("--check", options.check, "Exit 1 when a figure is below what is wanted");
  app.add_option("--contender", options.contender)->group("");
  app.add_option("--sqlite", options.sqlite_path)->group("");
  app.add_option("--number", options.number)->group("");
  app.add_option("--start", options.start)->group("");
  app.add_option("--span", options.span)->group("");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : 2;
  }
  if (!options.contender.empty()) {
    return be_contender(options.contender, options.sqlite_path, options.number, BootTime(Duration(options.start)),
                        Duration(options.span));
  }
  if (options.folder.empty() || options.postgres_url.empty()) die("needs --folder and --postgres: use bench/run");
  const auto report = measure_all(options);
  options.json ? print_json(report) : print_tables(report);
  return options.check && !all_reached(report) ? 1 : 0;
}

}  // namespace
}  // namespace leasehold::bench

int main(int argc, char** argv) { return leasehold::bench::run(argc, argv); }
