// What `leasehold top` shows: the store as it is at one moment. Reading it changes nothing in the store.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "cli/chunk_pace.h"
#include "leasehold/store.h"

namespace leasehold::cli {

struct ChunkSetAtWork {
  ChunkSetInfo set;
  std::optional<ChunkPace> pace{};
};

struct TopPicture {
  Timestamp taken_at{};  ///< by this machine's wall clock, for people
  std::vector<LeaseInfo> leases;
  std::vector<QueueInfo> queues;
  std::vector<ChunkSetAtWork> chunk_sets;  ///< those that are not final
  std::vector<SessionInfo> sessions;
  std::vector<ScheduleInfo> schedules;
  std::vector<Event> events;  ///< newest first
};

std::string to_json(const TopPicture& picture);

/// Takes one picture after the other, a handful of questions each, and remembers between them how fast things went.
/// Belongs to one thread.
class TopReader {
 public:
  /// No list of a picture is longer than this: nobody reads on.
  static constexpr int most_rows = 500;

  TopReader(Store store, int events) : store_(std::move(store)), events_(events) {}

  Result<TopPicture> read();

 private:
  Result<std::vector<ChunkSetAtWork>> read_chunk_sets();

  Store store_;
  int events_;
  std::map<std::string, RecentPace> paces_;
};

}  // namespace leasehold::cli
