// Locks over the seam.
#pragma once

#include <algorithm>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "lease/call.h"
#include "lease/recall.h"
#include "leasehold/lock.h"
#include "storage/statements.h"

namespace leasehold {

struct Locks::Impl : lease::StoreAccess {
  /// Shared by all handles of a store.
  std::shared_ptr<lease::Recalls> recalls;
};

// One try at a lock, and the line before it.
namespace lock {

/// All that the store needs to know of an acquire: a lock, a share of one, or several at once.
struct Request {
  std::vector<std::string> names;
  std::optional<Share> share;
  Holder holder;
  Duration ttl;
  std::optional<Duration> delay;
  std::string request_id;
};

std::string describe(std::string_view name);

/// When to give up a call of somebody who waits until a moment: not long after it, but a call needs its time.
inline BootTime call_deadline(Duration call_timeout, BootTime until) {
  const auto now = BootClock::now();
  return std::min(now + call_timeout, std::max(until, now + Duration(std::chrono::seconds(1))));
}

Result<Grant> heartbeat(lease::StoreCall call, std::string_view name, Token token, std::optional<Duration> ttl);

/// Asks once; repeats only where the answer got lost on the way.
Result<Grant> try_acquire(lease::StoreCall call, const Request& request);

/// What this answer means to the caller; `retry_at` where only a lock delay is in the way.
Error refusal_with_delay(lease::StoreCall call, const sql::LeaseAnswer& answer);

/// Stands in line until it is granted, `until` has passed or `stop` was asked for; then the last refusal.
Result<Grant> acquire_in_line(storage::Backend& backend, const Request& request, BootTime until, Duration call_timeout,
                              const std::stop_token& stop);

}  // namespace lock

// How a lock stands at a moment: what those who wait for it or watch it compare.
namespace lock {

using Picture = sql::LockInfo;

// Wake-ups are hints; this is the truth.
constexpr Duration look_again = std::chrono::milliseconds(500);

Result<Picture> look_at(storage::Backend& backend, std::string_view name, BootTime deadline);

/// Somebody who was refused at `before` may get it now.
bool is_better(const Picture& now, const Picture& before);

/// Somebody else has it, or nobody any more; of shares, another one is the one that is told.
bool has_changed_hands(const Picture& now, const Picture& before);

/// That, or one of several shares came or went.
bool is_news(const Picture& now, const Picture& before);

/// How long a look can wait for: wake-ups do not tell that a lease runs out.
Duration until_next_look(const Picture& now);

LockInfo info_from(const Picture& picture);

}  // namespace lock

}  // namespace leasehold
