// What happened, written in the same commit as the change it tells of.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "leasehold/lease.h"
#include "leasehold/limits.h"
#include "leasehold/time.h"

namespace leasehold {

/// What happens to which kind of thing, and what its key is:
///   lock      name     acquired, reclaimed, released, expired, revoked
///   job       its id   failed, cancelled; reclaimed, where the key is the queue and the detail says how many
///   queue     name     paused, resumed, purged
///   chunk     set/key  claimed, reclaimed, completed, failed, released, skipped, exhausted, reset
///   chunks    set      planned, removed
///   session   id       opened, parked, closed, expired, revoked
///   item      key      added, claimed, reclaimed, released, switched, transferred, expired, revoked, completed,
///                      reopened, removed
///   schedule  name     defined, triggered, acquired, finished, released, lost, enqueued, skipped, paused, resumed,
///                      renamed, removed
struct Event {
  std::int64_t id = 0;
  Timestamp at{};
  std::string kind;
  std::string key;
  std::string what;
  Token token;
  std::string holder;
  std::string host;
  std::string previous_holder;  ///< who had it before, where that is told
  std::string detail;           ///< in words: an operator's reason, an error, how many, what ended it
};

struct EventFilter {
  std::int64_t after_id = 0;
  std::string key{};  ///< empty: every key
  /// The newest ones, given oldest first.
  int limit = defaults::event_limit;
};

}  // namespace leasehold
