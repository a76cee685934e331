#include "base/clock.h"

#include <fmt/format.h>
#include <cstdlib>
#include <ctime>

#include "base/process.h"
#include "leasehold/time.h"

namespace leasehold {
namespace {

class SystemClock final : public Clock {
 public:
  [[nodiscard]] BootTime boot_now() const override { return BootClock::now(); }
  [[nodiscard]] Timestamp wall_now() const override {
    return std::chrono::time_point_cast<Duration>(std::chrono::system_clock::now());
  }
  [[nodiscard]] MachineFacts machine() const override { return this_machine(); }
};

}  // namespace

const Clock& system_clock() {
  static const SystemClock clock;
  return clock;
}

BootTime BootClock::now() noexcept {
  timespec now{};
  clock_gettime(CLOCK_BOOTTIME, &now);
  return BootTime(
      std::chrono::duration_cast<Duration>(std::chrono::seconds(now.tv_sec) + std::chrono::nanoseconds(now.tv_nsec)));
}

namespace {

/// std::chrono::year ends at 32767, a Timestamp does not. The calendar repeats every 400 years: this maps the day into
/// the 400 years after 2000 and corrects the year.
std::string date_text(std::chrono::sys_days day) {
  constexpr std::chrono::days era(146097);
  constexpr std::chrono::sys_days start = std::chrono::year(2000) / 1 / 1;
  const auto since = day - start;
  const auto eras = since / era - (since % era < std::chrono::days(0) ? 1 : 0);
  const std::chrono::year_month_day date(start + (since - era * eras));
  const auto year = static_cast<int>(date.year()) + 400 * eras;
  // Four digits; ISO 8601 requires a sign for years outside 0000-9999.
  const auto* sign = year > 9999 ? "+" : year < 0 ? "-" : "";
  return fmt::format("{}{:04}-{:02}-{:02}", sign, std::abs(year), static_cast<unsigned>(date.month()),
                     static_cast<unsigned>(date.day()));
}

}  // namespace

std::string to_string(Timestamp when) {
  const auto seconds = std::chrono::floor<std::chrono::seconds>(when);
  const auto day = std::chrono::floor<std::chrono::days>(seconds);
  const std::chrono::hh_mm_ss clock(seconds - day);
  auto text = fmt::format("{}T{:02}:{:02}:{:02}", date_text(day), clock.hours().count(), clock.minutes().count(),
                          clock.seconds().count());
  // Subtracting `seconds` from `when` would overflow for the earliest Timestamp.
  const auto micros = (when.time_since_epoch().count() % 1'000'000 + 1'000'000) % 1'000'000;
  if (micros % 1000 != 0) {
    text += fmt::format(".{:06}", micros);
  } else if (micros != 0) {
    text += fmt::format(".{:03}", micros / 1000);
  }
  return text + "Z";
}

}  // namespace leasehold
