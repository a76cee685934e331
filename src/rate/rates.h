// What Limits holds.
#pragma once

#include <optional>
#include <string_view>

#include "lease/call.h"
#include "leasehold/limit.h"

namespace leasehold {

struct Limits::Impl : lease::StoreAccess {};

// What a rate limit may be, and how its absence is told.
namespace rate {

Error no_such_limit(std::string_view name);

/// What is unset is fine.
Result<void> check_rate(std::optional<Duration> every, std::optional<int> burst);

}  // namespace rate

}  // namespace leasehold
