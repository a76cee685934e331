// The core types: holder, token, lease, grant.
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
  friend auto operator<=>(const Token&, const Token&) = default;  // NOLINT(modernize-use-nullptr): the 0 of <=>
};
/// Writes the number.
LEASEHOLD_EXPORT std::ostream& operator<<(std::ostream& out, const Token& token);

/// The holder of a lease. The name is for people and proves nothing; only the token does. The other fields identify the
/// process on its host, and distinguish it from a later process with the same pid.
struct LEASEHOLD_EXPORT Holder {
  std::string name;
  std::string host;
  /// Where pid and process_start are valid: a digest of the machine's boot id and its pid and time namespaces.
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
  expired,     ///< the lease expired before the heartbeat came
  superseded,  ///< a later grant of the key exists
  revoked,     ///< an operator ended it
  finished,    ///< it was released or completed
  timed_out,   ///< the attempt took longer than its time limit
};
LEASEHOLD_EXPORT const char* to_string(LostReason why) noexcept;

/// Derived from the lease's columns and the store's clock; never stored.
enum class LeaseState {
  free,     ///< no process holds the key
  running,  ///< held, and `expires_at` is in the future
  expired,  ///< not ended, but its time has run out: another caller may take it over
};
LEASEHOLD_EXPORT const char* to_string(LeaseState state) noexcept;

/// A snapshot of a lease. It proves nothing about a later moment; to guard a write, use fence().
struct LeaseInfo {
  std::string kind;  ///< lock, job, chunk, session, item, schedule
  std::string key;
  LeaseState state = LeaseState::free;
  Token token;  ///< of the latest grant, even if that has ended. Always zero in an Error
  Holder holder;
  Duration ttl{};
  Timestamp acquired_at{};
  Timestamp heartbeat_at{};
  Timestamp expires_at{};
  std::optional<Timestamp> ended_at;
  std::string end_reason;  ///< released, completed, closed, expired, revoked; empty while not ended
  std::string end_detail;  ///< the reason given with a revoke, or why many leases ended at once (a reboot)
  std::int64_t waiters = 0;
  std::string session;                     ///< of a claimed item: its session. The rest describes that session's lease
  std::string label;                       ///< what that session is doing, in its own words
  std::optional<Timestamp> progress_at{};  ///< when it last reported progress
  std::optional<Timestamp> taken_at{};     ///< when it took the item
  Timestamp store_now{};                   ///< when the store took this snapshot

  [[nodiscard]] Duration heartbeat_age() const { return store_now - heartbeat_at; }
  [[nodiscard]] Duration retry_in() const { return expires_at - store_now; }
};

/// The exclusive right to `key`: until `expires_at` on the store's clock, until `trusted_until` on this machine's.
struct Grant {
  std::string key;
  Token token;
  Holder holder;
  Duration ttl{};
  Timestamp acquired_at{};
  Timestamp expires_at{};
  /// Stop working before this moment. It is counted from *before* the request was sent, so the store cannot give the
  /// key away earlier.
  BootTime trusted_until{};
  /// The answer to a repeated request id: an earlier grant, returned again.
  bool replayed = false;
  std::int64_t lease_id = 0;  ///< of the lease of this grant
};

/// What a holder should know before its next heartbeat.
struct LeaseNews {
  bool ended = false;                        ///< the lease is over: revoked, or taken over after it expired
  std::vector<std::int64_t> cancelled = {};  ///< jobs under it that must stop
};

/// One lease for many claims: a worker or a loader attaches all its claims to it, and heartbeats only this one.
struct SharedLease {
  std::int64_t id = 0;
  std::string instance;  ///< random; proves the hold, since only the process that opened the lease knows it
  Duration ttl{};
  Timestamp expires_at{};
  BootTime trusted_until{};
};

}  // namespace leasehold
