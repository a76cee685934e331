// How fast something is, seen in rounds: every series once per round, so that what is compared was measured in the
// same minute of the same machine.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "leasehold/time.h"

namespace leasehold::bench {

/// Ends the program: a benchmark of something that fails measures nothing.
[[noreturn]] void die(std::string_view what);

/// Does the thing once, as the caller with this number. Gives whether it counts.
using Act = std::function<bool(int caller)>;

/// How often per second `callers` threads together do `act`, tried for `span`.
double rate(int callers, Duration span, const Act& act);

/// One thing that is measured in every round.
struct Series {
  std::string name;
  std::function<double(Duration span)> measure;
  std::vector<double> rounds{};
};

/// One series over another, with what the project wants of it.
struct Ratio {
  std::string name;
  std::string over;
  std::string under;
  std::optional<double> wanted;
};

double median(std::vector<double> values);

/// The median of the ratios of each round.
double ratio_of(const std::vector<Series>& all, const Ratio& ratio);

/// Every second round goes through the list backwards: what drifts slowly then hits both sides alike.
void run_rounds(std::vector<Series>& all, int rounds, Duration span, const std::function<void(int done)>& progress);

}  // namespace leasehold::bench
