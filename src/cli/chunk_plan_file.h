// A plan as a file: a chunk per line.
#pragma once

#include <string>
#include <vector>

#include "leasehold/chunk.h"

namespace leasehold::cli {

/// Empty lines are left out; "-" is standard input. A bad line is refused with its number, as is a key that was there
/// before. Shows how far it is where a person looks.
Result<std::vector<PlannedChunk>> read_plan(const std::string& path);

}  // namespace leasehold::cli
