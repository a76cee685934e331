#include "sim/shrink.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

namespace leasehold::sim {
namespace {

class Shrinker {
 public:
  Shrinker(Report failing, int max, const std::function<void(const Report&)>& tell)
      : smallest_(std::move(failing)), left_(max), tell_(tell) {}

  Report go() {
    bool smaller = true;
    while (smaller && left_ > 0) {
      smaller = cut_steps();
      smaller = fewer_clients() || smaller;
      smaller = fewer_faults() || smaller;
      smaller = fewer_features() || smaller;
      smaller = fewer_acts() || smaller;
    }
    return std::move(smallest_);
  }

 private:
  /// Keeps the run if it breaks the same invariant.
  bool try_run(const RunOptions& options) {
    if (left_-- <= 0) return false;
    auto report = run(options);
    if (!report.violation || report.violation->invariant != smallest_.violation->invariant) return false;
    smallest_ = std::move(report);
    tell_(smallest_);
    return true;
  }

  /// The acts after the violation are not needed.
  bool cut_steps() {
    auto options = smallest_.options;
    if (options.steps <= smallest_.steps) return false;
    options.steps = smallest_.steps;
    return try_run(options);
  }

  bool fewer_clients() {
    auto options = smallest_.options;
    if (options.clients <= 2) return false;
    --options.clients;
    return try_run(options);
  }

  bool fewer_faults() {
    bool smaller = false;
    for (const auto fault : all_faults) {
      auto options = smallest_.options;
      if (options.faults.erase(fault) == 1) smaller = try_run(options) || smaller;
    }
    return smaller;
  }

  bool fewer_features() {
    bool smaller = false;
    for (const auto feature : all_features) {
      auto options = smallest_.options;
      if (options.features.size() == 1 || options.features.erase(feature) == 0) continue;
      smaller = try_run(options) || smaller;
    }
    return smaller;
  }

  /// Spans of acts, from half of them down to single ones.
  bool fewer_acts() {
    bool smaller = false;
    for (auto span = smallest_.acts / 2; span >= 1; span /= 2) {
      for (std::int64_t from = 1; from <= smallest_.acts && left_ > 0; from += span) {
        auto options = smallest_.options;
        const auto before = options.dropped.size();
        for (auto act = from; act < from + span; ++act) options.dropped.insert(act);
        if (options.dropped.size() > before) smaller = try_run(options) || smaller;
      }
    }
    return smaller;
  }

  Report smallest_;
  int left_;
  const std::function<void(const Report&)>& tell_;
};

/// "3,7-9".
std::string spans_of(const std::set<std::int64_t>& numbers) {
  std::string text;
  for (auto at = numbers.begin(); at != numbers.end();) {
    const auto from = *at;
    auto to = from;
    while (++at != numbers.end() && *at == to + 1) to = *at;
    text += fmt::format("{}{}", text.empty() ? "" : ",", from);
    if (to > from) text += fmt::format("-{}", to);
  }
  return text;
}

}  // namespace

Report shrink(Report failing, int max, const std::function<void(const Report&)>& tell) {
  return Shrinker(std::move(failing), max, tell).go();
}

std::string arguments_of(const RunOptions& options) {
  auto text = fmt::format("--seed {} --steps {} --run-steps {} --clients {}", options.seed, options.steps,
                          options.steps, options.clients);
  if (options.features.size() < all_features.size()) {
    for (const auto feature : options.features) text += fmt::format(" --feature {}", to_string(feature));
  }
  for (const auto fault : all_faults) {
    if (!options.faults.contains(fault)) text += fmt::format(" --no-{}", to_string(fault));
  }
  if (!options.fenced) text += " --unfenced";
  if (!options.dropped.empty()) text += " --drop " + spans_of(options.dropped);
  return text;
}

}  // namespace leasehold::sim
