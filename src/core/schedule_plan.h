// The moments at which a cron expression happens in a time zone.
//
//   const auto zone = find_zone("Europe/Berlin");
//   next_after(*parse_cron("30 2 * * *"), *zone, now);
//
// When clocks change:
//
//   A rule for certain hours ("30 2 * * *", "0 9-17 * * *", "0 */2 * * *") names times of day, and each of them
//   happens once a day.
//
//     Forward, 02:00 -> 03:00: 02:30 does not exist. It happens as long after the change as it would after
//     02:00: at 03:30, 24 hours after the last time. RFC 5545, java.time, PostgreSQL's AT TIME ZONE and cron-parser
//     do the same; and runs within the skipped hour keep their order and distance, which they would not if all of
//     them happened at 03:00. If another run falls on the same time, the two become one.
//
//     Back, 03:00 -> 02:00: 02:30 occurs twice. The run happens the first time.
//
//   A rule for every hour ("*/15 * * * *", "30 * * * *") follows the clock: it happens whenever the clock shows a
//   matching time, also in the hour that occurs twice. Every 15 minutes stays every 15 minutes.
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

/// The first occurrence later than `after`; nothing only if the calendar ends.
std::optional<Timestamp> next_after(const Cron& cron, const Zone& zone, Timestamp after);

/// The first `max` occurrences later than `after` and not later than `until`.
std::vector<Timestamp> occurrences(const Cron& cron, const Zone& zone, Timestamp after, Timestamp until,
                                   std::size_t max);

// Decides which occurrence of a cron rule is taken, and what happens to the missed ones.
//
//   const auto plan = plan_due(cron, zone, Misfire::once, 5min, {.occurrence = next_occurrence}, now);
//   plan.taken;                            // the occurrence to run; none where all of them came too long ago
//   plan.skipped_from, plan.missed;        // to be noted in the history: every occurrence is accounted for
//
// PostgreSQL decides this in its functions. SQLite cannot read a cron rule: there this code decides, and the store
// checks that nothing has changed since.
//
// Pure, for any thread; the wall clock is an argument.

/// The known future: an occurrence of the calendar, and possibly a retry of an earlier one before it.
struct Upcoming {
  Timestamp occurrence{};
  std::optional<Timestamp> retry{};
};

struct DuePlan {
  std::optional<Timestamp> taken{};
  Timestamp next_occurrence{};
  /// Set together: the first and the last skipped occurrence. A single one is both.
  std::optional<Timestamp> skipped_from{};
  std::optional<Timestamp> skipped_through{};
  std::int64_t missed = 0;  ///< number of skipped occurrences, at most `bounds::max_missed`

  bool operator==(const DuePlan&) const = default;
};

/// The calendar ends with the year 9999: later occurrences are put off until then.
Timestamp next_occurrence_after(const Cron& cron, const Zone& zone, Timestamp after);

/// With Misfire::skip the latest occurrence can be taken up to `misfire_after` after it. If nothing is due yet, nothing
/// is taken.
DuePlan plan_due(const Cron& cron, const Zone& zone, Misfire policy, Duration misfire_after, const Upcoming& upcoming,
                 Timestamp now);

/// After a pause: skips all occurrences that came in between.
DuePlan plan_resume(const Cron& cron, const Zone& zone, Timestamp next_occurrence, Timestamp now);

}  // namespace leasehold
