#include "cli/top_picture.h"

#include <fmt/format.h>

#include <algorithm>

#include "cli/print.h"
#include "wire/wire.h"

namespace leasehold::cli {
namespace {

bool is_at_work(const ChunkSetInfo& set) {
  return set.state != ChunkSetState::complete && set.state != ChunkSetState::partial;
}

/// Into `part` what was found, or why not.
template <typename T>
Result<void> put(T& part, Result<T> found) {
  if (!found) return std::move(found).error();
  part = std::move(*found);
  return {};
}

}  // namespace

std::string to_json(const TopPicture& picture) {
  std::vector<ChunkSetInfo> sets;
  for (const auto& at_work : picture.chunk_sets) sets.push_back(at_work.set);
  return fmt::format(R"({{"leases":{},"queues":{},"chunk_sets":{},"sessions":{},"schedules":{},"events":{}}})",
                     wire::to_json(picture.leases), wire::to_json(picture.queues), wire::to_json(sets),
                     wire::to_json(picture.sessions), wire::to_json(picture.schedules), wire::to_json(picture.events));
}

Result<std::vector<ChunkSetAtWork>> TopReader::read_chunk_sets() {
  auto sets = store_.chunks().sets();
  if (!sets) return std::move(sets).error();
  std::erase_if(*sets, [](const ChunkSetInfo& set) { return !is_at_work(set); });
  // A set that is final, or gone, begins a new count when it comes back.
  std::map<std::string, RecentPace> paces;
  std::vector<ChunkSetAtWork> at_work;
  for (auto& set : *sets) {
    auto& pace = paces[set.name] = std::move(paces_[set.name]);
    pace.add(set);
    at_work.push_back({.set = std::move(set), .pace = pace.pace()});
  }
  paces_ = std::move(paces);
  return at_work;
}

Result<TopPicture> TopReader::read() {
  TopPicture picture{.taken_at = wall_clock()};
  if (auto got = put(picture.leases, store_.leases(most_rows)); !got) return std::move(got).error();
  if (auto got = put(picture.queues, store_.queues().list()); !got) return std::move(got).error();
  if (auto got = put(picture.chunk_sets, read_chunk_sets()); !got) return std::move(got).error();
  if (auto got = put(picture.sessions, store_.sessions().list({.limit = most_rows})); !got)
    return std::move(got).error();
  if (auto got = put(picture.schedules, store_.schedules().list(most_rows)); !got) return std::move(got).error();
  if (auto got = put(picture.events, store_.events({.limit = events_})); !got) return std::move(got).error();
  std::reverse(picture.events.begin(), picture.events.end());
  return picture;
}

}  // namespace leasehold::cli
