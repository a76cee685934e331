// Whose an item is: the claim, and the lease of the session that has it.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lease/answer.h"
#include "lease/call.h"
#include "lease/patience.h"
#include "lease/reap.h"
#include "lease/recall.h"
#include "leasehold/item.h"
#include "leasehold/lease.h"
#include "leasehold/result.h"
#include "leasehold/session.h"
#include "storage/backend.h"
#include "storage/statements.h"

namespace leasehold {

namespace session {

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
  const bool alive = owner.expires_at > owner.store_now && !lease::is_gone(owner.holder);
  owner.state = alive ? LeaseState::running : LeaseState::expired;
  return owner;
}

/// "session \"s-81f\" (fixing the parser) of ann on db1 (pts/3), last heartbeat 12s ago, last progress 3m ago, claimed
/// 41m ago, frees in 4m 48s unless it heartbeats"
std::string describe_owner(const LeaseInfo& owner);

}  // namespace session

// From the store's answers about sessions, items and claims to what a caller gets.
namespace session {

using lease::odd_answer;

/// "session \"s-81f\""
std::string describe_session(std::string_view id);
/// "item \"SD-1\""
std::string describe_item(std::string_view key);

Error no_such_session(std::string_view id);
Error no_such_item(std::string_view key);

/// Whatever an act on a session is refused with.
Error session_refusal(const sql::LeaseAnswer& answer, std::string_view id);

/// Whatever an act on an item is refused with. `item` is the one that was asked for; `session` is who asked, where the
/// caller said.
Error claim_refusal(const sql::ClaimAnswer& answer, std::string_view item, std::string_view session = {});

/// The claim that was granted, or why not.
Result<Claim> claim_from(Result<sql::ClaimAnswer> answer, std::string_view item, std::string_view session = {});

}  // namespace session

// What Sessions, Items and Claims hold.
namespace session {

/// Ends a session whose process is gone, so that the store knows what this host knows and refuses to give it anything.
/// Trouble in doing so is no reason to fail: then the store answers by what it knows.
void end_if_gone(storage::Backend& backend, std::string_view id, BootTime deadline);

}  // namespace session

struct Sessions::Impl : lease::StoreAccess {
  /// Shared by all handles of a store.
  std::shared_ptr<lease::Recalls> recalls;
};

struct Items::Impl : lease::StoreAccess {
  /// Those that are `claimed`, or those that are `stale`, up to `page.most`.
  [[nodiscard]] Result<std::vector<ItemInfo>> list_held(const sql::ItemList& page, ItemState wanted) const;
};

struct Claims::Impl : lease::StoreAccess {
  /// Shared by all handles of a store.
  std::shared_ptr<lease::Awaited> awaited;

  /// Asks until the item was granted or refused for good, or the time to wait is over; then gives the last refusal.
  [[nodiscard]] Result<Claim> take_patiently(std::string_view item, Duration wait, const Call& call,
                                             const std::function<Result<Claim>()>& once) const;
};

}  // namespace leasehold
