// Measures schedules through leasehold beside raw SQL of the same durability, in one run. Started by
// `bench/run schedules`, which provides the folder and the PostgreSQL.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <deque>
#include <optional>
#include <vector>

#include "../leasehold_calls.h"
#include "../measure.h"
#include "../report.h"
#include "raw_schedules.h"
#include "schedule_calls.h"

namespace leasehold::bench {
namespace {

constexpr int many = 16;
/// So many of all that are due are looked for.
constexpr int page = 10;

struct Options {
  std::string folder, postgres_url, only;
  double seconds = 1;
  int rounds = 5;
  int schedules = 100'000;
  bool json = false;
  bool check = false;
};

/// All that is measured on one store: leasehold's calls, and raw connections, one per caller.
template <typename Raw>
class Bench {
 public:
  Bench(std::string store, const std::string& url, const std::string& raw_where, int schedules)
      : store_(std::move(store)), calls_(open_store(url), schedules, many) {
    for (int i = 0; i < many; ++i) raw_.emplace_back(raw_where, schedules, i, many);
  }

  void add_to(Report& report) {
    for (const int callers : {1, many}) {
      compare(report, callers, {"raw INSERT + UPDATEs", [this](int caller) { return raw(caller).take_and_end(); }},
              {{"acquire + finish", [this](int caller) { return calls_.acquire_and_finish(caller); }},
               {"cron acquire + release", [this](int caller) { return calls_.acquire_and_release_cron(caller); }}});
      compare(report, callers, {"raw SELECT", [this](int caller) { return raw(caller).look(); }},
              {{"acquire, not due", [this](int) { return calls_.acquire_not_due(); }},
               {"acquire, held", [this](int) { return calls_.acquire_held(); }}});
      compare(report, callers, {"raw SELECT by index", [this](int caller) { return raw(caller).find_due(page); }},
              {{fmt::format("find {} due", page), [this](int) { return calls_.find_due(page); }}});
    }
  }

 private:
  struct Subject {
    std::string what;
    Act act;
  };

  Raw& raw(int caller) { return raw_[static_cast<std::size_t>(caller)]; }

  void compare(Report& report, int callers, const Subject& raw, const std::vector<Subject>& ours) {
    const auto under = add(report, callers, raw);
    for (const auto& subject : ours) {
      const auto over = add(report, callers, subject);
      report.ratios.push_back({.name = over + " : " + raw.what, .over = over, .under = under, .wanted = {}});
    }
  }

  /// Gives the series' name.
  std::string add(Report& report, int callers, const Subject& subject) {
    const auto name = fmt::format("{} {}, {} caller{}", store_, subject.what, callers, callers == 1 ? "" : "s");
    report.series.push_back(
        {.name = name, .measure = [callers, act = subject.act](Duration span) { return rate(callers, span, act); }});
    return name;
  }

  std::string store_;
  ScheduleCalls calls_;
  std::deque<Raw> raw_;
};

Report measure_all(const Options& options) {
  const auto span = std::chrono::duration_cast<Duration>(std::chrono::duration<double>(options.seconds));
  Report report;
  std::optional<Bench<RawSqliteSchedules>> sqlite;
  std::optional<Bench<RawPostgresSchedules>> postgres;
  if (options.only != "postgresql") {
    sqlite.emplace("sqlite", "sqlite:" + options.folder + "/leasehold.db", options.folder + "/raw.db",
                   options.schedules);
    sqlite->add_to(report);
  }
  if (options.only != "sqlite") {
    postgres.emplace("postgresql", options.postgres_url, options.postgres_url, options.schedules);
    postgres->add_to(report);
  }
  run_rounds(report.series, options.rounds, span, [](int) {});
  return report;
}

int run(int argc, char** argv) {
  Options options;
  CLI::App app("Schedules through leasehold beside raw SQL of the same durability");
  app.add_option("--folder", options.folder, "An empty folder on the disk to measure")->required();
  app.add_option("--postgres", options.postgres_url, "URL of a PostgreSQL of its own")->required();
  app.add_option("--seconds", options.seconds, "Length of one measurement")->check(CLI::Range(0.05, 600.0));
  app.add_option("--rounds", options.rounds, "How often each is measured")->check(CLI::Range(1, 1000));
  app.add_option("--only", options.only, "One store")->check(CLI::IsMember({"sqlite", "postgresql"}));
  app.add_option("--schedules", options.schedules, "How many there are")->check(CLI::Range(many, 10'000'000));
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
