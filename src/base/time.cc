#include "leasehold/time.h"

#include <fmt/format.h>

#include <ctime>

namespace leasehold {

BootTime BootClock::now() noexcept {
  timespec now{};
  clock_gettime(CLOCK_BOOTTIME, &now);
  return BootTime(
      std::chrono::duration_cast<Duration>(std::chrono::seconds(now.tv_sec) + std::chrono::nanoseconds(now.tv_nsec)));
}

std::string to_string(Timestamp when) {
  const auto seconds = std::chrono::floor<std::chrono::seconds>(when);
  const auto day = std::chrono::floor<std::chrono::days>(seconds);
  const std::chrono::year_month_day date(day);
  const std::chrono::hh_mm_ss clock(seconds - day);
  auto text = fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}", static_cast<int>(date.year()),
                          static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()), clock.hours().count(),
                          clock.minutes().count(), clock.seconds().count());
  const auto micros = (when - seconds).count();
  if (micros % 1000 != 0) {
    text += fmt::format(".{:06}", micros);
  } else if (micros != 0) {
    text += fmt::format(".{:03}", micros / 1000);
  }
  return text + "Z";
}

}  // namespace leasehold
