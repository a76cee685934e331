// Makes a failing run small: fewer steps, fewer clients, fewer kinds of faults, fewer features, fewer acts.
#pragma once

#include <functional>

#include "sim/run.h"

namespace leasehold::sim {

/// `tell` is called with every smaller run that still breaks the same invariant. Tries no more than `most` runs.
Report shrink(Report failing, int max, const std::function<void(const Report&)>& tell);

/// The tool's arguments that repeat this run.
std::string arguments_of(const RunOptions& options);

}  // namespace leasehold::sim
