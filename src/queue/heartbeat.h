// What the heartbeats of a job and of a whole lease have in common.
#pragma once

#include <optional>

#include "core/limits.h"
#include "leasehold/queue.h"

namespace leasehold::queue {

/// Nothing for zero: the lease keeps its own.
Result<std::optional<Duration>> new_ttl(Duration ttl);

/// For the outcome `extended` of a statement that tells the lease's ttl and end.
template <typename Row>
JobHeartbeat extended_from(const Row& answer, BootTime before_sending) {
  JobHeartbeat heartbeat;
  heartbeat.ttl = answer.ttl.value_or(Duration{});
  heartbeat.expires_at = answer.expires_at.value_or(Timestamp{});
  heartbeat.trusted_until = trusted_until(before_sending, heartbeat.ttl, heartbeat.expires_at - answer.store_now);
  return heartbeat;
}

}  // namespace leasehold::queue
