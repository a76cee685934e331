#include "comparison.h"

#include <fmt/format.h>
#include <unistd.h>

#include <chrono>

namespace leasehold::bench {
namespace {

void show_progress(std::size_t done, std::size_t all) {
  if (isatty(STDERR_FILENO) == 0) return;
  fmt::print(stderr, "\r{:3d}%{}", done * 100 / all, done == all ? "\r    \r" : "");
}

}  // namespace

void Options::add_to(CLI::App& app) {
  app.add_option("--folder", folder, "An empty folder on the disk to measure");
  app.add_option("--postgres", postgres_url, "URL of a PostgreSQL of its own");
  app.add_option("--seconds", seconds, "Length of one measurement")->check(CLI::Range(0.05, 600.0));
  app.add_option("--rounds", rounds, "How often each is measured")->check(CLI::Range(1, 1000));
  app.add_option("--only", only, "One store")->check(CLI::IsMember({"sqlite", "postgresql"}));
  app.add_flag("--json", json, "JSON instead of tables");
  app.add_flag("--check", check, "Exit 1 when a figure is below what is wanted");
}

void Options::need_places() const {
  if (folder.empty() || postgres_url.empty()) die("needs --folder and --postgres: use bench/run");
}

Duration Options::span() const { return std::chrono::duration_cast<Duration>(std::chrono::duration<double>(seconds)); }

void Comparison::add(const Subject& raw, const std::vector<Subject>& ours) {
  for (const int callers : {1, many}) {
    const auto under = add_series(callers, raw);
    for (const auto& subject : ours) {
      const auto over = add_series(callers, subject);
      report_.ratios.push_back({.name = over + " : " + raw.what, .over = over, .under = under, .wanted = {}});
    }
  }
}

std::string Comparison::add_series(int callers, const Subject& subject) {
  auto name = fmt::format("{} {}, {} caller{}", store_, subject.what, callers, callers == 1 ? "" : "s");
  report_.series.push_back({.name = name, .measure = [callers, subject](Duration span) {
                              subject.prepare();
                              return rate(callers, span, subject.act);
                            }});
  return name;
}

int measure(Report& report, const Options& options) {
  const auto steps = report.series.size() * static_cast<std::size_t>(options.rounds);
  run_rounds(report.series, options.rounds, options.span(),
             [&](int done) { show_progress(static_cast<std::size_t>(done), steps); });
  options.json ? print_json(report) : print_tables(report);
  return options.check && !all_reached(report) ? 1 : 0;
}

}  // namespace leasehold::bench
