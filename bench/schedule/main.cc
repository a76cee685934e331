// Measures schedules through leasehold beside raw SQL of the same durability, in one run. `bench/run schedules` starts
// it, and provides the folder and the PostgreSQL.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <deque>

#include "../comparison.h"
#include "../leasehold_calls.h"
#include "raw_schedules.h"
#include "schedule_calls.h"

namespace leasehold::bench {
namespace {

constexpr int many = Comparison::many;
/// The number of due schedules to find.
constexpr int page = 10;

/// All measurements on one store: leasehold's calls, and raw connections, one per caller.
template <typename Raw>
class Bench {
 public:
  Bench(const std::string& url, const std::string& raw_where, int schedules)
      : calls_(open_store(url), schedules, many) {
    for (int i = 0; i < many; ++i) raw_.emplace_back(raw_where, schedules, i, many);
  }

  void add_to(Comparison comparison) {
    comparison.add(
        {"raw INSERT + UPDATEs", [this](int caller) { return raw(caller).take_and_end(); }},
        {{"acquire + complete", [this](int caller) { return calls_.acquire_and_complete(caller); }},
         {"cron acquire + release", [this](int caller) { return calls_.acquire_and_release_cron(caller); }}});
    comparison.add({"raw SELECT", [this](int caller) { return raw(caller).look(); }},
                   {{"acquire, not due", [this](int) { return calls_.acquire_not_due(); }},
                    {"acquire, held", [this](int) { return calls_.acquire_held(); }}});
    comparison.add({"raw SELECT by index", [this](int caller) { return raw(caller).find_due(page); }},
                   {{fmt::format("find {} due", page), [this](int) { return calls_.find_due(page); }}});
  }

 private:
  Raw& raw(int caller) { return raw_[static_cast<std::size_t>(caller)]; }

  ScheduleCalls calls_;
  std::deque<Raw> raw_;
};

int run(int argc, char** argv) {
  Options options;
  int schedules = 100'000;
  CLI::App app("Schedules through leasehold beside raw SQL of the same durability");
  options.add_to(app);
  app.add_option("--schedules", schedules, "How many there are")->check(CLI::Range(many, 10'000'000));
  CLI11_PARSE(app, argc, argv);
  options.need_places();
  return measure_on_both<Bench<RawSqliteSchedules>, Bench<RawPostgresSchedules>>(options, schedules);
}

}  // namespace
}  // namespace leasehold::bench

int main(int argc, char** argv) { return leasehold::bench::run(argc, argv); }
