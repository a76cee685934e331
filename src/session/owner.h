// Whose an item is: the claim, and the lease of the session that has it.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "leasehold/lease.h"

namespace leasehold::session {

/// Rows of refusals may leave a column out, rows of lists do not.
template <typename T>
T told(const std::optional<T>& column) {
  return column.value_or(T{});
}
template <typename T>
const T& told(const T& column) {
  return column;
}

/// Of a row with the columns of a claim and of its session's lease.
template <typename Row>
LeaseInfo owner_from(const Row& row, std::string item) {
  LeaseInfo owner;
  owner.kind = "item";
  owner.key = std::move(item);
  owner.token = {told(row.token)};
  owner.holder.name = told(row.holder);
  owner.holder.host = told(row.host);
  owner.holder.boot_id = told(row.boot_id);
  owner.holder.pid = told(row.pid);
  owner.holder.process_start = told(row.process_start);
  owner.holder.tty = told(row.tty);
  owner.ttl = told(row.ttl);
  owner.acquired_at = told(row.acquired_at);
  owner.heartbeat_at = told(row.heartbeat_at);
  owner.expires_at = told(row.expires_at);
  owner.session = told(row.session_id);
  owner.label = told(row.label);
  owner.progress_at = row.progress_at;
  owner.taken_at = row.taken_at;
  owner.store_now = row.store_now;
  owner.state = owner.expires_at > owner.store_now ? LeaseState::running : LeaseState::expired;
  return owner;
}

/// "session \"s-81f\" (fixing the parser) of ann on db1 (pts/3), last heartbeat 12s ago, last progress 3m ago, claimed
/// 41m ago, frees in 4m 48s unless it heartbeats"
std::string describe_owner(const LeaseInfo& owner);

}  // namespace leasehold::session
