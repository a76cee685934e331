// Measures speed in rounds: every series once per round, so that compared series were measured in the same minute on
// the same machine.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "leasehold/time.h"

namespace leasehold::bench {

/// Ends the program: a benchmark of a failing act measures nothing.
[[noreturn]] void die(std::string_view what);

/// Acts once, as the caller with this number. Returns whether it counts.
using Act = std::function<bool(int caller)>;

/// How often per second `callers` threads together perform `act`, measured for `span`.
double rate(int callers, Duration span, const Act& act);

/// One measurement of every round.
struct Series {
  std::string name;
  std::function<double(Duration span)> measure;
  std::vector<double> rounds{};
};

/// One series over another, with the project's goal for it.
struct Ratio {
  std::string name;
  std::string over;
  std::string under;
  std::optional<double> wanted;
};

double median(std::vector<double> values);

/// The median of the ratios of each round.
double ratio_of(const std::vector<Series>& all, const Ratio& ratio);

/// Every second round runs the list backwards: slow drifts then affect both sides alike.
void run_rounds(std::vector<Series>& all, int rounds, Duration span, const std::function<void(int done)>& progress);

}  // namespace leasehold::bench
