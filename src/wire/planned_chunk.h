// A chunk as a line of a plan: any JSON, and the line itself is what to load.
//
//   {"key": "2024-03", "from": "2024-03-01", "to": "2024-03-31"}      key 2024-03
//   "s3://bucket/part-0001.csv"                                       key: 16 digits made of the line
#pragma once

#include <string>
#include <string_view>

#include "leasehold/chunk.h"
#include "leasehold/result.h"

namespace leasehold::wire {

/// The key is the string member "key" of an object; otherwise the first 16 digits of the line's SHA-256, so that the
/// same line is the same chunk in every plan.
Result<PlannedChunk> planned_chunk_from(std::string_view line);

}  // namespace leasehold::wire
