// Sessions: a terminal, a coding agent or any other long-lived worker registers itself, and every process can see who
// it is, where it runs, whether it is alive and whether it is working.
//
//   auto session = store.sessions().hold({.label = "fixing the parser", .codebase = "~/src/parser"});
//   if (!session) return report(session.error());
//   auto claim = store.claims().take("SD-1", session->grant().key, {.session_token = session->grant().token});
//   if (!claim) return report(claim.error());
//
// A session is a lease with a description. Two ages show its condition: *heartbeat age* (alive: a process keeps the
// session up) and *progress age* (working: the session reported progress). After silence for longer than its ttl it is
// *stale*, and other sessions can take its claims at once. If its process on the same host is gone, it is stale without
// waiting.
//
// Sessions is a cheap handle: copy it freely, and call its methods from any thread.
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
#include "leasehold/page.h"
#include "leasehold/result.h"

namespace leasehold {

/// Derived from the session's row, its lease and the store's clock; never stored.
enum class SessionState {
  active,    ///< alive, and it has reported progress within its ttl
  idle,      ///< alive, but without progress for longer than its ttl, or parked
  stale,     ///< silent for longer than its ttl, or its process is gone: other sessions can take its claims
  released,  ///< closed, by itself or by an operator
};
LEASEHOLD_EXPORT const char* to_string(SessionState state) noexcept;

/// A session and the proof to be it, as one word: "ID.TOKEN". Give it only to the session itself.
struct LEASEHOLD_EXPORT SessionHandle {
  std::string id;
  Token token;

  /// "s-81f0c2.1763200000000000"
  [[nodiscard]] std::string text() const;
  /// Nothing if the text is no handle. What follows its last dot is a token if it has 15 or 16 digits.
  static std::optional<SessionHandle> parse(std::string_view text);
};

/// A process of this machine, distinct from every later one with the same pid.
struct ProcessId {
  std::int64_t pid = 0;
  std::int64_t start = 0;  ///< as Holder::process_start
};

/// The program that the caller works for: the nearest process above it that is no shell. Hooks and tools of a coding
/// agent find the agent with it. Nothing if /proc does not show it.
LEASEHOLD_EXPORT std::optional<ProcessId> agent_process();

/// A holder whose life is that of a process of this host, for SessionOptions through Call::holder. `not_found` if there
/// is no such process. An empty name becomes "user@host:pid".
LEASEHOLD_EXPORT Result<Holder> holder_of_process(std::int64_t pid, std::string name = {});

struct SessionOptions {
  /// Up to bounds::name_bytes. Empty: a random id. An id can be used again when its last session is stale or closed;
  /// the claims of that session are then free.
  std::string id{};
  /// The session is stale when it is silent for longer than this: the only threshold, used everywhere.
  Duration ttl = defaults::session_ttl;
  std::string label{};  ///< what it is doing, for people
  std::string codebase{};
  std::string track{};
  std::string metadata = "{}";  ///< any JSON, up to bounds::metadata_bytes, kept byte for byte
  bool exclusive = false;       ///< at most one claim at a time
  /// Heartbeats keep the session up for at most this long after it was opened. Unset: no such bound.
  std::optional<Duration> max_age{};
  /// Makes a repeated call harmless: see AcquireOptions::request_id. Empty: a random id.
  std::string request_id{};
};

struct SessionHeartbeat {
  /// Reports progress, and ends parking; kept as the session's latest note, up to bounds::text_bytes. Unset:
  /// only alive.
  std::optional<std::string> progress{};
  std::optional<Duration> ttl{};  ///< unset: the session's ttl
};

/// A snapshot of one moment.
struct SessionInfo {
  std::string id;
  SessionState state = SessionState::active;
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
  std::int64_t claims = 0;                   ///< items it holds now
  std::string item;                          ///< the item it took last, if it holds any
  std::optional<Timestamp> item_taken_at{};  ///< when it took that item
  Timestamp store_now{};

  [[nodiscard]] Duration heartbeat_age() const { return store_now - heartbeat_at; }
  [[nodiscard]] Duration progress_age() const { return store_now - progress_at; }
  /// Negative: how long it has been stale.
  [[nodiscard]] Duration until_stale() const { return expires_at - store_now; }
};

/// A session of the caller's own process, with the proof to act for it.
struct OwnSession {
  std::string handle;  ///< SessionHandle::text()
  SessionInfo session;
};

struct SessionFilter {
  std::optional<SessionState> state{};
  std::string host{};      ///< empty: every host
  std::string codebase{};  ///< empty: every codebase
  std::string track{};     ///< empty: every track
  bool released = false;   ///< also sessions that were closed, or ended after going stale
  int max = defaults::list_max;
  std::string page{};  ///< Page::next of the previous page; empty: the first page
};

/// What ended with a session.
struct SessionClosed {
  std::string id;
  std::vector<std::string> items;  ///< items of the claims that were released with it
};

class LEASEHOLD_EXPORT Sessions {
 public:
  /// Refused with `held` if the id belongs to a live session. The grant's key is the session's id.
  Result<Grant> open(const SessionOptions& options = {}, const Call& call = {}) const;

  /// Extends a live session; never revives a stale one (`lost`: open it again).
  Result<Grant> heartbeat(std::string_view id, Token token, const SessionHeartbeat& heartbeat = {}) const;

  /// Announces silence: the session does not go stale before it is over. Zero ends it. Returns the same as heartbeat().
  Result<Grant> park(std::string_view id, Token token, Duration silence) const;

  /// Ends the session and releases all its claims, with the reason. Accepted after it went stale, while no other
  /// process has recovered it. Closing twice is harmless.
  Result<SessionClosed> close(std::string_view id, Token token, std::string_view reason = {}) const;

  /// For operators: closes a session. A holder that uses hold() notices within two seconds, any other with its next
  /// heartbeat.
  Result<SessionClosed> revoke(std::string_view id, std::string_view reason) const;

  Result<SessionInfo> show(std::string_view id) const;
  /// Sessions that are not released; the longest silent come last. A session of this host is shown as stale if its
  /// process is gone.
  Result<Page<SessionInfo>> list(const SessionFilter& filter = {}) const;

  /// The live sessions of the caller's own process, the latest first: those whose holder has this boot id, the pid and
  /// the start of the caller or of a process above it, up to the first that is no shell. So a caller that lost its
  /// handle finds it again. With `process`, only those of that process, which must be the caller or one above it
  /// (`invalid_argument`).
  Result<std::vector<OwnSession>> mine(std::optional<ProcessId> process = {}) const;

  /// open() plus heartbeats on their own thread; the returned object closes the session.
  Result<HeldLease> hold(const SessionOptions& options = {}, const Call& call = {}) const;

  /// For the library: only it creates an Impl.
  struct Impl;
  explicit Sessions(std::shared_ptr<const Impl> impl) : impl_(std::move(impl)) {}

 private:
  std::shared_ptr<const Impl> impl_;
};

}  // namespace leasehold
