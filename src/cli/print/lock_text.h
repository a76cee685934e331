// Locks as people read them, where one line or cell is all there is.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "leasehold/lock.h"

namespace leasehold::cli {

/// Somebody has it, or keeps it from the others.
[[nodiscard]] bool is_taken(const LockInfo& lock);
[[nodiscard]] bool has_shares(const LockInfo& lock);

/// "ana", "3 holders", "-".
std::string holders_text(const LockInfo& lock);

/// What its shares have together: "5/8", "3" where there is no limit, "-" where nothing is shared.
std::string permits_text(const LockInfo& lock);

/// "in 20s", "in 20s + 1h delay", "now", "in 4s: lock delay", "-".
std::string frees_text(const LockInfo& lock);
std::string frees_text(const LockHolder& holder);

/// "then 1h lock delay unless it is released", of one that runs; else nothing.
std::string delay_after(const LeaseInfo& lease, const std::optional<Timestamp>& free_at);

/// After a refusal: says so of the holder that was told, since a refusal does not know it.
void say_delay_after(const Locks& locks, const Error& refusal);

/// "a and b".
std::string names_text(const std::vector<std::string>& names);

/// ", together with a and b": what ends with it; else nothing.
std::string together_text(const std::vector<std::string>& names);

/// "nobody gets it before 12:00:03, in 4s: lock delay"
std::string delay_text(Timestamp free_at, Timestamp now);

}  // namespace leasehold::cli
