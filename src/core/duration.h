// Durations as people write them: 250ms, 30s, 1m30s, 2h, 7d.
#pragma once

#include <string>
#include <string_view>

#include "leasehold/result.h"
#include "leasehold/time.h"

namespace leasehold {

/// Units us, ms, s, m, h, d, largest first; "0" needs none. No sign: nothing here lasts less than nothing.
Result<Duration> parse_duration(std::string_view text);

/// The two largest units: "2m 5s", "350ms", "3d 4h", "0s". Negative ones with a minus.
std::string format_duration(Duration span);

/// "just now", "2m ago": the largest unit only.
std::string format_age(Duration age);

}  // namespace leasehold
