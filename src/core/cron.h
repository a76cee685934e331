// A recurrence in cron notation.
//
//   auto cron = parse_cron("30 9 * * MON-FRI");          // Result<Cron>
//   to_string(*cron);                                     // "30 9 * * 1-5", to be stored
//
// Five fields: minute, hour, day of month, month, day of week; or six with the second first.
//
//   *  5  MON  1-5  1,15  */10  10-40/5  5/15    numbers, names, ranges, lists, steps; letters of any case
//   FRI-MON  22-2  NOV-FEB                       a range may wrap at the end of its field, except for days of the month
//   0 or 7                                       Sunday
//   ?                                            the same as *, for the day fields
//   L  L-3                                       day of month: the last, and three days before it
//   15W  LW                                      the workday nearest to the 15th, the last workday; within the month
//   5L  FRIL  MON#2                              day of week: the last Friday, the second Monday of the month
//   @yearly @annually @monthly @weekly @daily @midnight @hourly
//
// A day field that includes every day is no restriction. If both day fields restrict, either may match. A date that
// never occurs (0 0 30 2 *) is refused.
//
// This file knows local time only: core/schedule_plan.h applies a time zone.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "leasehold/result.h"

namespace leasehold {

/// Bit n stands for the number n: the minute n, the month n.
using Bits = std::uint64_t;

struct Cron {
  struct DaysOfMonth {
    Bits on = 0;
    Bits before_last = 0;  ///< bit 0: the last day (L), bit 3: three days before it (L-3)
    Bits workday_near = 0;
    bool last_workday = false;
    bool operator==(const DaysOfMonth&) const = default;
  };
  /// Sunday is 0.
  struct DaysOfWeek {
    Bits on = 0;
    Bits last = 0;
    std::array<Bits, 5> nth{};  ///< nth[1]: the second of the month
    bool operator==(const DaysOfWeek&) const = default;
  };

  Bits seconds = 0;
  Bits minutes = 0;
  Bits hours = 0;
  Bits months = 0;
  DaysOfMonth days;
  DaysOfWeek weekdays;

  bool operator==(const Cron&) const = default;
};

/// The error names the field: `cron: field 2 (hour) "25": 25 is outside 0-23`.
Result<Cron> parse_cron(std::string_view text);

/// The normal form: numbers only, in order; six fields only if the seconds are not just 0. Parsing it returns the same
/// Cron, and equal Crons have the same normal form.
std::string to_string(const Cron& cron);

/// Matches in every hour of the day: such a rule follows the clock instead of naming times of day.
bool is_every_hour(const Cron& cron);

/// The matching days of this month, ignoring the month field. Bits 1 to 31.
Bits days_in(const Cron& cron, std::chrono::year_month month);

/// The first matching local time in [from, until).
std::optional<std::chrono::local_seconds> next_local(const Cron& cron, std::chrono::local_seconds from,
                                                     std::chrono::local_seconds until);

}  // namespace leasehold
