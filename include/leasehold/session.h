// Sessions: a terminal, a coding agent or any other long-lived worker says that it is there, and everybody can see who,
// where, whether it is alive and whether it is working.
//
//   auto session = store.sessions().hold({.label = "fixing the parser", .codebase = "~/src/parser"});
//   if (!session) return tell(session.error());
//   auto claim = store.claims().take("SD-1", session->grant().key, {.session_token = session->grant().token});
//   if (!claim) return tell(claim.error());
//
// A session is a lease with a face. Two figures say how it is doing: *heartbeat age* (alive: some process keeps the
// session up) and *progress age* (working: somebody said so). Silent for longer than its ttl it is *stale*, and what it
// has claimed can be taken at once; a process of the same host that is gone makes its session stale without waiting.
//
// Sessions is a cheap handle; it may be copied, and every method may be called from any thread.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "leasehold/call.h"
#include "leasehold/export.h"
#include "leasehold/held_lease.h"
#include "leasehold/lease.h"
#include "leasehold/limits.h"
#include "leasehold/result.h"

namespace leasehold {

/// Derived from the session's row, its lease and the store's clock, never stored.
enum class SessionStatus {
  active,    ///< alive, and it has shown progress within its ttl
  idle,      ///< alive, but without progress for longer than its ttl, or parked
  stale,     ///< silent for longer than its ttl, or its process is gone: what it has claimed can be taken
  released,  ///< closed, by itself or by an operator
};
LEASEHOLD_EXPORT const char* to_string(SessionStatus status) noexcept;

struct SessionOptions {
  /// Up to bounds::name_bytes; drawn at random when empty. An id may be used again when the session before has gone
  /// stale or was closed; what that one had claimed is free then.
  std::string id{};
  /// Stale when silent for longer than this: the one threshold, used everywhere.
  Duration ttl = defaults::session_ttl;
  std::string label{};  ///< what it is doing, for people
  std::string codebase{};
  std::string track{};
  std::string metadata = "{}";  ///< any JSON, up to bounds::metadata_bytes, kept byte for byte
  bool exclusive = false;       ///< at most one claim at a time
  /// No heartbeat keeps it up for longer than this after it was opened. Unset: no such bound.
  std::optional<Duration> max_age{};
  /// Makes repeating harmless, as with locks. Drawn at random when empty.
  std::string request_id{};
};

struct SessionHeartbeat {
  /// Marks work, and ends parking; kept as the session's latest note, up to bounds::text_bytes. Unset: only alive.
  std::optional<std::string> progress{};
  std::optional<Duration> ttl{};  ///< unset: the session's own
};

/// A picture of one moment.
struct SessionInfo {
  std::string id;
  SessionStatus status = SessionStatus::active;
  Token token;
  Holder holder;
  std::string label;
  std::string codebase;
  std::string track;
  std::string metadata;
  bool exclusive = false;
  Duration ttl{};
  Timestamp opened_at{};
  Timestamp heartbeat_at{};
  Timestamp progress_at{};
  std::string progress;  ///< the latest note
  Timestamp expires_at{};
  std::optional<Timestamp> parked_until{};
  std::optional<Timestamp> ends_by{};  ///< from max_age
  std::optional<Timestamp> ended_at{};
  std::string end_reason;  ///< released, expired, revoked; empty while not ended
  std::string end_detail;
  std::int64_t claims = 0;                   ///< items it has now
  std::string item;                          ///< the one it took last, if it has any
  std::optional<Timestamp> item_taken_at{};  ///< since when
  Timestamp store_now{};

  [[nodiscard]] Duration heartbeat_age() const { return store_now - heartbeat_at; }
  [[nodiscard]] Duration progress_age() const { return store_now - progress_at; }
  /// Negative: stale for so long.
  [[nodiscard]] Duration until_stale() const { return expires_at - store_now; }
};

struct SessionFilter {
  std::optional<SessionStatus> status{};
  std::string host{};      ///< empty: every host
  std::string codebase{};  ///< empty: every codebase
  std::string track{};     ///< empty: every track
  bool released = false;   ///< also those that were closed, or ended after going stale
  int limit = defaults::list_limit;
};

/// What ended with a session.
struct SessionClosed {
  std::string id;
  std::vector<std::string> items;  ///< whose claims were released with it
};

class LEASEHOLD_EXPORT Sessions {
 public:
  /// Refused with `held` when the id belongs to a session that is alive. The grant's key is the session's id.
  Result<Grant> open(const SessionOptions& options = {}, const Call& call = {}) const;

  /// Extends a live session; never revives a stale one (`lost`: open it again).
  Result<Grant> heartbeat(std::string_view id, Token token, const SessionHeartbeat& heartbeat = {}) const;

  /// Declares silence: the session does not go stale before it is over. Zero ends it. Gives what heartbeat() gives.
  Result<Grant> park(std::string_view id, Token token, Duration silence) const;

  /// Ends the session and releases all it has claimed, with the reason. Accepted after it went stale, while nobody has
  /// taken it back; closing twice is fine.
  Result<SessionClosed> close(std::string_view id, Token token, std::string_view reason = {}) const;

  /// An operator's close: a holder that keeps it with hold() hears of it within two seconds, any other with its next
  /// heartbeat.
  Result<SessionClosed> revoke(std::string_view id, std::string_view reason) const;

  Result<SessionInfo> show(std::string_view id) const;
  /// Those that are not released, those silent for longest last. Sessions of this host whose process is gone are told
  /// as stale.
  Result<std::vector<SessionInfo>> list(const SessionFilter& filter = {}) const;

  /// open() plus heartbeats on a thread of their own, closed by the returned object.
  Result<HeldLease> hold(const SessionOptions& options = {}, const Call& call = {}) const;

  /// For the library: nobody else has an Impl.
  struct Impl;
  explicit Sessions(std::shared_ptr<const Impl> impl) : impl_(std::move(impl)) {}

 private:
  std::shared_ptr<const Impl> impl_;
};

}  // namespace leasehold
