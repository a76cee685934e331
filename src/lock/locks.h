// Internals of the locks.
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

// One attempt at a lock, and the line before it.
namespace lock {

/// What an acquire sends to the store: a lock, a share of one, or several locks at once.
struct Request {
  std::vector<std::string> names;
  std::optional<Share> share;
  Holder holder;
  Duration ttl;
  std::optional<Duration> delay;
  std::string request_id;
};

std::string describe(std::string_view name);

/// The deadline of a call whose caller waits until a moment: not long after it, but the call needs its time.
inline BootTime call_deadline(Duration call_timeout, BootTime until) {
  const auto now = BootClock::now();
  return std::min(now + call_timeout, std::max(until, now + Duration(std::chrono::seconds(1))));
}

Result<Grant> heartbeat(lease::StoreCall call, std::string_view name, Token token, std::optional<Duration> ttl);

/// Tries once; repeats only if the answer got lost on its way.
Result<Grant> try_acquire(lease::StoreCall call, const Request& request);

/// The refusal for this answer; with `retry_at` if only a lock delay is in the way.
Error refusal_with_delay(lease::StoreCall call, const sql::LeaseAnswer& answer);

/// Waits in line until it is granted, `until` has passed or `stop` was requested; then returns the last refusal.
Result<Grant> acquire_in_line(storage::Backend& backend, const Request& request, BootTime until, Duration call_timeout,
                              const std::stop_token& stop);

}  // namespace lock

// The state of a lock at one moment, for callers that wait for it or watch it.
namespace lock {

using Picture = sql::LockInfo;

// Wake-ups are hints; this look is reliable.
constexpr Duration look_again = std::chrono::milliseconds(500);

Result<Picture> look_at(storage::Backend& backend, std::string_view name, BootTime deadline);

/// A caller that was refused at `before` may get the lock now.
bool is_better(const Picture& now, const Picture& before);

/// Another holder has it, or none any more; of shares, a different one is shown.
bool has_changed_hands(const Picture& now, const Picture& before);

/// has_changed_hands(), or one of several shares came or went.
bool is_news(const Picture& now, const Picture& before);

/// How long to wait until the next look: no wake-up comes when a lease expires.
Duration until_next_look(const Picture& now);

LockInfo info_from(const Picture& picture);

}  // namespace lock

}  // namespace leasehold
