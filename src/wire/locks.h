// Locks as JSON, where more is told than a grant or a lease; see wire.h for the spelling.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "leasehold/lock.h"

namespace leasehold::wire {

/// A grant with what was asked for: `names` where several were taken together; `permits` and `capacity` of a share, the
/// latter null where there is no limit.
std::string to_json(const Grant& grant, const std::vector<std::string>& names, const std::optional<Share>& share);

/// A lock with all who have it, as `held_by`.
std::string to_json(const LockInfo& lock, const std::vector<LockHolder>& holders);

/// A lease that was ended, with the other locks that ended with it.
std::string to_json(const LeaseInfo& ended, const std::vector<std::string>& together);

}  // namespace leasehold::wire
