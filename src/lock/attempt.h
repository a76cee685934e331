// One try at a lock, and the line before it.
#pragma once

#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "leasehold/lock.h"
#include "storage/backend.h"

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

Result<Grant> heartbeat(storage::Backend& backend, std::string_view name, Token token, std::optional<Duration> ttl,
                        BootTime deadline);

/// Asks once; repeats only where the answer got lost on the way.
Result<Grant> try_acquire(storage::Backend& backend, const Wish& wish, BootTime deadline);

/// Stands in line until it is granted, `until` has passed or `stop` was asked for; then the last refusal.
Result<Grant> acquire_in_line(storage::Backend& backend, const Wish& wish, BootTime until, Duration call_timeout,
                              const std::stop_token& stop);

}  // namespace leasehold::lock
