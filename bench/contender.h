// Several processes over one SQLite file: does everybody get a fair share of the writes, and how long does the
// unluckiest call wait?
#pragma once

#include <string>

#include "leasehold/time.h"

namespace leasehold::bench {

struct Fairness {
  double unluckiest_share = 0;  ///< cycles of the slowest process over the mean of all
  Duration longest_call{};
  double cycles_per_second = 0;  ///< all processes together
};

/// Starts `processes` copies of this program. `kind` is "leasehold" or "raw".
Fairness contend(const std::string& kind, const std::string& sqlite_path, int processes, Duration span);

/// What such a copy does: cycles from `start` on, for `span`; tells what it did on stdout.
int be_contender(const std::string& kind, const std::string& sqlite_path, int number, BootTime start, Duration span);

}  // namespace leasehold::bench
