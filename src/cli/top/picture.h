// The data of `leasehold top`: the store at one moment. Reading it changes nothing in the store.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cli/print/chunk_text.h"
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
  std::vector<ChunkSetAtWork> chunk_sets;  ///< sets that are not final
  std::vector<SessionInfo> sessions;
  std::vector<ScheduleInfo> schedules;
  std::vector<Event> events;  ///< newest first
};

std::string to_json(const TopPicture& picture);

/// Takes one picture after another, a handful of queries each, and keeps the pace between them. Belongs to one thread.
class TopReader {
 public:
  /// The bound for each list of a picture.
  static constexpr int most_rows = 500;

  TopReader(Store store, int events) : store_(std::move(store)), events_(events) {}

  Result<TopPicture> read();

 private:
  Result<std::vector<ChunkSetAtWork>> read_chunk_sets();

  Store store_;
  int events_;
  std::map<std::string, RecentPace> paces_;
};

// Pictures of the store, taken by a separate thread: keys respond at once, however long the store takes.

/// The data to show.
struct TopNews {
  TopPicture picture;
  std::string trouble;  ///< why the picture is not newer; empty: it is the newest
};

/// Belongs to one thread, whose signals are blocked already: the thread that takes pictures inherits that.
class TopFeed {
 public:
  /// Looks again after `every` at the latest, and sooner on a change. `reader` has taken `first`.
  TopFeed(Store store, TopReader reader, TopPicture first, Duration every);
  TopFeed(const TopFeed&) = delete;
  TopFeed& operator=(const TopFeed&) = delete;
  /// Does not wait for the thread, which may be in a long call; the thread keeps its data alive.
  ~TopFeed();

  /// To poll: readable if there is news.
  [[nodiscard]] int fd() const;
  /// The newest picture.
  [[nodiscard]] TopNews take() const;
  /// While paused, the store is not queried.
  void set_paused(bool paused) const;

 private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace leasehold::cli
