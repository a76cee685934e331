#include "cli/print/chunk_text.h"

#include <algorithm>

#include "base/time_text.h"
#include "cli/print/live.h"
#include "cli/print/print.h"
#include "cli/print/table.h"

namespace leasehold::cli {
namespace {

constexpr std::size_t longest_shown = 400;

Tone tone_of(ChunkState state) {
  switch (state) {
    case ChunkState::running: return Tone::good;
    case ChunkState::expired: return Tone::warning;
    case ChunkState::exhausted: return Tone::bad;
    case ChunkState::completed:
    case ChunkState::skipped: return Tone::faint;
    case ChunkState::available:
    case ChunkState::deferred: break;
  }
  return Tone::normal;
}

Tone tone_of(ChunkSetState state) {
  switch (state) {
    case ChunkSetState::running:
    case ChunkSetState::complete: return Tone::good;
    case ChunkSetState::partial: return Tone::bad;
    case ChunkSetState::planned: break;
  }
  return Tone::normal;
}

}  // namespace

std::string coloured(ChunkState state) { return coloured(tone_of(state), to_string(state)); }

std::string coloured_summary(const ChunkSetInfo& set) { return coloured(tone_of(set.state), set.summary()); }

std::int64_t done_chunks(const ChunkSetInfo& set) { return set.completed + set.skipped; }

std::string shown_count(const ChunkSetInfo& set) { return fmt::format("{}/{}", done_chunks(set), set.total); }

std::string shown_text(std::string_view text) {
  return text.size() <= longest_shown
             ? printable(text)
             : fmt::format("{}... ({} bytes)", printable(text.substr(0, longest_shown)), text.size());
}

std::string shown_beginning(const std::optional<std::string>& cursor, std::int64_t rows) {
  if (!cursor) return "from the beginning";
  return fmt::format("from {} ({})", shown_text(*cursor), counted(rows, "row"));
}

namespace {

constexpr int most_held = 1000;
constexpr int most_exhausted = 100;
/// The lines around the two tables.
constexpr std::size_t other_lines = 9;
constexpr std::size_t fewest_rows = 3;

Result<void> append(std::vector<ChunkInfo>& into, const Chunks& chunks, const std::string& set, ChunkState state,
                    int limit) {
  auto found = chunks.list(set, {.state = state, .max = limit});
  if (!found) return std::move(found).error();
  std::move(found->begin(), found->end(), std::back_inserter(into));
  return {};
}

std::string shown_rate(double rate) { return rate < 10 ? fmt::format("{:.1f}", rate) : fmt::format("{:.0f}", rate); }

/// Drops the seconds of an estimate in hours.
std::string shown_left(Duration left) {
  const auto unit =
      left >= std::chrono::hours(1) ? Duration(std::chrono::minutes(1)) : Duration(std::chrono::seconds(1));
  return format_duration(std::max(left - left % unit, unit));
}

std::string shown_pace(const ChunkSetInfo& set, const ChunkPace& pace) {
  auto text =
      fmt::format("{} rows/s, {} chunks/min", shown_rate(pace.rows_per_second), shown_rate(pace.chunks_per_minute));
  const bool open = set.final_chunks() < set.total;
  if (open && pace.left) text += fmt::format(", about {} left", shown_left(*pace.left));
  if (!open && set.started_at && set.finished_at) {
    text += fmt::format(", took {}", format_duration(*set.finished_at - *set.started_at));
  }
  return text;
}

std::string counts_of(const ChunkSetInfo& set) {
  std::string text;
  for (const auto& [count, what] :
       {std::pair{set.available, "available"}, std::pair{set.deferred, "deferred"}, std::pair{set.running, "running"},
        std::pair{set.expired, "expired"}, std::pair{set.completed, "completed"}, std::pair{set.skipped, "skipped"},
        std::pair{set.exhausted, "exhausted"}}) {
    if (count > 0) text += fmt::format("{}{} {}", text.empty() ? "" : ", ", count, what);
  }
  return text.empty() ? "no chunks" : text;
}

std::string frees(const ChunkInfo& chunk) {
  if (!chunk.expires_at) return "-";
  return *chunk.expires_at > chunk.store_now ? "in " + format_duration(*chunk.expires_at - chunk.store_now) : "now";
}

Table table_of_held(const std::vector<ChunkInfo>& held, std::size_t max) {
  Table table({{"KEY", Column::may_be_cut},
               {"STATE", Column::as_it_is, 1},
               {"HOLDER", Column::may_be_cut, 2},
               {"TRY", Column::to_the_right, -1},
               {"ROWS", Column::to_the_right, 1},
               {"CURSOR", Column::may_be_cut},
               "SAVED",
               {"FREES", Column::as_it_is, 1}});
  for (std::size_t i = 0; i < std::min(max, held.size()); ++i) {
    const auto& chunk = held[i];
    table.add({printable(chunk.key), coloured(chunk.state), shown_name(chunk.holder), std::to_string(chunk.attempts),
               std::to_string(chunk.rows), chunk.cursor ? shown_text(*chunk.cursor) : "-",
               chunk.saved_at ? format_age(chunk.store_now - *chunk.saved_at) : "-", frees(chunk)});
  }
  return table;
}

Table table_of_exhausted(const std::vector<ChunkInfo>& exhausted, std::size_t max) {
  Table table({{"EXHAUSTED", Column::may_be_cut},
               {"FAILURES", Column::to_the_right},
               {"CRASHES", Column::to_the_right},
               {"ROWS", Column::to_the_right},
               {"ERROR", Column::may_be_cut, 1}});
  for (std::size_t i = 0; i < std::min(max, exhausted.size()); ++i) {
    const auto& chunk = exhausted[i];
    table.add({printable(chunk.key), std::to_string(chunk.failures), std::to_string(chunk.crashes),
               std::to_string(chunk.rows), chunk.error.empty() ? "-" : shown_text(first_line(chunk.error))});
  }
  return table;
}

void append_table(std::vector<std::string>& lines, const Table& table, std::int64_t all, std::size_t max) {
  lines.emplace_back();
  const auto rows = table.lines();
  lines.insert(lines.end(), rows.begin(), rows.end());
  const auto hidden = all - static_cast<std::int64_t>(max);
  if (hidden > 0) lines.push_back(coloured(Tone::faint, fmt::format("... and {} more", hidden)));
}

}  // namespace

Result<ChunkSetDetails> read_details(const Chunks& chunks, const std::string& set) {
  auto info = chunks.progress(set);
  if (!info) return std::move(info).error();
  ChunkSetDetails details{.set = std::move(*info)};
  for (const auto& [count, state, into, limit] :
       {std::tuple{details.set.expired, ChunkState::expired, &details.held, most_held},
        std::tuple{details.set.running, ChunkState::running, &details.held, most_held},
        std::tuple{details.set.exhausted, ChunkState::exhausted, &details.exhausted, most_exhausted}}) {
    if (count == 0) continue;
    if (auto found = append(*into, chunks, set, state, limit); !found) return std::move(found).error();
  }
  return details;
}

std::vector<std::string> drawn(const ChunkSetDetails& details, const std::optional<ChunkPace>& pace, std::size_t room) {
  const auto& set = details.set;
  std::vector<std::string> lines = {fmt::format("{}  {}  {}  {} chunks  {}", printable(set.name), coloured_summary(set),
                                                progress_bar(done_chunks(set), set.total), shown_count(set),
                                                counted(set.rows, "row"))};
  if (pace) lines.push_back(shown_pace(set, *pace));
  lines.push_back(counts_of(set));
  if (set.job_id) lines.push_back(fmt::format("job {} waits for this set", *set.job_id));
  const auto rows = std::max(room > other_lines ? (room - other_lines) / 2 : 0, fewest_rows);
  if (!details.held.empty()) append_table(lines, table_of_held(details.held, rows), set.running + set.expired, rows);
  if (!details.exhausted.empty()) append_table(lines, table_of_exhausted(details.exhausted, rows), set.exhausted, rows);
  return lines;
}

std::string in_one_line(const ChunkSetDetails& details, const std::optional<ChunkPace>& pace) {
  const auto& set = details.set;
  const auto count = set.state == ChunkSetState::partial ? "" : " " + shown_count(set);
  auto text = fmt::format("{}{}, {}", coloured_summary(set), count, counted(set.rows, "row"));
  if (pace) text += ", " + shown_pace(set, *pace);
  return fmt::format("{}; {}", text, counts_of(set));
}

namespace {

/// Where the new holder began, or its progress if it has saved since. A token is not earlier than the moment of its
/// grant.
std::string shown_progress(const ChunkInfo& chunk) {
  const Timestamp granted_at{std::chrono::microseconds(chunk.token.value)};
  if (!chunk.cursor || !chunk.saved_at || *chunk.saved_at < granted_at) {
    return "continues " + shown_beginning(chunk.cursor, chunk.rows);
  }
  return fmt::format("has reached {} ({})", shown_text(*chunk.cursor), counted(chunk.rows, "row"));
}

}  // namespace

void ChunkNews::look_at_held(std::vector<std::string>& news, const ChunkInfo& chunk) {
  const auto [at, unseen] = held_.try_emplace(chunk.key);
  auto& seen = at->second;
  const auto holder = shown_name(chunk.holder);
  const bool other_grant = seen.token != chunk.token;
  if (other_grant && chunk.attempts > 1) {
    const auto from = unseen || seen.holder == holder ? "" : ", after " + seen.holder;
    news.push_back(fmt::format("{}: {} {}{}; attempt {}", printable(chunk.key), holder, shown_progress(chunk), from,
                               chunk.attempts));
  }
  const bool silent = chunk.state == ChunkState::expired && (other_grant || seen.state != ChunkState::expired);
  if (silent) {
    news.push_back(fmt::format("{}: {} went silent, the next claim takes it {}", printable(chunk.key), holder,
                               shown_beginning(chunk.cursor, chunk.rows)));
  }
  seen = {.token = chunk.token, .holder = holder, .state = chunk.state};
}

void ChunkNews::look_at_exhausted(std::vector<std::string>& news, const ChunkInfo& chunk) {
  if (!exhausted_.insert(chunk.key).second) return;
  news.push_back(fmt::format("{}: exhausted after {}{}", printable(chunk.key), counted(chunk.attempts, "attempt"),
                             chunk.error.empty() ? "" : ": " + shown_text(first_line(chunk.error))));
}

std::vector<std::string> ChunkNews::since_last(const ChunkSetDetails& details) {
  std::vector<std::string> news;
  for (const auto& chunk : details.held) look_at_held(news, chunk);
  for (const auto& chunk : details.exhausted) look_at_exhausted(news, chunk);
  // Chunks removed from the list by a reset may return.
  if (details.set.exhausted == 0) exhausted_.clear();
  if (std::exchange(first_, false)) news.clear();
  return news;
}

}  // namespace leasehold::cli
