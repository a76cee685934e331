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

#include <optional>
#include <vector>

#include "core/cron.h"
#include "core/zone.h"
#include "leasehold/time.h"

namespace leasehold {

/// The first one later than `after`; none only where the calendar ends.
std::optional<Timestamp> next_after(const Cron& cron, const Zone& zone, Timestamp after);

/// The first `most` of those later than `after` and not later than `until`.
std::vector<Timestamp> occurrences(const Cron& cron, const Zone& zone, Timestamp after, Timestamp until,
                                   std::size_t most);

}  // namespace leasehold
