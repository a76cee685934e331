// A plan that cuts a range of numbers into equal pieces.
#include <fmt/format.h>

#include "base/invalid.h"
#include "core/chunk_limits.h"
#include "leasehold/chunk.h"

namespace leasehold {
namespace {

PlannedChunk piece(std::int64_t from, std::int64_t to) {
  return {.key = fmt::format("{}-{}", from, to), .spec = fmt::format(R"({{"from":{},"to":{}}})", from, to)};
}

}  // namespace

Result<std::vector<PlannedChunk>> plan_range(std::int64_t first, std::int64_t last, std::int64_t size) {
  if (first > last) return invalid(fmt::format("the range {}..{} ends before it begins", first, last));
  if (size < 1) return invalid(fmt::format("chunks of {} numbers hold nothing: write 1 or more", size));
  // How far the last number is from the first may not fit into a signed number.
  const auto distance = static_cast<std::uint64_t>(last) - static_cast<std::uint64_t>(first);
  const auto further_chunks = distance / static_cast<std::uint64_t>(size);
  if (further_chunks >= max_range_chunks) {
    return invalid(fmt::format("{}..{} in chunks of {} are more than {} chunks: make them larger", first, last, size,
                               max_range_chunks));
  }
  std::vector<PlannedChunk> chunks;
  chunks.reserve(further_chunks + 1);
  auto from = first;
  for (std::uint64_t i = 0; i < further_chunks; ++i, from += size) chunks.push_back(piece(from, from + (size - 1)));
  chunks.push_back(piece(from, last));
  return chunks;
}

}  // namespace leasehold
