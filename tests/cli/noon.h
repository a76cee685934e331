// A moment to count from.
#pragma once

#include "leasehold/time.h"

namespace leasehold::support {

inline constexpr Timestamp noon{std::chrono::hours(12)};

}  // namespace leasehold::support
