#include "cli/chunk_text.h"

#include "cli/print.h"

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
  return Tone::plain;
}

Tone tone_of(ChunkSetState state) {
  switch (state) {
    case ChunkSetState::running:
    case ChunkSetState::complete: return Tone::good;
    case ChunkSetState::partial: return Tone::bad;
    case ChunkSetState::planned: break;
  }
  return Tone::plain;
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

}  // namespace leasehold::cli
