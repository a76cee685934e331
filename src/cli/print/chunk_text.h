// Chunks and their sets as text for people.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "act/answers.h"
#include "cli/print/chunk_pace.h"
#include "leasehold/chunk.h"
#include "model/json.h"

namespace leasehold::cli {

/// "running", "exhausted", each in its colour.
std::string coloured(ChunkState state);

/// "running", "complete", "partial 40/42 (2 exhausted)", each in its colour.
std::string coloured_summary(const ChunkSetInfo& set);

/// The finished chunks; exhausted ones do not count.
std::int64_t done_chunks(const ChunkSetInfo& set);

/// "16/40"
std::string shown_count(const ChunkSetInfo& set);

/// A spec, a cursor or an error, shortened and safe for a terminal; --json has the full text.
std::string shown_text(std::string_view text);

/// "from the beginning", or "from {"page":4} (420 rows)".
std::string shown_beginning(const std::optional<std::string>& cursor, std::int64_t rows);

// A set of chunks for people: progress, pace, holders, failures.
using act::ChunkSetDetails;

Result<ChunkSetDetails> read_details(const Chunks& chunks, const std::string& set);

/// All of it, in at most about `room` lines.
std::vector<std::string> drawn(const ChunkSetDetails& details, const std::optional<ChunkPace>& pace, std::size_t room);

/// The same in one line: "running 16/40, 160000 rows, 1250 rows/s, about 3m 10s left; 3 running".
std::string in_one_line(const ChunkSetDetails& details, const std::optional<ChunkPace>& pace);

// The changes between two looks at a set: which worker went on where another one had stopped, what expired, what
// failed.

/// Compares each look with the one before. Chunks that begin and end between two looks are not noticed.
class ChunkNews {
 public:
  /// One line for each change; none for the first look.
  std::vector<std::string> since_last(const ChunkSetDetails& details);

 private:
  struct Seen {
    Token token;
    std::string holder;
    ChunkState state = ChunkState::running;
  };

  void look_at_held(std::vector<std::string>& news, const ChunkInfo& chunk);
  void look_at_exhausted(std::vector<std::string>& news, const ChunkInfo& chunk);

  bool first_ = true;
  std::map<std::string, Seen> held_;  ///< by key, also for chunks that are no longer held
  std::set<std::string> exhausted_;
};

}  // namespace leasehold::cli
