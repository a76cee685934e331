// Locks as people read them, where one line or cell is all there is.
#pragma once

#include <string>

#include "leasehold/lock.h"

namespace leasehold::cli {

/// Somebody has it, or keeps it from the others.
[[nodiscard]] bool is_taken(const LockInfo& lock);
[[nodiscard]] bool has_shares(const LockInfo& lock);

/// "ana", "3 holders", "-".
std::string holders_text(const LockInfo& lock);

/// What its shares have together: "5/8", "3" where there is no limit, "-" where nothing is shared.
std::string permits_text(const LockInfo& lock);

/// "in 20s", "now", "in 4s: lock delay", "-".
std::string frees_text(const LockInfo& lock);

/// "nobody gets it before 12:00:03, in 4s: lock delay"
std::string delay_text(Timestamp free_at, Timestamp now);

}  // namespace leasehold::cli
