// What happened. The store writes an event in the same commit as the change it records.
//
//   auto reader = store.follow_events({.after = last_mark});   // without a mark: from now on
//   while (running) {
//     auto events = reader->next();
//     if (!events) { log(events.error().message); continue; }
//     for (const auto& event : *events) handle(event);
//     save(to_string(reader->mark()));                         // to resume here later
//     if (events->empty()) store.wait_for_change(1s);
//   }
#pragma once

#include <compare>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "leasehold/export.h"
#include "leasehold/lease.h"
#include "leasehold/limits.h"
#include "leasehold/result.h"
#include "leasehold/time.h"

namespace leasehold {

/// The events of each kind, and the meaning of the key:
///   lock      name     acquired, reclaimed, released, expired, revoked
///   job       its id   failed, timed_out, lapsed, cancelled;
///                      reclaimed (key: the queue; detail: "3 jobs" or "3 jobs, process gone")
///   batch     name     ended
///   queue     name     paused, resumed, purged
///   chunk     set/key  claimed, reclaimed, completed, failed, released, skipped, exhausted, reset
///   chunks    set      planned, removed
///   session   id       opened, parked, closed, expired, revoked
///   item      key      added, claimed, reclaimed, released, switched, transferred, expired, revoked, completed,
///                      reopened, removed
///   schedule  name     set, triggered, acquired, completed, failed, released, lost, enqueued, skipped, paused,
///                      resumed, renamed, removed
struct Event {
  std::int64_t id = 0;
  Timestamp at{};
  std::string kind;
  std::string key;
  std::string what;
  Token token;
  std::optional<Holder> holder{};
  std::optional<Holder> previous_holder{};  ///< the holder before a takeover
  std::string detail;                       ///< in words: an operator's reason, an error, a number, what ended it
  std::string metadata;                     ///< of a job's event: the metadata of the job; empty: it has none
  /// Of a followed event: resume with this mark (see to_string), and every later event is read. Empty in lists.
  std::string mark;
};

struct EventFilter {
  /// Only events with a larger id. Events can appear later than larger ids: to miss none, use Store::follow_events.
  std::int64_t after_id = 0;
  std::string key{};  ///< empty: every key
  /// The newest events, returned oldest first.
  int max = defaults::event_max;
  std::string page{};  ///< Page::next of the previous page, for older events; empty: the newest
};

/// Where a reader stands: it has read every event below, and no other event can appear there any more.
struct EventMark {
  std::int64_t transaction_id = 0;  ///< of PostgreSQL; 0 on SQLite, where commits are serial
  std::int64_t id = 0;

  auto operator<=>(const EventMark&) const = default;  // NOLINT(modernize-use-nullptr): it means the 0 of <=>
};

/// "742-0", for people, files and the command line.
LEASEHOLD_EXPORT std::string to_string(const EventMark& mark);
LEASEHOLD_EXPORT Result<EventMark> parse_event_mark(std::string_view text);

struct FollowOptions {
  /// Begin with the first event after this mark; {}: with the oldest event. Nothing: with events from now on.
  std::optional<EventMark> after{};
  std::string key{};              ///< empty: every key
  int max = defaults::event_max;  ///< how many events one call returns
};

/// Follows events without missing one: a transaction that stays open for long appears after its commit, although its
/// events have smaller ids than those of others. One reader returns each event once. If a program resumes from a mark,
/// it may get some events again. Belongs to one thread.
class LEASEHOLD_EXPORT EventReader {
 public:
  /// The next events; empty if there are none yet. After an error, call it again: nothing is lost.
  Result<std::vector<Event>> next();
  /// Save it once the events of the latest next() have been handled.
  [[nodiscard]] EventMark mark() const;

  EventReader(EventReader&&) noexcept;
  EventReader& operator=(EventReader&&) noexcept;
  ~EventReader();

  /// For the library: only it creates an Impl.
  struct Impl;
  explicit EventReader(std::unique_ptr<Impl> impl);

 private:
  std::unique_ptr<Impl> impl_;
};

}  // namespace leasehold
