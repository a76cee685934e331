// Moments as people and machines write them: 2026-03-01T09:30:00Z, 2026-03-01 09:30, 09:30.
#pragma once

#include <string_view>

#include "leasehold/result.h"
#include "leasehold/time.h"

namespace leasehold {

/// A date and a time of day with `T` or a space between them; seconds and their fraction may be left out. At the end
/// `Z` or an offset such as +02:00; without one it is this machine's local time. A time of day alone is the next one
/// after `now`.
Result<Timestamp> parse_moment(std::string_view text, Timestamp now);

}  // namespace leasehold
