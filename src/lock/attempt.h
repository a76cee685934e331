// One try at a lock, and the line before it.
#pragma once

#include <algorithm>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "leasehold/lock.h"
#include "storage/backend.h"
#include "storage/statements.h"

namespace leasehold::lock {

/// All that the store needs to know of somebody who wants a lock, a share of one, or several at once.
struct Wish {
  std::vector<std::string> names;
  std::optional<Share> share;
  Holder holder;
  Duration ttl;
  std::optional<Duration> delay;
  std::string request_id;
};

std::string describe(std::string_view name);

/// Held, or free but not ours this time: the answers that waiting can change.
inline bool is_refusal(const Result<Grant>& answer) {
  return !answer && (answer.error().code == Errc::held || answer.error().code == Errc::busy);
}

/// When to give up a call of somebody who waits until a moment: not long after it, but a call needs its time.
inline BootTime call_deadline(Duration call_timeout, BootTime until) {
  const auto now = BootClock::now();
  return std::min(now + call_timeout, std::max(until, now + Duration(std::chrono::seconds(1))));
}

Result<Grant> heartbeat(storage::Backend& backend, std::string_view name, Token token, std::optional<Duration> ttl,
                        BootTime deadline);

/// Asks once; repeats only where the answer got lost on the way.
Result<Grant> try_acquire(storage::Backend& backend, const Wish& wish, BootTime deadline);

/// What to tell who was refused with this answer; `retry_at` where only a lock delay is in the way.
Error refusal_with_delay(storage::Backend& backend, const sql::LeaseAnswer& answer, BootTime deadline);

/// Stands in line until it is granted, `until` has passed or `stop` was asked for; then the last refusal.
Result<Grant> acquire_in_line(storage::Backend& backend, const Wish& wish, BootTime until, Duration call_timeout,
                              const std::stop_token& stop);

}  // namespace leasehold::lock
