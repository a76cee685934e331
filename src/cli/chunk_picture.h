// A set of chunks as people look at it: how far it is, how fast it goes, who works on what, what went wrong.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/chunk_pace.h"
#include "wire/chunk_story.h"

namespace leasehold::cli {

using wire::ChunkPicture;

Result<ChunkPicture> take_picture(const Chunks& chunks, const std::string& set);

/// The whole picture, in at most about `room` lines.
std::vector<std::string> drawn(const ChunkPicture& picture, const std::optional<ChunkPace>& pace, std::size_t room);

/// The same in one line: "running 16/40, 160000 rows, 1250 rows/s, about 3m 10s left; 3 running".
std::string in_one_line(const ChunkPicture& picture, const std::optional<ChunkPace>& pace);

}  // namespace leasehold::cli
