// What the heartbeats of a job, of a chunk and of a whole lease have in common.
#pragma once

#include <optional>

#include "core/limits.h"
#include "leasehold/result.h"

namespace leasehold::lease {

/// Nothing for zero: the lease keeps its own.
inline Result<std::optional<Duration>> new_ttl(Duration ttl) {
  if (ttl == Duration(0)) return std::optional<Duration>();
  if (auto checked = check_ttl(ttl); !checked) return std::move(checked).error();
  return std::optional<Duration>(ttl);
}

/// Fills in ttl, end and trust for the outcome `extended` of a statement that tells the lease's ttl and end.
template <typename Heartbeat, typename Row>
void note_extension(Heartbeat& heartbeat, const Row& answer, BootTime before_sending) {
  heartbeat.ttl = answer.ttl.value_or(Duration{});
  heartbeat.expires_at = answer.expires_at.value_or(Timestamp{});
  heartbeat.trusted_until = trusted_until(before_sending, heartbeat.ttl, heartbeat.expires_at - answer.store_now);
}

}  // namespace leasehold::lease
