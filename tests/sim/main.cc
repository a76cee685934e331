// leasehold-sim: see arguments.cc for its options and README.md for what it does.
#include <fmt/format.h>

#include <chrono>
#include <cstdio>
#include <fstream>
#include <random>

#include "sim/arguments.h"
#include "sim/campaign.h"
#include "sim/shrink.h"
#include "sim/svg.h"

namespace leasehold::sim {
namespace {

constexpr int most_tries = 400;
constexpr std::size_t last_lines = 40;
constexpr std::int64_t drawn_steps = 300;

void print_lines(const Report& report, std::size_t max) {
  const auto& lines = report.notes.lines();
  for (std::size_t i = lines.size() > max ? lines.size() - max : 0; i < lines.size(); ++i) {
    fmt::print("{}\n", lines[i]);
  }
}

void print_violation(const Report& report) {
  fmt::print("\nVIOLATION of {} with seed {} at step {}\n{}\n", report.violation->invariant, report.options.seed,
             report.steps, report.violation->what);
  fmt::print("\nthe last of what happened (step, time, process):\n");
  print_lines(report, last_lines);
  fmt::print("\nagain: leasehold-sim {}\n", arguments_of(report.options));
}

std::int64_t acts_played(const Report& report) {
  const auto& dropped = report.options.dropped;
  return report.acts - std::distance(dropped.begin(), dropped.upper_bound(report.acts));
}

Report made_small(Report report) {
  auto smallest = shrink(std::move(report), most_tries, [](const Report& smaller) {
    fmt::print(stderr, "smaller: {} steps, {} clients, {} acts\n", smaller.steps, smaller.options.clients,
               acts_played(smaller));
  });
  fmt::print("\nmade small:\n");
  print_violation(smallest);
  return smallest;
}

bool write_file(const std::string& path, const std::string& text) {
  std::ofstream file(path, std::ios::binary);
  file << text;
  return static_cast<bool>(file.flush());
}

int simulate(Arguments arguments) {
  if (!arguments.seed_given) arguments.run.seed = std::random_device{}();
  if (!arguments.json) fmt::print("seed {}\n", arguments.run.seed);
  std::fflush(stdout);
  const auto steps = arguments.replay ? arguments.run.steps : arguments.steps;
  const auto began = std::chrono::steady_clock::now();
  auto campaign = run_many(arguments.run, steps, [](const Campaign&) {});
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - began;
  auto& report = *campaign.last;
  if (arguments.replay) print_lines(report, report.notes.lines().size());
  fmt::print("{}\n", arguments.json ? as_json(campaign, took.count()) : summary(campaign, took.count()));
  const bool failed = campaign.failed();
  if (failed && !arguments.json) print_violation(report);
  if (failed && arguments.shrink) report = made_small(std::move(report));
  if (!failed && !arguments.json) fmt::print("no violation\n");
  if (!arguments.svg.empty() && !write_file(arguments.svg, timeline_svg(report, drawn_steps))) {
    fmt::print(stderr, "leasehold-sim: cannot write {}\n", arguments.svg);
    return 2;
  }
  return failed ? 1 : 0;
}

}  // namespace
}  // namespace leasehold::sim

int main(int argc, char** argv) {
  using namespace leasehold::sim;
  const auto arguments = parse_arguments({argv + 1, static_cast<std::size_t>(argc - 1)});
  if (!arguments) {
    fmt::print(stderr, "leasehold-sim: {}\n\n{}", arguments.error().message, usage);
    return 2;
  }
  if (arguments->help) {
    fmt::print("{}", usage);
    return 0;
  }
  return simulate(*arguments);
}
