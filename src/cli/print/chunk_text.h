// Chunks and their sets in words, for people.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "cli/print/chunk_pace.h"
#include "leasehold/chunk.h"
#include "wire/wire.h"

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

// A set of chunks as people look at it: how far it is, how fast it goes, who works on what, what went wrong.
using wire::ChunkPicture;

Result<ChunkPicture> take_picture(const Chunks& chunks, const std::string& set);

/// The whole picture, in at most about `room` lines.
std::vector<std::string> drawn(const ChunkPicture& picture, const std::optional<ChunkPace>& pace, std::size_t room);

/// The same in one line: "running 16/40, 160000 rows, 1250 rows/s, about 3m 10s left; 3 running".
std::string in_one_line(const ChunkPicture& picture, const std::optional<ChunkPace>& pace);

// What happened between two looks at a set: who went on where another one had stopped, what expired, what failed.

/// Told picture after picture. What begins and ends between two of them is not noticed.
class ChunkNews {
 public:
  /// One line for everything that is new; nothing for the first picture.
  std::vector<std::string> since_last(const ChunkPicture& picture);

 private:
  struct Seen {
    Token token;
    std::string holder;
    ChunkState state = ChunkState::running;
  };

  void look_at_held(std::vector<std::string>& news, const ChunkInfo& chunk);
  void look_at_exhausted(std::vector<std::string>& news, const ChunkInfo& chunk);

  bool first_ = true;
  std::map<std::string, Seen> held_;  ///< by key, also when nobody holds it any more
  std::set<std::string> exhausted_;
};

}  // namespace leasehold::cli
