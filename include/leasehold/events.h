// What happened, written in the same commit as the change it tells of.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "leasehold/lease.h"
#include "leasehold/time.h"

namespace leasehold {

struct Event {
  std::int64_t id = 0;
  Timestamp at{};
  std::string kind;  ///< "lock"
  std::string key;
  std::string what;  ///< acquired, reclaimed, released, expired, revoked
  Token token;
  std::string holder;
  std::string host;
  /// For `reclaimed`: from whom.
  std::string previous_holder;
  std::string detail;  ///< `revoked`: the operator's reason; `expired`: what ended a lease that nobody took over
};

struct EventFilter {
  std::int64_t after_id = 0;
  std::string key{};  ///< empty: every key
  /// The newest ones, given oldest first.
  int limit = 100;
};

}  // namespace leasehold
