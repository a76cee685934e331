// Measures locks through leasehold beside raw SQL of the same durability, in one run. bench/run starts it, and provides
// the folder and the PostgreSQL.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <deque>

#include "comparison.h"
#include "contender.h"
#include "leasehold_calls.h"
#include "measure.h"
#include "raw_lock.h"
#include "report.h"

namespace leasehold::bench {
namespace {

constexpr int many = Comparison::many;

/// For copies of this program, see contender.h.
struct ContenderOptions {
  std::string kind, sqlite_path;
  int number = 0;
  std::int64_t start = 0, span = 0;

  void add_to(CLI::App& app) {
    app.add_option("--contender", kind)->group("");
    app.add_option("--sqlite", sqlite_path)->group("");
    app.add_option("--number", number)->group("");
    app.add_option("--start", start)->group("");
    app.add_option("--span", span)->group("");
  }
};

/// All measurements on one store: leasehold's calls, and raw connections, one per caller.
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

/// One series over another, by the names from Bench.
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

void contend_in_rounds(const Options& options, Report& report) {
  FairnessRounds ours{.name = "leasehold lock cycle", .wanted_share = 0.7};
  FairnessRounds raw{.name = "raw UPDATE pair, busy_timeout"};
  for (int round = 0; round < options.rounds; ++round) {
    ours.add(contend("leasehold", options.folder + "/fair.db", 4, options.span()));
    raw.add(contend("raw", options.folder + "/fair-raw.db", 4, options.span()));
  }
  report.fairness = {ours, raw};
}

int measure_all(const Options& options) {
  Report report;
  LeaseholdCalls sqlite_calls(open_store("sqlite:" + options.folder + "/leasehold.db"), many);
  auto sqlite_raw = raw_connections<RawSqlite>(options.folder + "/raw.db");
  Bench sqlite("sqlite", sqlite_calls, sqlite_raw);
  LeaseholdCalls postgres_calls(open_store(options.postgres_url), many);
  auto postgres_raw = raw_connections<RawPostgres>(options.postgres_url);
  Bench postgres("postgresql", postgres_calls, postgres_raw);
  if (options.wants("sqlite")) {
    sqlite.add_to(report.series);
    report.ratios = ratios_of("sqlite", 0.6, {}, 4.0);
    contend_in_rounds(options, report);
  }
  if (options.wants("postgresql")) {
    postgres.add_to(report.series);
    const auto ratios = ratios_of("postgresql", 0.7, 0.5, {});
    report.ratios.insert(report.ratios.end(), ratios.begin(), ratios.end());
  }
  return measure(report, options);
}

int run(int argc, char** argv) {
  Options options;
  ContenderOptions contender;
  CLI::App app("Locks through leasehold beside raw SQL of the same durability");
  options.add_to(app);
  contender.add_to(app);
  CLI11_PARSE(app, argc, argv);
  if (!contender.kind.empty()) {
    return be_contender(contender.kind, contender.sqlite_path, contender.number, BootTime(Duration(contender.start)),
                        Duration(contender.span));
  }
  options.need_places();
  return measure_all(options);
}

}  // namespace
}  // namespace leasehold::bench

int main(int argc, char** argv) { return leasehold::bench::run(argc, argv); }
