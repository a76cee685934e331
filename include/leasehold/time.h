// Time in leasehold.
//
// Two clocks, never mixed. A Timestamp is read from the *store's* clock, and only compared with other timestamps of
// that store. A BootTime is read from *this machine's* clock, and limits how long the holder may continue. Mixing them
// is how lock services get two holders.
#pragma once

#include <chrono>
#include <string>

#include "leasehold/export.h"

namespace leasehold {

using Duration = std::chrono::microseconds;

/// A moment on the store's clock, in microseconds since 1970-01-01 UTC.
using Timestamp = std::chrono::sys_time<Duration>;

/// CLOCK_BOOTTIME: continues during suspend and ignores steps of the wall clock.
struct LEASEHOLD_EXPORT BootClock {
  using duration = Duration;
  using rep = duration::rep;
  using period = duration::period;
  using time_point = std::chrono::time_point<BootClock>;
  static constexpr bool is_steady = true;

  static time_point now() noexcept;
};

using BootTime = BootClock::time_point;

/// "2026-03-01T09:30:00.123Z", with as many digits as the value needs (none, three or six).
LEASEHOLD_EXPORT std::string to_string(Timestamp when);

}  // namespace leasehold
