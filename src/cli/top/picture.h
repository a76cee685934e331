// What `leasehold top` shows: the store as it is at one moment. Reading it changes nothing in the store.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cli/print/chunk_pace.h"
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

// Pictures of the store, taken by a thread of their own: keys answer at once, however long the store takes.

/// What there is to show.
struct TopNews {
  TopPicture picture;
  std::string trouble;  ///< why the picture is not newer; empty: it is the newest
};

/// Belongs to one thread, whose signals are blocked already: the one that takes pictures inherits that.
class TopFeed {
 public:
  /// Looks again after `every` at the latest, and sooner when something changes. `reader` has taken `first`.
  TopFeed(Store store, TopReader reader, TopPicture first, Duration every);
  TopFeed(const TopFeed&) = delete;
  TopFeed& operator=(const TopFeed&) = delete;
  /// The thread may be in a call that takes long, and is not waited for; it holds on to what it needs.
  ~TopFeed();

  /// To poll: readable when there is news.
  [[nodiscard]] int fd() const;
  /// The newest.
  [[nodiscard]] TopNews take() const;
  /// While paused, the store is left alone.
  void set_paused(bool paused) const;

 private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace leasehold::cli
