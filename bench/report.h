// The figures, for people and as JSON.
#pragma once

#include <string>
#include <vector>

#include "contender.h"
#include "measure.h"

namespace leasehold::bench {

/// Several rounds of contend() with one kind of contender.
struct FairnessRounds {
  std::string name;
  std::optional<double> wanted_share;
  std::vector<double> shares{};
  std::vector<double> longest_calls_ms{};
  std::vector<double> rates{};

  void add(const Fairness& seen);
};

struct Report {
  std::vector<Series> series;
  std::vector<Ratio> ratios;
  std::vector<FairnessRounds> fairness;
};

void print_tables(const Report& report);
void print_json(const Report& report);

/// Whether every figure reached its goal.
bool all_reached(const Report& report);

}  // namespace leasehold::bench
