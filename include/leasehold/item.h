// A backlog that many sessions share: an item has at most one owner, and everybody can see who.
//
//   auto added = store.items().add("SD-1", {.title = "Parse nested comments"});
//   if (!added) return tell(added.error());
//   auto claim = store.claims().take("SD-1", session_id, {.session_token = session_token});
//   if (!claim) return tell(claim.error());         // held: by which session, where, alive?, since when, frees when
//   work_on(*claim);
//   auto done = store.items().done("SD-1", claim->token);
//   if (!done) return tell(done.error());           // lost: the session was silent, and somebody else has taken it
//
// A claim lasts as long as its session is alive: there is nothing to heartbeat but the session. When that goes stale,
// the next take gets the item at once, with a greater token; the late one's token is worth nothing then.
//
// Items and Claims are cheap handles; they may be copied, and every method may be called from any thread.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "leasehold/call.h"
#include "leasehold/export.h"
#include "leasehold/lease.h"
#include "leasehold/limits.h"
#include "leasehold/result.h"

namespace leasehold {

/// Derived from the item, its claim and that claim's session, never stored.
enum class ItemState {
  open,     ///< nobody works on it
  claimed,  ///< a live session has it
  stale,    ///< its session went silent or its process ended: the next take gets it
  done,
};
LEASEHOLD_EXPORT const char* to_string(ItemState state) noexcept;

/// Unset: stays as it is; of a new item: empty.
struct ItemOptions {
  std::optional<std::string> title{};     ///< up to bounds::title_bytes
  std::optional<std::string> parent{};    ///< whoever has a parent has its children, too. Empty: none
  std::optional<std::string> metadata{};  ///< any JSON, up to bounds::metadata_bytes, kept byte for byte
  /// Items that must not be worked on at the same time by two sessions. Mutual. Replaces those said before.
  std::optional<std::vector<std::string>> conflicts{};
};

struct ItemInfo {
  std::string key;
  std::string title;
  std::string parent;
  std::string metadata;
  std::vector<std::string> conflicts;
  ItemState state = ItemState::open;
  bool is_working_on = false;     ///< exactly when it is `claimed`
  std::string active_session_id;  ///< of whom; empty otherwise
  Token token;                    ///< of its latest claim
  Timestamp created_at{};
  std::optional<Timestamp> done_at{};
  std::string done_by;               ///< the session that said so, or who did
  std::optional<LeaseInfo> owner{};  ///< who has it, also when stale
  Timestamp store_now{};
};

struct ItemFilter {
  std::optional<ItemState> state{};
  std::string parent{};     ///< only its children
  std::string after_key{};  ///< items come in the order of their keys
  int limit = defaults::list_limit;
};

struct ItemTakeOptions {
  /// Proof that the session asks for itself. Unset: an operator asks for the session's present opening, which on
  /// PostgreSQL needs the scope `admin`. (A switch needs none: the claim's token proves it.)
  std::optional<Token> session_token{};
  bool create = false;  ///< adds the item if there is none
  /// How long to wait while it is held or blocked. Zero: ask once. Duration::max(): for ever.
  Duration wait{0};
};

/// An item that is a session's now.
struct Claim {
  std::string item;
  Token token;
  std::string session;
  Timestamp taken_at{};
  Timestamp expires_at{};        ///< the session's: heartbeats of it move it on
  std::string previous_session;  ///< whose stale claim was taken over; empty otherwise
  std::string previous_holder;
  bool created = false;  ///< the item is new
  bool replayed = false;
};

/// How a claim is, or how it ended.
struct ClaimInfo {
  std::string item;
  std::string title;  ///< the item's; not told by revoke()
  Token token;
  std::string session;
  bool active = false;  ///< not ended; the session may be stale all the same
  Timestamp taken_at{};
  std::optional<Timestamp> ended_at{};
  std::string end_reason;  ///< released, completed, switched, transferred, expired, revoked
  std::string end_detail;
  LeaseInfo owner;  ///< the session's lease, as told in refusals
  Timestamp store_now{};
};

struct ClaimFilter {
  std::string item{};     ///< empty: every item
  std::string session{};  ///< empty: every session
  bool ended = false;     ///< also those that have ended, newest first
  int limit = defaults::list_limit;
};

class LEASEHOLD_EXPORT Items {
 public:
  /// Adds an item, or changes what is given of one that is there. True: it is new. A parent or conflicting item must
  /// exist, and no item is its own ancestor.
  Result<bool> add(std::string_view key, const ItemOptions& options = {}) const;
  Result<ItemInfo> show(std::string_view key) const;
  Result<std::vector<ItemInfo>> list(const ItemFilter& filter = {}) const;
  /// By its owner, with the token of the claim, which ends with it; without a token, of an item that nobody works on
  /// (`held` otherwise). Saying it twice is fine.
  Result<void> done(std::string_view key, std::optional<Token> token = {}) const;
  Result<void> reopen(std::string_view key) const;
  /// Refused with `held` while a live session has it, with `busy` while it has children.
  Result<void> remove(std::string_view key) const;

  /// For the library: nobody else has an Impl.
  struct Impl;
  explicit Items(std::shared_ptr<const Impl> impl) : impl_(std::move(impl)) {}

 private:
  std::shared_ptr<const Impl> impl_;
};

class LEASEHOLD_EXPORT Claims {
 public:
  /// Refused with
  ///   held          another session has it
  ///   race          another session got it while this was being asked
  ///   blocked       its parent, a child or a conflicting item is another session's; current: that one's
  ///   not_found     no such item
  ///   terminal      it is done
  ///   unregistered  no such session, or it is stale or closed: open one
  ///   at_capacity   the session is exclusive, and has another item
  ///   lost          (revoked) an operator has taken it from this session; a transfer gives it back
  /// `current` tells the owner. A stale owner is no refusal. Taking what one has gives the same claim again.
  Result<Claim> take(std::string_view item, std::string_view session, const ItemTakeOptions& options = {},
                     const Call& call = {}) const;

  /// Gives up this claim, never another one of the session. Accepted after the session went stale, while nobody has
  /// taken the item; releasing twice is fine.
  Result<void> release(std::string_view item, std::string_view session, Token token,
                       std::string_view reason = {}) const;

  /// Gives up one item and takes another, in one step: if that is refused, nothing has changed.
  Result<Claim> switch_to(std::string_view from, Token token, std::string_view to, const ItemTakeOptions& options = {},
                          const Call& call = {}) const;

  /// Hands an item over to another session that is alive: by its owner, with the token; by an operator, without, also
  /// one that nobody has.
  Result<Claim> transfer(std::string_view item, std::string_view to_session, std::optional<Token> token = {},
                         std::string_view reason = {}) const;

  /// An operator's: ends a claim. Its session cannot take the item again, unless somebody else had it meanwhile.
  Result<ClaimInfo> revoke(std::string_view item, std::string_view reason) const;

  /// The latest claim of an item; `not_found` if it never had one.
  Result<ClaimInfo> show(std::string_view item) const;
  Result<std::vector<ClaimInfo>> list(const ClaimFilter& filter = {}) const;

  /// For the library: nobody else has an Impl.
  struct Impl;
  explicit Claims(std::shared_ptr<const Impl> impl) : impl_(std::move(impl)) {}

 private:
  std::shared_ptr<const Impl> impl_;
};

}  // namespace leasehold
