// What a rate limit may be, and how its absence is told.
#pragma once

#include <optional>
#include <string_view>

#include "leasehold/limit.h"

namespace leasehold::limit {

/// A turn costs a call of the store: nobody takes more than a thousand a second.
constexpr Duration shortest_interval = std::chrono::milliseconds(1);
constexpr Duration longest_interval = std::chrono::days(1);
constexpr int max_burst = 10'000;

Error no_such_limit(std::string_view name);

/// What is unset is fine.
Result<void> check_rate(std::optional<Duration> every, std::optional<int> burst);

}  // namespace leasehold::limit
