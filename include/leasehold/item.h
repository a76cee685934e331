// A backlog that many sessions share: an item has at most one owner, and every session can see which one.
//
//   auto added = store.items().add("SD-1", {.title = "Parse nested comments"});
//   if (!added) return report(added.error());
//   auto claim = store.claims().take("SD-1", session_id, {.session_token = session_token});
//   if (!claim) return report(claim.error());         // held: by which session, where, alive?, since when, until when
//   work_on(*claim);
//   auto done = store.items().done("SD-1", claim->token);
//   if (!done) return report(done.error());           // lost: the session was silent, and another one has taken the
//   item
//
// A claim lasts as long as its session is alive: only the session needs heartbeats. When the session goes stale, the
// next take gets the item at once, with a greater token; from then on the old token is refused.
//
// Items and Claims are cheap handles: copy them freely, and call their methods from any thread.
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
#include "leasehold/page.h"
#include "leasehold/result.h"
#include "leasehold/session.h"

namespace leasehold {

/// Derived from the item, its claim and the session of that claim; never stored.
enum class ItemState {
  open,     ///< no session works on it
  blocked,  ///< no session works on it, and an item that it depends on is not done
  claimed,  ///< a live session holds it
  stale,    ///< its session fell silent or its process ended: the next take gets it
  done,
};
LEASEHOLD_EXPORT const char* to_string(ItemState state) noexcept;

/// Unset: keep the current value; for a new item: empty.
struct ItemOptions {
  std::optional<std::string> title{};     ///< up to bounds::title_bytes
  std::optional<std::string> parent{};    ///< a session that holds the parent holds its children, too. Empty: none
  std::optional<std::string> metadata{};  ///< any JSON, up to bounds::metadata_bytes, kept byte for byte
  /// Items that two sessions must not work on at the same time. Mutual. Replaces the previous list.
  std::optional<std::vector<std::string>> conflicts{};
  /// Items that must be done before a session can take this one. Replaces the previous list.
  std::optional<std::vector<std::string>> depends_on{};
  std::optional<int> priority{};      ///< next() takes higher ones first; -32768 to 32767
  std::optional<std::string> note{};  ///< appended, as by note()
  std::string author{};               ///< of the note; empty: the name of the calling process
};

/// A text that stays with an item. Notes are only appended.
struct ItemNote {
  Timestamp at{};
  std::string author;  ///< for people: a session, or the name of a process
  std::string text;
};

/// Who finishes an item, and what it leaves behind.
struct ItemDoneOptions {
  std::optional<Token> token{};  ///< of the claim
  std::string session{};         ///< instead of the claim's token: the session that holds it, with its own token
  std::optional<Token> session_token{};  ///< needed with `session`
  std::string note{};                    ///< appended, if this call finishes the item
};

struct ItemInfo {
  std::string key;
  std::string title;
  std::string parent;
  std::string metadata;
  std::vector<std::string> conflicts;
  std::vector<std::string> depends_on;
  std::vector<std::string> waits_for;  ///< those of depends_on that are not done
  int priority = 0;
  ItemState state = ItemState::open;
  std::string session;  ///< the session that holds it while `claimed`; empty otherwise
  Token token;          ///< of its latest claim
  Timestamp created_at{};
  std::optional<Timestamp> done_at{};
  std::string done_by;                 ///< the session that completed it, or the holder name of the caller
  std::optional<LeaseInfo> held_by{};  ///< the lease of its session, even of a stale one
  std::int64_t note_count = 0;
  std::vector<ItemNote> notes;  ///< oldest first; only in the answer of show()
  Timestamp store_now{};
};

struct ItemFilter {
  std::optional<ItemState> state{};
  std::string parent{};          ///< only children of this item
  int max = defaults::list_max;  ///< listed in key order
  std::string page{};            ///< Page::next of the previous page; empty: the first page
};

struct ItemTakeOptions {
  /// Proves that the session itself makes the call. Unset: an operator acts for the session as it is now, which on
  /// PostgreSQL needs the scope `admin`. (A switch needs no session token: the claim's token is the proof.)
  std::optional<Token> session_token{};
  bool create = false;  ///< adds the item if it does not exist
  /// How long to wait while the item is held or blocked. Zero: try once. Duration::max(): forever.
  Duration wait{0};
};

struct ClaimNextOptions {
  /// Proves that the session itself makes the call.
  Token session_token{};
  std::string parent{};  ///< only children of this item; empty: any item
  /// How long to wait until an item is free. Zero: try once. Duration::max(): forever.
  Duration wait{0};
  /// Makes a repeated call harmless: it returns the same claim while that is active. Empty: a random id.
  std::string request_id{};
};

struct PathOptions {
  std::string directory{};  ///< relative paths begin here; empty: the working directory of the process
  bool repo_wide = false;   ///< the same path in another worktree of the repository is the same path
};

/// Files and folders that a session holds.
struct PathsTaken {
  std::string session;
  std::vector<std::string> paths;  ///< as stored: see PathInfo::path
  std::int64_t added = 0;          ///< the rest it had before
  Timestamp expires_at{};          ///< of the session; its heartbeats extend it
};

/// A file or folder that a session holds.
struct PathInfo {
  std::string path;        ///< absolute; with `repository`, relative to the root of a worktree
  std::string host;        ///< the machine with this path
  std::string repository;  ///< its common git folder, for a path that counts in all of its worktrees
  std::string session;
  Timestamp taken_at{};
  LeaseInfo held_by;  ///< the session's lease
  Timestamp store_now{};
};

struct PathFilter {
  std::string session{};  ///< empty: every session
  int max = defaults::list_max;
  std::string page{};  ///< Page::next of the previous page; empty: the first page
};

/// An item that a session holds.
struct Claim {
  std::string key;  ///< of the item
  Token token;
  std::string session;
  Timestamp taken_at{};
  Timestamp expires_at{};        ///< of the session; its heartbeats extend it
  std::string previous_session;  ///< the stale session it was taken from; empty otherwise
  std::optional<Holder> previous_holder{};
  bool created = false;  ///< the item is new
  bool replayed = false;
};

/// A claim, and how it ended.
struct ClaimInfo {
  std::string key;    ///< of the item
  std::string title;  ///< of the item; empty in the answer of revoke()
  Token token;
  std::string session;
  bool active = false;  ///< not ended; its session may be stale even so
  Timestamp taken_at{};
  std::optional<Timestamp> ended_at{};
  std::string end_reason;  ///< released, completed, switched, transferred, expired, revoked
  std::string end_detail;
  LeaseInfo held_by;  ///< the session's lease, as refusals show it
  Timestamp store_now{};
};

struct ClaimFilter {
  std::string item{};     ///< empty: every item
  std::string session{};  ///< empty: every session
  bool ended = false;     ///< also ended claims, newest first
  int max = defaults::list_max;
  std::string page{};  ///< Page::next of the previous page; empty: the first page
};

class LEASEHOLD_EXPORT Items {
 public:
  /// Adds an item, or changes the given fields of an existing one. Returns true if the item is new. A parent, a
  /// conflicting item and an item that it depends on must exist. No item can be its own ancestor, or depend on itself
  /// through others.
  Result<bool> add(std::string_view key, const ItemOptions& options = {}) const;
  Result<ItemInfo> show(std::string_view key) const;
  Result<Page<ItemInfo>> list(const ItemFilter& filter = {}) const;
  /// Marks an item done. The owner passes the token of its claim, which ends with the item. Without a token no session
  /// may hold the item (`held` otherwise). Repeating the call is harmless.
  Result<void> done(std::string_view key, std::optional<Token> token = {}) const;
  /// With `session` and `session_token`, the session that holds the item finishes it: `held` names another owner,
  /// `lost` says how this session lost the item, `unregistered` that its token is not current.
  Result<void> done(std::string_view key, const ItemDoneOptions& options) const;
  /// Appends a note. `author` is for people; empty: the name of the calling process.
  Result<void> note(std::string_view key, std::string_view text, std::string_view author = {}) const;
  Result<void> reopen(std::string_view key) const;
  /// Refused with `held` while a live session holds the item, and with `busy` while it has children.
  Result<void> remove(std::string_view key) const;

  /// For the library: only it creates an Impl.
  struct Impl;
  explicit Items(std::shared_ptr<const Impl> impl) : impl_(std::move(impl)) {}

 private:
  std::shared_ptr<const Impl> impl_;
};

class LEASEHOLD_EXPORT Claims {
 public:
  /// Refused with
  ///   held          another session holds it
  ///   race          another session got it during this call
  ///   blocked       another session holds its parent, a child or a conflicting item; held_by is that session's lease
  ///   not_found     no such item
  ///   terminal      it is done
  ///   unregistered  the session does not exist, is stale or is closed: open one
  ///   at_capacity   the session is exclusive, and holds another item
  ///   lost          (revoked) an operator has taken it from this session; a transfer gives it back
  /// `held_by` names the owner. A stale owner does not block a take. Taking an item again returns the same claim.
  Result<Claim> take(std::string_view item, std::string_view session, const ItemTakeOptions& options = {},
                     const Call& call = {}) const;

  /// Takes the first item that is open: of the highest priority, then the oldest. Callers at the same time get
  /// different items. An item with children that are not done is left alone: the children come first. Refused with
  ///   empty         nothing is left to do, but for items that the session holds itself
  ///   held          other sessions hold what is left; held_by is the session that goes stale first, retry_in says when
  ///   blocked       what is left depends on other items, or other sessions hold its parent, children or conflicts
  ///   unregistered, at_capacity   as take()
  Result<Claim> next(std::string_view session, const ClaimNextOptions& options, const Call& call = {}) const;

  /// Takes files and folders, all or none. A folder blocks all that is in it, and a file the folders above it. Symbolic
  /// links are followed, and the paths need not exist. A session's paths last as long as the session. `session_token`
  /// proves that the session makes the call. Refused with
  ///   held          another session has a path in the way: held_by.key is that path
  ///   unregistered  as take()
  /// Up to bounds::max_paths in a call. Taking a path again is harmless.
  Result<PathsTaken> take_paths(std::string_view session, Token session_token, const std::vector<std::string>& paths,
                                const PathOptions& options = {}, const Call& call = {}) const;
  /// Releases these paths of the session; without any, all of them. Returns how many it had. Repeating is harmless.
  Result<std::int64_t> release_paths(std::string_view session, Token session_token,
                                     const std::vector<std::string>& paths = {}, const PathOptions& options = {}) const;
  /// In the order of paths.
  Result<Page<PathInfo>> list_paths(const PathFilter& filter = {}) const;
  /// What keeps another session than `session` from taking this path now: its owners, nothing if it is free. Only a
  /// look: take_paths() decides.
  Result<std::vector<PathInfo>> paths_in_the_way(std::string_view path, std::string_view session = {},
                                                 const PathOptions& options = {}) const;

  /// Releases this claim, never another one of the session. Accepted after the session went stale, while no other
  /// session has taken the item. Releasing twice is harmless.
  Result<void> release(std::string_view item, std::string_view session, Token token,
                       std::string_view reason = {}) const;
  /// The same by the session that holds the item: its own token is the proof.
  Result<void> release(std::string_view item, const SessionHandle& session, std::string_view reason = {}) const;

  /// Releases one item and takes another, in one step: if the take is refused, nothing changes.
  Result<Claim> switch_to(std::string_view from, Token token, std::string_view to, const ItemTakeOptions& options = {},
                          const Call& call = {}) const;

  /// Hands an item over to another live session. The owner passes its token. An operator passes none, and can also hand
  /// over an item that no session holds.
  Result<Claim> transfer(std::string_view item, std::string_view to_session, std::optional<Token> token = {},
                         std::string_view reason = {}) const;

  /// For operators: ends a claim. Its session cannot take the item again until another session has held it.
  Result<ClaimInfo> revoke(std::string_view item, std::string_view reason) const;

  /// The latest claim of an item; `not_found` if there was none.
  Result<ClaimInfo> show(std::string_view item) const;
  Result<Page<ClaimInfo>> list(const ClaimFilter& filter = {}) const;

  /// For the library: only it creates an Impl.
  struct Impl;
  explicit Claims(std::shared_ptr<const Impl> impl) : impl_(std::move(impl)) {}

 private:
  std::shared_ptr<const Impl> impl_;
};

}  // namespace leasehold
