// The moments at which a cron expression happens in a time zone.
//
//   const auto zone = find_zone("Europe/Berlin");
//   next_after(*parse_cron("30 2 * * *"), *zone, now);
//
// When clocks are changed:
//
//   A rule for certain hours ("30 2 * * *", "0 9-17 * * *", "0 */2 * * *") names times of the day, and each of them
//   happens once a day.
//
//     Forward, 02:00 -> 03:00: 02:30 does not exist. It happens as long after the change as it would have been after
//     02:00: at 03:30, 24 hours after the last time. So it is with RFC 5545, java.time, PostgreSQL's AT TIME ZONE and
//     cron-parser, too; and runs within the lost hour keep their order and distance, which they would not if all of
//     them happened at 03:00. Where that is the time of another run, the two are one.
//
//     Back, 03:00 -> 02:00: 02:30 comes twice. It happens the first time.
//
//   A rule for every hour ("*/15 * * * *", "30 * * * *") follows the clock: it happens whenever the clock shows a
//   matching time, also in the hour that comes twice. Every quarter of an hour stays every quarter of an hour.
//
// Pure, for any thread; time is an argument. The calendar ends with the year 9999.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "core/cron.h"
#include "core/zone.h"
#include "leasehold/limits.h"
#include "leasehold/schedule.h"
#include "leasehold/time.h"

namespace leasehold {

/// The first one later than `after`; none only where the calendar ends.
std::optional<Timestamp> next_after(const Cron& cron, const Zone& zone, Timestamp after);

/// The first `most` of those later than `after` and not later than `until`.
std::vector<Timestamp> occurrences(const Cron& cron, const Zone& zone, Timestamp after, Timestamp until,
                                   std::size_t most);

// Which occurrence of a cron rule is taken, and what becomes of those that nobody took in time.
//
//   const auto plan = plan_due(cron, zone, Misfire::once, 5min, {.occurrence = next_occurrence}, now);
//   plan.taken;                            // the occurrence to run; none where all of them came too long ago
//   plan.skipped_from, plan.missed;        // to be noted in the history: every occurrence is accounted for
//
// PostgreSQL decides this within its functions. SQL on a file cannot read a cron rule: there it is decided here, and
// the store checks that nothing has changed meanwhile.
//
// Pure, for any thread; the wall clock is an argument.

/// What is known to come: an occurrence of the calendar, and perhaps, before it, another try of an earlier one.
struct Upcoming {
  Timestamp occurrence{};
  std::optional<Timestamp> retry{};
};

struct DuePlan {
  std::optional<Timestamp> taken{};
  Timestamp next_occurrence{};
  /// Set together: the first and the last of those that are skipped. One that is skipped alone is both.
  std::optional<Timestamp> skipped_from{};
  std::optional<Timestamp> skipped_through{};
  std::int64_t missed = 0;  ///< how many these are; `bounds::max_missed` where there are as many or more

  bool operator==(const DuePlan&) const = default;
};

/// Nothing comes after the year 9999: what would, is put off until then.
Timestamp next_occurrence_after(const Cron& cron, const Zone& zone, Timestamp after);

/// With Misfire::skip the latest one is in time until `misfire_after` after it. Where nothing is due yet, nothing
/// is taken.
DuePlan plan_due(const Cron& cron, const Zone& zone, Misfire policy, Duration misfire_after, const Upcoming& upcoming,
                 Timestamp now);

/// After a pause: all that came meanwhile is skipped.
DuePlan plan_resume(const Cron& cron, const Zone& zone, Timestamp next_occurrence, Timestamp now);

}  // namespace leasehold
