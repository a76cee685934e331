// The owner of an item: its claim, and the lease of the session that holds it.
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

/// Rows of refusals may leave a column empty, rows of lists do not.
template <typename T>
T value_in(const std::optional<T>& column) {
  return column.value_or(T{});
}
template <typename T>
const T& value_in(const T& column) {
  return column;
}

/// From a row with the columns of a claim and of its session's lease.
template <typename Row>
LeaseInfo owner_from(const Row& row, std::string item) {
  LeaseInfo owner;
  owner.kind = "item";
  owner.key = std::move(item);
  owner.token = {value_in(row.token)};
  owner.holder.name = value_in(row.holder);
  owner.holder.host = value_in(row.host);
  owner.holder.boot_id = value_in(row.boot_id);
  owner.holder.pid = value_in(row.pid);
  owner.holder.process_start = value_in(row.process_start);
  owner.holder.tty = value_in(row.tty);
  owner.ttl = value_in(row.ttl);
  owner.acquired_at = value_in(row.acquired_at);
  owner.heartbeat_at = value_in(row.heartbeat_at);
  owner.expires_at = value_in(row.expires_at);
  owner.session = value_in(row.session_id);
  owner.label = value_in(row.label);
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

// Converts the store's answers about sessions, items and claims to results of the public API.
namespace session {

using lease::odd_answer;

/// "session \"s-81f\""
std::string describe_session(std::string_view id);
/// "item \"SD-1\""
std::string describe_item(std::string_view key);

/// What a stored path stands for.
struct PathPlace {
  std::string host;
  std::string repository;  ///< empty: the path is absolute
  std::string path;
};
/// A path as it is stored: "db1:/srv/app/src", or for a whole repository "db1:repo=%2Fsrv%2Fapp%2F.git/src".
Result<std::string> stored_path(std::string_view path, const PathOptions& options);
PathPlace place_of_path(std::string_view stored);
/// "path \"/srv/app/src\" on db1"
std::string describe_path(const PathPlace& place);

Error no_such_session(std::string_view id);
Error no_such_item(std::string_view key);
/// Stale for this host, even where the store cannot know.
Error stale_session(std::string_view session);

/// The refusal of an action on a session.
Error session_refusal(const sql::LeaseAnswer& answer, std::string_view id);

/// The refusal of an action on an item. `item` is the requested one; `session` is the caller's, if it is known.
Error claim_refusal(const sql::ClaimAnswer& answer, std::string_view item, std::string_view session = {});

/// Why a session gets no next item. `parent` is empty unless it asked for a child.
Error no_next_item(const sql::ClaimAnswer& answer, std::string_view parent, std::string_view session);
/// The refusal of paths.
Error path_refusal(const sql::ClaimAnswer& answer, std::string_view session);

/// The granted claim, or the refusal.
Result<Claim> claim_from(Result<sql::ClaimAnswer> answer, std::string_view item, std::string_view session = {});

}  // namespace session

// The state of Sessions, Items and Claims.
namespace session {

/// With what only this host knows: a session whose process is gone is stale.
SessionInfo session_info_from(sql::SessionRow& row);

/// Ends a session whose process is gone; returns whether it is gone. The store then knows what this host knows, and
/// grants the session nothing more. Errors are ignored: the store then answers with what it knows.
bool end_if_gone(storage::Backend& backend, const Holder& process, BootTime deadline);
bool end_if_gone(storage::Backend& backend, std::string_view id, BootTime deadline);

}  // namespace session

struct Sessions::Impl : lease::StoreAccess {
  /// Shared by all handles of a store.
  std::shared_ptr<lease::Recalls> recalls;
};

struct Items::Impl : lease::StoreAccess {
  /// Items in a state that dead processes of this host change: `claimed`, `stale` or `blocked`, up to `page.max`.
  [[nodiscard]] Result<std::vector<ItemInfo>> list_as_seen_here(const sql::ItemList& page, ItemState wanted) const;
};

struct Claims::Impl : lease::StoreAccess {
  /// Shared by all handles of a store.
  std::shared_ptr<lease::Awaited> awaited;

  /// Repeats until a grant, a final refusal or the end of the wait; then returns the last refusal.
  [[nodiscard]] Result<Claim> take_patiently(std::string_view item, Duration wait, const Call& call,
                                             const std::function<Result<Claim>()>& once) const;
};

}  // namespace leasehold
