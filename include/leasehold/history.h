// Who had what, from when to when, and who took it over: past and present grants, for a timeline.
//
//   auto grants = store.history({.kind = "lock", .key = "deploy"});
//   for (const auto& grant : *grants) {
//     draw(grant.key, grant.holder.name, grant.since, grant.ended_at);
//     if (grant.taken_from) arrow(grant.taken_from->name, grant.cause, grant.gap);   // "process gone", 41 ms
//   }
#pragma once

#include <optional>
#include <string>

#include "leasehold/lease.h"
#include "leasehold/limits.h"
#include "leasehold/time.h"

namespace leasehold {

/// One grant of a key: from its start to its end, or up to now.
struct GrantInfo {
  std::string kind;  ///< lock, job, chunk, session, item, schedule
  std::string key;
  LeaseState state = LeaseState::free;  ///< free: the grant has ended
  Holder holder;
  std::string detail;  ///< in words: the attempt of a chunk, the session of an item, the permits of a share
  Timestamp since{};
  std::optional<Timestamp> held_until{};  ///< of a grant that has not ended: when its lease expires
  std::optional<Timestamp> ended_at{};
  std::string end_reason;  ///< completed, failed, released, closed, expired, revoked ...; empty while not ended
  std::string end_detail;  ///< an operator's reason, an error, "process gone"

  // Of a grant that took the key over, because the grant before it had expired or was revoked.
  std::optional<Holder> taken_from{};  ///< the holder before
  std::string cause;                   ///< "expired", "process gone", "revoked"
  std::optional<Duration> gap{};       ///< how long no process held the key
};

/// The newest grants come first. Reads at most the newest bounds::max_history events, ended leases and jobs.
struct HistoryFilter {
  std::string kind{};                ///< empty: every kind
  std::string key{};                 ///< empty: every key
  std::optional<Timestamp> since{};  ///< grants that ended before are left out
  int max = defaults::list_max;
  std::string page{};  ///< Page::next of the previous page, for older grants; empty: the newest
};

}  // namespace leasehold
