// The words of the kernel: holder, token, lease, grant.
#pragma once

#include <compare>
#include <cstdint>
#include <iosfwd>
#include <optional>
#include <string>
#include <vector>

#include "leasehold/export.h"
#include "leasehold/time.h"

namespace leasehold {

/// The fencing number of one grant: strictly greater than every earlier token of the same key.
/// Store it beside what you write, and refuse a smaller one.
struct Token {
  std::int64_t value = 0;
  friend auto operator<=>(const Token&, const Token&) = default;
};
/// Writes the number.
LEASEHOLD_EXPORT std::ostream& operator<<(std::ostream& out, const Token& token);

/// Who holds a lease. The name is for people and proves nothing; only the token does.
/// The other fields let somebody on the same host find the process, and tell it from a later
/// process that got the same pid.
struct LEASEHOLD_EXPORT Holder {
  std::string name;
  std::string host;
  /// Where pid and process_start mean something: a digest of the machine's boot id and its pid and time namespaces.
  std::string boot_id;
  std::int64_t pid = 0;
  std::int64_t process_start = 0;  ///< clock ticks after boot, field 22 of /proc/PID/stat
  std::string tty;
  std::string instance;  ///< random, drawn once per process; empty in an Error

  /// This process. An empty name becomes "user@host:pid".
  static Holder self(std::string name = {});
};

/// Why a token is no longer the current one.
enum class LostReason {
  expired,     ///< the lease ran out before the heartbeat came
  superseded,  ///< a later grant of the key exists
  revoked,     ///< an operator ended it
  finished,    ///< it was released or completed
};
LEASEHOLD_EXPORT const char* to_string(LostReason why) noexcept;

/// Derived from the lease's columns and the store's clock, never stored.
enum class LeaseState {
  free,     ///< nobody holds the key
  running,  ///< held, and `expires_at` lies ahead
  expired,  ///< not ended, but its time has run out: the next one may take it
};
LEASEHOLD_EXPORT const char* to_string(LeaseState state) noexcept;

/// What people ask about a lease: a picture of one moment. Reading it proves nothing about a later
/// one; to guard a write, use fence().
struct LeaseInfo {
  std::string kind;  ///< lock, job, chunk, session, item, schedule
  std::string key;
  LeaseState state = LeaseState::free;
  Token token;  ///< of the latest grant, also when that has ended. Never in an Error: zero there
  Holder holder;
  Duration ttl{};
  Timestamp acquired_at{};
  Timestamp heartbeat_at{};
  Timestamp expires_at{};
  std::optional<Timestamp> ended_at;
  std::string end_reason;  ///< released, completed, closed, expired, revoked; empty while not ended
  std::string end_detail;  ///< what the revoking operator said, or why many ended at once (a reboot)
  std::int64_t waiters = 0;
  std::string session;                     ///< of a claimed item: whose it is. Its lease is what the rest tells of
  std::string label;                       ///< what that session says it is doing
  std::optional<Timestamp> progress_at{};  ///< when it last showed progress
  std::optional<Timestamp> taken_at{};     ///< since when the item is its
  Timestamp store_now{};                   ///< when the store painted the picture

  [[nodiscard]] Duration heartbeat_age() const { return store_now - heartbeat_at; }
  [[nodiscard]] Duration frees_in() const { return expires_at - store_now; }
};

/// The exclusive right over `key` until `expires_at`, by the store's clock; until `trusted_until`, by
/// this machine's.
struct Grant {
  std::string key;
  Token token;
  Holder holder;
  Duration ttl{};
  Timestamp acquired_at{};
  Timestamp expires_at{};
  /// Stop working before this moment: it was counted from *before* the request was sent, so the
  /// store cannot give the key away earlier.
  BootTime trusted_until{};
  /// The answer to a repeated request id: granted earlier, told again.
  bool replayed = false;
  std::int64_t lease_id = 0;  ///< of the lease behind it
};

/// What a holder should know before its next heartbeat.
struct LeaseNews {
  bool ended = false;                        ///< the lease is over: revoked, or taken over after it ran out
  std::vector<std::int64_t> cancelled = {};  ///< jobs under it that somebody wants to stop
};

/// One lease for many holdings: a worker or a loader attaches all its claims to it and heartbeats this one.
struct SharedLease {
  std::int64_t id = 0;
  std::string instance;  ///< proof: random; only the process that opened the lease knows it
  Duration ttl{};
  Timestamp expires_at{};
  BootTime trusted_until{};
};

}  // namespace leasehold
