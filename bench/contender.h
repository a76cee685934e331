// Several processes over one SQLite file: does every process get a fair share of the writes, and how long is the
// longest wait?
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

/// The work of such a copy: cycles from `start` on, for `span`; reports the result on stdout.
int be_contender(const std::string& kind, const std::string& sqlite_path, int number, BootTime start, Duration span);

}  // namespace leasehold::bench
