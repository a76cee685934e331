// The timeline of a run as a picture: a lane for each client, grants as bars with their tokens, what went wrong as
// marks.
#pragma once

#include <string>

#include "sim/run.h"

namespace leasehold::sim {

/// The last `steps` of the run, which is where a violation is. Time jumps, so it is steps that go from left to right.
std::string timeline_svg(const Report& report, std::int64_t steps);

}  // namespace leasehold::sim
