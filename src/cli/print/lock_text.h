// Locks as text for people, in one line or cell.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "leasehold/lock.h"

namespace leasehold::cli {

/// The lock is held, or its lock delay has not passed.
[[nodiscard]] bool is_taken(const LockInfo& lock);
[[nodiscard]] bool has_shares(const LockInfo& lock);

/// "ana", "3 holders", "-".
std::string holders_text(const LockInfo& lock);

/// The permits in use: "5/8", "3" if there is no capacity, "-" if nothing is shared.
std::string permits_text(const LockInfo& lock);

/// "in 20s", "in 20s + 1h delay", "now", "in 4s: lock delay", "-".
std::string frees_text(const LockInfo& lock);
std::string frees_text(const LockHolder& holder);

/// "then 1h lock delay unless it is released" for a running lease; otherwise empty.
std::string delay_after(const LeaseInfo& lease, const std::optional<Timestamp>& free_at);

/// After a refusal: adds the lock delay of the reported holder, which a refusal does not contain.
void say_delay_after(const Locks& locks, const Error& refusal);

/// "a and b".
std::string names_text(const std::vector<std::string>& names);

/// ", together with a and b": the locks that end with it; otherwise empty.
std::string together_text(const std::vector<std::string>& names);

/// "not free before 12:00:03, in 4s: lock delay"
std::string delay_text(Timestamp free_at, Timestamp now);

}  // namespace leasehold::cli
