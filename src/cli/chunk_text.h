// Chunks and their sets in words, for people.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "leasehold/chunk.h"

namespace leasehold::cli {

/// "running", "exhausted", each in its colour.
std::string coloured(ChunkState state);

/// "running", "complete", "partial 40/42 (2 exhausted)", each in its colour.
std::string coloured_summary(const ChunkSetInfo& set);

/// What is done with: exhausted ones are not.
std::int64_t done_chunks(const ChunkSetInfo& set);

/// "16/40"
std::string shown_count(const ChunkSetInfo& set);

/// A spec, a cursor or an error, fit for a terminal and not too long: who wants it all asks for --json.
std::string shown_text(std::string_view text);

/// "from the beginning", or "from {"page":4} (420 rows)".
std::string shown_beginning(const std::optional<std::string>& cursor, std::int64_t rows);

}  // namespace leasehold::cli
