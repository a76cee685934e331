// The fields of a cron expression: the values each accepts, and how it is parsed and written.
#pragma once

#include <array>
#include <span>
#include <string>
#include <string_view>

#include "core/cron.h"

namespace leasehold {

/// The values a field accepts. Names stand for numbers from `lowest` on.
struct CronFieldKind {
  std::string_view name;
  unsigned lowest;
  unsigned highest;
  unsigned size;  ///< number of different values: Sunday is both 0 and 7
  std::span<const std::string_view> names{};
  bool wraps = true;  ///< 22-2 wraps over midnight; 28-3 would depend on the month
};

inline constexpr std::array<std::string_view, 12> month_names = {"JAN", "FEB", "MAR", "APR", "MAY", "JUN",
                                                                 "JUL", "AUG", "SEP", "OCT", "NOV", "DEC"};
inline constexpr std::array<std::string_view, 7> weekday_names = {"SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT"};

inline constexpr CronFieldKind second_field{.name = "second", .lowest = 0, .highest = 59, .size = 60};
inline constexpr CronFieldKind minute_field{.name = "minute", .lowest = 0, .highest = 59, .size = 60};
inline constexpr CronFieldKind hour_field{.name = "hour", .lowest = 0, .highest = 23, .size = 24};
inline constexpr CronFieldKind day_field{
    .name = "day of month", .lowest = 1, .highest = 31, .size = 31, .wraps = false};
inline constexpr CronFieldKind month_field{
    .name = "month", .lowest = 1, .highest = 12, .size = 12, .names = month_names};
inline constexpr CronFieldKind weekday_field{
    .name = "day of week", .lowest = 0, .highest = 7, .size = 7, .names = weekday_names};

/// All values of a field.
constexpr Bits all_of(const CronFieldKind& kind) { return ((Bits{1} << kind.size) - 1) << kind.lowest; }

constexpr bool has(Bits bits, unsigned number) { return (bits >> number & 1) != 0; }

/// A field as written, and its position: the first one is number 1.
struct WrittenField {
  int number;
  std::string_view text;
};

/// `cron: field 2 (hour) "25": ` followed by the problem.
Error cron_field_error(const CronFieldKind& kind, const WrittenField& field, std::string_view what);

Result<Bits> read_numbers(const CronFieldKind& kind, const WrittenField& field);
Result<Cron::DaysOfMonth> read_days_of_month(const WrittenField& field);
Result<Cron::DaysOfWeek> read_days_of_week(const WrittenField& field);

}  // namespace leasehold
