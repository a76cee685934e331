// One figure as one line of JSON, in the format of bench/peers, so that all fit into one table.
#pragma once

#include <map>
#include <string>
#include <vector>

namespace leasehold::bench {

struct Measurement {
  std::string peer = "leasehold";
  std::string config;  ///< "batches of 1000"
  std::string what;    ///< enqueue_single, enqueue_bulk, work_off, ...
  std::string store;   ///< postgresql or sqlite
  std::string durability;
  std::map<std::string, double> numbers;
};

void print(const Measurement& measurement);

/// The value below which this share of the values lies.
double percentile(std::vector<double> values, double share);

}  // namespace leasehold::bench
