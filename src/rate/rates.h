// The state of Rates.
#pragma once

#include <optional>
#include <string_view>

#include "lease/call.h"
#include "leasehold/rate.h"

namespace leasehold {

struct Rates::Impl : lease::StoreAccess {};

// Checks of a rate, and the error for a missing one.
namespace rate {

Error no_such_rate(std::string_view name);

/// Unset values are valid.
Result<void> check_rate(std::optional<Duration> every, std::optional<int> burst);

}  // namespace rate

}  // namespace leasehold
