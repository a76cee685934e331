// Durations as people write them: 250ms, 30s, 1m30s, 2h, 7d.
#pragma once

#include <string>
#include <string_view>

#include "leasehold/result.h"
#include "leasehold/time.h"

namespace leasehold {

/// Units us, ms, s, m, h, d, largest first; "0" needs none. No sign: no duration here is negative.
Result<Duration> parse_duration(std::string_view text);

/// The two largest units: "2m 5s", "350ms", "3d 4h", "0s". Negative durations get a minus.
std::string format_duration(Duration span);

/// Exact, for limits that people set: "1s 500ms", "1h 30m". Not for negative durations. The stores write the same.
std::string format_limit(Duration span);

/// "just now", "2m ago": the largest unit only.
std::string format_age(Duration age);

// Moments as people and machines write them: 2026-03-01T09:30:00Z, 2026-03-01 09:30, 09:30.

/// A date and a time of day, separated by `T` or a space; seconds and their fraction are optional. At the end `Z` or an
/// offset such as +02:00; without one it is this machine's local time. A time of day without a date is the next one
/// after `now`.
Result<Timestamp> parse_moment(std::string_view text, Timestamp now);

}  // namespace leasehold
