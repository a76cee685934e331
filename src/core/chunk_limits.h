// What a chunk and its set may be: checked before anything is sent, with the same bounds on both stores.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

#include "leasehold/chunk.h"
#include "leasehold/result.h"

namespace leasehold {

constexpr std::size_t max_chunk_json_bytes = 64 * 1024;
constexpr std::int64_t max_range_chunks = 10'000'000;
/// Of one chunk: so that the sum of a set stays a number that JSON readers take.
constexpr std::int64_t max_rows = 1'000'000'000'000'000;

/// The names a chunk goes by.
Result<void> check_chunk(std::string_view set, std::string_view key);

/// Every key once, every spec JSON.
Result<void> check_plan(std::string_view set, std::span<const PlannedChunk> chunks, const PlanOptions& options);
Result<void> check_chunk_settings(const ChunkSetSettings& settings);
Result<void> check_chunk_save(const ChunkSave& save);
Result<void> check_chunk_reset(const ChunkReset& reset);

}  // namespace leasehold
