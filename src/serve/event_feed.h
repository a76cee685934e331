// Events for all clients of the live stream: one shared reader for the clients that are up to date, and one reader for
// each client that resumes from a mark. No client misses an event; after a resume it may get some twice.
//
//   EventFeed events(store);
//   auto mark = events.begin();                  // a new client gets the events behind it
//   auto read = events.turn(listeners, now);     // again and again
#pragma once

#include <list>
#include <optional>

#include "leasehold/store.h"
#include "serve/listener.h"

namespace leasehold::serve {

/// Belongs to one thread.
class EventFeed {
 public:
  explicit EventFeed(Store store) : store_(std::move(store)) {}

  /// Where a client that does not resume begins. Makes the shared reader if there is none.
  Result<EventMark> begin();
  /// Without clients, nothing is followed.
  void end() { shared_.reset(); }

  /// Writes new events to all clients that share events, then pages of backlogs, for a bounded time. Returns whether
  /// there were new events.
  Result<bool> turn(std::list<Listener>& listeners, BootTime now);
  /// Whether the latest turn() left something to read.
  [[nodiscard]] bool unfinished() const { return unfinished_; }

 private:
  Result<bool> read_shared(std::list<Listener>& listeners, BootTime now);
  Result<void> read_backlogs(std::list<Listener>& listeners, BootTime now);
  Result<void> read_backlog(Listener& listener, BootTime now);

  const Store store_;
  std::optional<EventReader> shared_{};
  bool unfinished_ = false;
};

}  // namespace leasehold::serve
