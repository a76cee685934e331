#include "cli/chunk_news.h"

#include "cli/chunk_text.h"
#include "cli/print.h"

namespace leasehold::cli {
namespace {

/// Where its new holder began; or, where that one has saved since, how far it has come. A token is not earlier than the
/// moment of its grant.
std::string shown_progress(const ChunkInfo& chunk) {
  const Timestamp granted_at{std::chrono::microseconds(chunk.token.value)};
  if (!chunk.cursor || !chunk.saved_at || *chunk.saved_at < granted_at) {
    return "goes on " + shown_beginning(chunk.cursor, chunk.rows);
  }
  return fmt::format("has gone on to {} ({})", shown_text(*chunk.cursor), counted(chunk.rows, "row"));
}

}  // namespace

void ChunkNews::look_at_held(std::vector<std::string>& news, const ChunkInfo& chunk) {
  const auto [at, unseen] = held_.try_emplace(chunk.key);
  auto& seen = at->second;
  const bool other_grant = seen.token != chunk.token;
  if (other_grant && chunk.attempts > 1) {
    const auto from = unseen || seen.holder == chunk.holder ? "" : fmt::format(", after {}", printable(seen.holder));
    news.push_back(fmt::format("{}: {} {}{}; attempt {}", printable(chunk.key), printable(chunk.holder),
                               shown_progress(chunk), from, chunk.attempts));
  }
  const bool silent = chunk.state == ChunkState::expired && (other_grant || seen.state != ChunkState::expired);
  if (silent) {
    news.push_back(fmt::format("{}: {} went silent, the next claim takes it {}", printable(chunk.key),
                               printable(chunk.holder), shown_beginning(chunk.cursor, chunk.rows)));
  }
  seen = {.token = chunk.token, .holder = chunk.holder, .state = chunk.state};
}

void ChunkNews::look_at_exhausted(std::vector<std::string>& news, const ChunkInfo& chunk) {
  if (!exhausted_.insert(chunk.key).second) return;
  news.push_back(fmt::format("{}: exhausted after {}{}", printable(chunk.key), counted(chunk.attempts, "attempt"),
                             chunk.error.empty() ? "" : ": " + shown_text(chunk.error)));
}

std::vector<std::string> ChunkNews::since_last(const ChunkPicture& picture) {
  std::vector<std::string> news;
  for (const auto& chunk : picture.held) look_at_held(news, chunk);
  for (const auto& chunk : picture.exhausted) look_at_exhausted(news, chunk);
  // What a reset took out may come back in.
  if (picture.set.exhausted == 0) exhausted_.clear();
  if (std::exchange(first_, false)) news.clear();
  return news;
}

}  // namespace leasehold::cli
