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
#pragma once

#include <cstdint>
#include <optional>

#include "core/calendar.h"
#include "leasehold/schedule.h"

namespace leasehold {

/// What is missed is counted up to here; the rest is jumped over.
constexpr std::int64_t most_missed = 10000;

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
  std::int64_t missed = 0;  ///< how many these are; `most_missed` where there are as many or more

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
