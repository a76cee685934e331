#include "cli/print/chunk_text.h"

#include <algorithm>

namespace leasehold::cli {
namespace {

constexpr Duration window = std::chrono::minutes(1);
/// A rate over a shorter span would be meaningless.
constexpr Duration shortest_span = std::chrono::seconds(1);
/// A longer estimate is not credible.
constexpr Duration longest_left = std::chrono::days(365);

using Seconds = std::chrono::duration<double>;

ChunkPace pace_of(std::int64_t rows, std::int64_t finished, std::int64_t open, Duration span) {
  const auto seconds = Seconds(span).count();
  ChunkPace pace{.rows_per_second = static_cast<double>(rows) / seconds,
                 .chunks_per_minute = static_cast<double>(finished) * 60 / seconds};
  if (finished > 0) {
    const Seconds left(seconds * static_cast<double>(open) / static_cast<double>(finished));
    pace.left = std::chrono::duration_cast<Duration>(std::min(left, Seconds(longest_left)));
  }
  return pace;
}

std::int64_t open_chunks(const ChunkSetInfo& set) { return set.total - set.final_chunks(); }

}  // namespace

std::optional<ChunkPace> pace_since_start(const ChunkSetInfo& set) {
  if (!set.started_at || (set.rows == 0 && set.completed == 0)) return std::nullopt;
  const bool final = open_chunks(set) == 0;
  const auto until = final && set.finished_at ? *set.finished_at : set.store_now;
  const Duration span = until - *set.started_at;
  if (span <= Duration(0)) return std::nullopt;
  return pace_of(set.rows, set.completed, open_chunks(set), span);
}

void RecentPace::add(const ChunkSetInfo& set) {
  // A reset or a new plan begins a new count.
  const bool fell_back =
      !samples_.empty() && (set.rows < samples_.back().rows || set.completed < samples_.back().completed);
  if (fell_back) samples_.clear();
  samples_.push_back(set);
  while (samples_.front().store_now < set.store_now - window) samples_.pop_front();
}

std::optional<ChunkPace> RecentPace::pace() const {
  if (samples_.empty()) return std::nullopt;
  const auto& first = samples_.front();
  const auto& last = samples_.back();
  const auto overall = pace_since_start(last);
  const Duration span = last.store_now - first.store_now;
  if (span < shortest_span || open_chunks(last) == 0) return overall;
  auto recent = pace_of(last.rows - first.rows, last.completed - first.completed, open_chunks(last), span);
  if (!recent.left && overall) {
    recent.chunks_per_minute = overall->chunks_per_minute;
    recent.left = overall->left;
  }
  return recent;
}

}  // namespace leasehold::cli
