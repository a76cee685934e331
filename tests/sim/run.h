// One run: a seed becomes a history, and the history is judged.
#pragma once

#include <cstdint>
#include <optional>

#include "sim/invariants.h"
#include "sim/notes.h"
#include "sim/options.h"

namespace leasehold::sim {

struct Report {
  RunOptions options;
  Finding violation;
  std::int64_t steps = 0;  ///< done; of a violation, the one it was found at
  std::int64_t acts = 0;   ///< begun: they are numbered from one
  Notes notes;
};

/// Throws std::runtime_error where the simulation itself cannot go on.
Report run(const RunOptions& options);

}  // namespace leasehold::sim
