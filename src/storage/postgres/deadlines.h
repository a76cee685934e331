// How a call's deadline becomes a bound on the server.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>

#include "leasehold/time.h"

namespace leasehold::postgres {

/// For lock_timeout, in milliseconds: a little less than is left, so that the server's "no" arrives in
/// time and is an answer (`busy`), not a doubt. Never zero, which would mean no bound at all.
inline std::int64_t lock_wait_ms(BootTime deadline) {
  const auto left = std::chrono::floor<std::chrono::milliseconds>(deadline - BootClock::now()).count();
  const auto margin = std::max<std::int64_t>(left / 10, 50);
  return std::clamp<std::int64_t>(left - margin, 1, 86'400'000);
}

}  // namespace leasehold::postgres
