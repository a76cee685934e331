// Chunks and their sets as text for people.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "act/answers.h"
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

// The pace of a set, and the time left. By the store's clock alone.

struct ChunkPace {
  double rows_per_second = 0;
  double chunks_per_minute = 0;
  std::optional<Duration> left{};  ///< nothing: unknown
};

/// Since the start of the set; for a final set, until its end. Nothing if there is no data yet.
std::optional<ChunkPace> pace_since_start(const ChunkSetInfo& set);

/// The pace of the last minute, for repeated looks.
class RecentPace {
 public:
  void add(const ChunkSetInfo& set);

  /// Since the start, if no chunk was finished lately.
  [[nodiscard]] std::optional<ChunkPace> pace() const;

 private:
  std::deque<ChunkSetInfo> samples_;
};

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
