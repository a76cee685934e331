// Schedules and their runs as text for people.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "cli/context.h"
#include "core/zone.h"
#include "leasehold/schedule.h"

namespace leasehold::cli {

/// "waiting", "due", "running", each in its colour.
std::string coloured(ScheduleState state);
/// "completed", "failed", "lost", each in its colour.
std::string coloured_outcome(RunOutcome outcome);

/// "10m-15m", "1h".
std::string shown_between(const Between& between);
/// "every 10m-15m", "*/5 * * * * Europe/Berlin".
std::string shown_rule(const ScheduleRule& rule);
/// When it is due: "in 7m 12s", "now"; "-" if that is not known yet.
std::string shown_next(const ScheduleInfo& schedule);
/// "completed 2m ago"; "-" before its first run.
std::string shown_last(const ScheduleInfo& schedule);
/// The current holder; "-" if it is not running.
std::string shown_holder(const ScheduleInfo& schedule);
/// A note on a run: its error, its counts, its job, or the occurrences skipped with it.
std::string shown_note(const RunInfo& run);

/// Shows moments by the relevant clock: that of a cron rule's zone, otherwise that of this machine.
class ScheduleClock {
 public:
  ScheduleClock(const ScheduleRule& rule, Timestamp now);

  /// "2026-03-29 03:30:00 +02:00"; by this machine's clock "12:00:30", with the date if it is not today.
  [[nodiscard]] std::string time(Timestamp when) const;
  /// The same with "(in 20s)" or "(2m ago)".
  [[nodiscard]] std::string time_and_distance(Timestamp when) const;

 private:
  std::optional<Zone> zone_;  ///< none: this machine's clock, also if this machine does not know the zone
  Timestamp now_;
};

/// "2026-03-29 03:30:00 +02:00"
std::string zoned_time(Timestamp when, const Zone& zone);

// Reports a schedule that is not to run now: not a failure, but one line and an exit code of its own.
struct SkipManner {
  std::optional<int> code{};  ///< replaces 3 (not due, paused) and 75 (held)
  bool quiet = false;         ///< only the exit code
};

/// Whether a refused acquire is normal: `not_due`, `held`, `paused`.
[[nodiscard]] bool is_skip(const Error& refusal);

/// Reports why it does not run, on stderr or with --json on stdout, and returns the exit code.
int report_skip(const Context& context, const std::string& name, const Error& refusal, const SkipManner& manner);

}  // namespace leasehold::cli
