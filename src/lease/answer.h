// Converts the store's answer to a grant, a snapshot or a refusal with all the facts that a user needs. Shared by
// everything that can be held.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "leasehold/lease.h"
#include "leasehold/result.h"
#include "storage/statements.h"

namespace leasehold::lease {

/// For the outcomes `granted` and `extended`.
Grant grant_from(const sql::LeaseAnswer& answer, BootTime before_sending);

/// From a LeaseAnswer, or a LockInfo, which has the same columns and more.
template <typename Answer>
LeaseInfo info_from(const Answer& answer);

/// "held by ann on db1, last heartbeat 3s ago, frees in 27s"
std::string describe_holding(const LeaseInfo& current);

/// "the lease ran out": what `lost` means for a grant that ended like this.
std::string describe_loss(LostReason why, std::string_view end_detail);

/// Whether two answers describe the same lease: a refusal does not contain its token.
template <typename One, typename Other>
bool is_same_lease(const One& one, const Other& other) {
  return one.acquired_at == other.acquired_at && one.holder == other.holder && one.host == other.host &&
         one.pid == other.pid && one.process_start == other.process_start;
}

/// A holder with only a name; none for an empty name.
inline std::optional<Holder> holder_named(std::optional<std::string> name) {
  if (!name || name->empty()) return std::nullopt;
  return Holder{.name = std::move(*name)};
}

/// The holder in a row, with those of `host`, `pid` and `tty` that the row has.
template <typename Row>
std::optional<Holder> holder_in(const Row& row) {
  auto holder = holder_named(row.holder);
  if (!holder) return holder;
  const auto fill = [](const auto& column, auto& member) {
    if constexpr (requires { column.has_value(); }) {
      if (column) member = *column;
    } else {
      member = column;
    }
  };
  if constexpr (requires { row.host; }) fill(row.host, holder->host);
  if constexpr (requires { row.pid; }) fill(row.pid, holder->pid);
  if constexpr (requires { row.tty; }) fill(row.tty, holder->tty);
  return holder;
}

/// The current holder, from a row with `holder`, `host`, `expires_at` and `store_now`; none if there is no holder.
template <typename Row>
std::optional<LeaseInfo> present_holder(const Row& row, std::string kind, std::string key) {
  if (!row.holder) return std::nullopt;
  LeaseInfo info;
  info.kind = std::move(kind);
  info.key = std::move(key);
  info.expires_at = row.expires_at.value_or(row.store_now);
  info.state = info.expires_at > row.store_now ? LeaseState::running : LeaseState::expired;
  info.holder.name = *row.holder;
  info.holder.host = row.host.value_or("");
  info.store_now = row.store_now;
  return info;
}

/// The same for a row that also has `ttl`, `acquired_at` and `heartbeat_at`.
template <typename Row>
std::optional<LeaseInfo> present_lease(const Row& row, std::string kind, std::string key) {
  auto info = present_holder(row, std::move(kind), std::move(key));
  if (!info) return info;
  info->ttl = row.ttl.value_or(Duration{});
  info->acquired_at = row.acquired_at.value_or(Timestamp{});
  info->heartbeat_at = row.heartbeat_at.value_or(info->acquired_at);
  return info;
}

/// For an outcome that this library does not know.
Error odd_answer(std::string_view what, std::string_view outcome);

/// `lost` for work, which a verdict finishes. `why` is the store's word; `current` is set if another holder has it now.
Error lost_error(std::string_view what, std::string_view why, std::optional<LeaseInfo> current = std::nullopt);

/// For `held`, `busy`, `reentry`, `mismatch`, `lost` and `not_found`. `what` is for the message: "lock \"deploy\"".
Error refusal_from(const sql::LeaseAnswer& answer, std::string_view what);

}  // namespace leasehold::lease
