// The rule that a zone follows after the last change its file lists: "CET-1CEST,M3.5.0,M10.5.0/3".
//
// Files end in 2037, or with the last change that did not follow the rule; without the rule every summer after
// that would be an hour off.
#pragma once

#include <array>
#include <chrono>
#include <optional>
#include <string_view>

namespace leasehold {

/// A period with one offset: local time = UTC + offset. The next period begins at `end`.
struct ZonePeriod {
  std::chrono::sys_seconds begin;
  std::chrono::sys_seconds end;
  std::chrono::seconds offset;
};

/// Outside every moment used here, and far enough from overflow for sums.
constexpr std::chrono::sys_seconds beginning_of_time{std::chrono::seconds(-(std::int64_t{1} << 50))};
constexpr std::chrono::sys_seconds end_of_time{std::chrono::seconds(std::int64_t{1} << 50)};

class ZoneRule {
 public:
  /// Parses the format of the POSIX variable TZ; nothing if the text does not match.
  static std::optional<ZoneRule> parse(std::string_view text);

  [[nodiscard]] ZonePeriod period_at(std::chrono::sys_seconds when) const;

 private:
  friend class ZoneRuleReader;

  /// One day of every year, and the clock time on that day: -167 to 167 hours.
  struct YearlyChange {
    enum class Form { weekday_of_month, day_of_year, day_without_leap_day };
    Form form = Form::weekday_of_month;
    unsigned month = 1;
    unsigned week = 1;  ///< 5: the last one
    unsigned weekday = 0;
    int day = 0;
    std::chrono::seconds time{};

    [[nodiscard]] std::chrono::local_seconds in(std::chrono::year year) const;
  };
  struct Change {
    std::chrono::sys_seconds at;
    std::chrono::seconds offset;
  };
  struct Summer {
    std::chrono::seconds offset{};
    YearlyChange begin;
    YearlyChange end;
  };

  /// Includes the two years before and after: a time of day may reach into the neighbouring year.
  [[nodiscard]] std::array<Change, 10> changes_around(std::chrono::year year) const;

  std::chrono::seconds standard_{};
  std::optional<Summer> summer_;
};

}  // namespace leasehold
