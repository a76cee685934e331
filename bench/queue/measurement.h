// One figure, as one line of JSON: the same form as bench/peers prints, so that all of them meet in one table.
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

/// The value below which this share of them lies.
double percentile(std::vector<double> values, double share);

}  // namespace leasehold::bench
