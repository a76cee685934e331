// What happened. The store writes an event in the same commit as the change it records.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "leasehold/lease.h"
#include "leasehold/limits.h"
#include "leasehold/time.h"

namespace leasehold {

/// The events of each kind, and the meaning of the key:
///   lock      name     acquired, reclaimed, released, expired, revoked
///   job       its id   failed, cancelled; reclaimed (the key is the queue, and the detail the number of jobs)
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
};

struct EventFilter {
  std::int64_t after_id = 0;
  std::string key{};  ///< empty: every key
  /// The newest events, returned oldest first.
  int max = defaults::event_max;
  std::string page{};  ///< Page::next of the previous page, for older events; empty: the newest
};

}  // namespace leasehold
