#include "measurement.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>

namespace leasehold::bench {

void print(const Measurement& measurement) {
  auto line = fmt::format(R"({{"peer":"{}","config":"{}","what":"{}","store":"{}","durability":"{}")", measurement.peer,
                          measurement.config, measurement.what, measurement.store, measurement.durability);
  for (const auto& [name, value] : measurement.numbers) line += fmt::format(R"(,"{}":{:.6g})", name, value);
  fmt::print("{}}}\n", line);
  std::fflush(stdout);
}

double percentile(std::vector<double> values, double share) {
  if (values.empty()) return 0;
  std::sort(values.begin(), values.end());
  const auto index = static_cast<std::size_t>(share * static_cast<double>(values.size() - 1) + 0.5);
  return values[index];
}

}  // namespace leasehold::bench
