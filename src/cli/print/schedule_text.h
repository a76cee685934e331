// Schedules and their runs in words, for people.
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
/// "ok", "failed", "lost", each in its colour.
std::string coloured_outcome(std::string_view outcome);

/// "10m-15m", "1h".
std::string shown_between(const Between& between);
/// "every 10m-15m", "*/5 * * * * Europe/Berlin".
std::string shown_rule(const ScheduleRule& rule);
/// When it is due: "in 7m 12s", "now"; "-" where that is not known yet.
std::string shown_next(const ScheduleInfo& schedule);
/// "ok 2m ago"; "-" before its first run.
std::string shown_last(const ScheduleInfo& schedule);
/// Whoever runs it; "-" where nobody does.
std::string shown_holder(const ScheduleInfo& schedule);
/// Of a run: its error, what it counted, its job, or what was skipped with it.
std::string shown_note(const RunInfo& run);

/// Tells moments as the clock that matters shows them: that of the zone of a cron rule, else that of this machine.
class ScheduleClock {
 public:
  ScheduleClock(const ScheduleRule& rule, Timestamp now);

  /// "2026-03-29 03:30:00 +02:00"; "12:00:30" by this machine's, with the date when that is not today.
  [[nodiscard]] std::string time(Timestamp when) const;
  /// The same with "(in 20s)" or "(2m ago)".
  [[nodiscard]] std::string time_and_distance(Timestamp when) const;

 private:
  std::optional<Zone> zone_;  ///< none: this machine's, also where this machine does not know it
  Timestamp now_;
};

/// "2026-03-29 03:30:00 +02:00"
std::string zoned_time(Timestamp when, const Zone& zone);

// Schedules that are not to be run now, as the user meets them: no failure, but one line and an exit code of its own.
struct SkipManner {
  std::optional<int> code{};  ///< instead of 3 (not due, paused) and 75 (held)
  bool quiet = false;         ///< only the exit code
};

/// Whether a refused acquire is a normal thing: `not_due`, `held`, `paused`.
[[nodiscard]] bool is_skip(const Error& refusal);

/// Says why it is not run, on stderr or with --json on stdout, and gives the exit code.
int tell_skip(const Context& context, const std::string& name, const Error& refusal, const SkipManner& manner);

}  // namespace leasehold::cli
