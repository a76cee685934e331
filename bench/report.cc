#include "report.h"

#include <fmt/format.h>

#include <algorithm>

namespace leasehold::bench {
namespace {

bool reached(double seen, std::optional<double> wanted) { return !wanted || seen >= *wanted; }

std::string verdict(double seen, std::optional<double> wanted) {
  if (!wanted) return "";
  return fmt::format("{:>7.2f}  {}", *wanted, reached(seen, wanted) ? "ok" : "below");
}

std::string wanted_json(std::optional<double> wanted) { return wanted ? fmt::format("{}", *wanted) : "null"; }

double longest(const FairnessRounds& rounds) {
  return rounds.longest_calls_ms.empty()
             ? 0
             : *std::max_element(rounds.longest_calls_ms.begin(), rounds.longest_calls_ms.end());
}

/// The items as JSON, each encoded by `encode`.
template <typename Items, typename Encode>
std::string json_list(const Items& items, Encode encode) {
  std::string list;
  for (const auto& item : items) list += (list.empty() ? "\n    " : ",\n    ") + encode(item);
  return list;
}

void print_fairness(const std::vector<FairnessRounds>& all) {
  fmt::print("\n{:<40}{:>12}{:>20}{:>10}{:>9}\n", "four processes, one SQLite file, FULL", "cycles/s",
             "longest call, ms", "share", "wanted");
  for (const auto& rounds : all) {
    const auto share = median(rounds.shares);
    fmt::print("  {:<38}{:>12.0f}{:>20.0f}{:>10.2f}  {}\n", rounds.name, median(rounds.rates), longest(rounds), share,
               verdict(share, rounds.wanted_share));
  }
  fmt::print("  share: cycles of the unluckiest process over the mean of the four\n");
}

}  // namespace

void FairnessRounds::add(const Fairness& seen) {
  shares.push_back(seen.unluckiest_share);
  longest_calls_ms.push_back(std::chrono::duration<double, std::milli>(seen.longest_call).count());
  rates.push_back(seen.cycles_per_second);
}

void print_tables(const Report& report) {
  fmt::print("per second, median of the rounds\n");
  for (const auto& one : report.series) fmt::print("  {:<72}{:>8.0f}\n", one.name, median(one.rounds));
  fmt::print("\n{:<74}{:>8}{:>9}\n", "ratios, median of each round's", "seen", "wanted");
  for (const auto& ratio : report.ratios) {
    const auto seen = ratio_of(report.series, ratio);
    fmt::print("  {:<72}{:>8.2f}  {}\n", ratio.name, seen, verdict(seen, ratio.wanted));
  }
  if (!report.fairness.empty()) print_fairness(report.fairness);
}

void print_json(const Report& report) {
  const auto series = json_list(report.series, [](const Series& one) {
    return fmt::format(R"({{"name": "{}", "per_second": {:.1f}}})", one.name, median(one.rounds));
  });
  const auto ratios = json_list(report.ratios, [&](const Ratio& ratio) {
    const auto seen = ratio_of(report.series, ratio);
    return fmt::format(R"({{"name": "{}", "seen": {:.3f}, "wanted": {}, "reached": {}}})", ratio.name, seen,
                       wanted_json(ratio.wanted), reached(seen, ratio.wanted));
  });
  const auto fairness = json_list(report.fairness, [](const FairnessRounds& rounds) {
    const auto share = median(rounds.shares);
    return fmt::format(
        R"({{"name": "{}", "share": {:.3f}, "longest_call_ms": {:.1f}, "per_second": {:.1f}, "wanted": {}, "reached": {}}})",
        rounds.name, share, longest(rounds), median(rounds.rates), wanted_json(rounds.wanted_share),
        reached(share, rounds.wanted_share));
  });
  fmt::print("{{\n  \"series\": [{}],\n  \"ratios\": [{}],\n  \"four_processes\": [{}]\n}}\n", series, ratios,
             fairness);
}

bool all_reached(const Report& report) {
  return std::all_of(report.ratios.begin(), report.ratios.end(),
                     [&](const Ratio& ratio) { return reached(ratio_of(report.series, ratio), ratio.wanted); }) &&
         std::all_of(report.fairness.begin(), report.fairness.end(),
                     [](const FairnessRounds& rounds) { return reached(median(rounds.shares), rounds.wanted_share); });
}

}  // namespace leasehold::bench
