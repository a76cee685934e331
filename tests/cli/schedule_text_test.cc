// Schedules in words.
#include "cli/print/schedule_text.h"

#include <gtest/gtest.h>

namespace leasehold::cli {
namespace {

using namespace std::chrono_literals;

/// 2026-03-28 12:00 UTC: the day before Berlin's clocks go forward.
constexpr Timestamp saturday{std::chrono::sys_days(std::chrono::year(2026) / 3 / 28) + 12h};

TEST(ScheduleText, RulesReadAsTheyAreWritten) {
  EXPECT_EQ(shown_rule(every(10min, 15min)), "every 10m-15m");
  EXPECT_EQ(shown_rule(every(1h)), "every 1h");
  EXPECT_EQ(shown_rule(CronRule{.expression = "*/5 * * * *"}), "*/5 * * * *");
  EXPECT_EQ(shown_rule(CronRule{.expression = "@daily", .zone = "Europe/Berlin", .jitter = 30s}),
            "@daily Europe/Berlin +30s");
}

TEST(ScheduleText, TimesAreThoseOfTheZone) {
  const auto berlin = find_zone("Europe/Berlin");
  ASSERT_TRUE(berlin.ok());
  EXPECT_EQ(zoned_time(saturday, *berlin), "2026-03-28 13:00:00 +01:00");
  EXPECT_EQ(zoned_time(saturday + 24h, *berlin), "2026-03-29 14:00:00 +02:00");
  EXPECT_EQ(zoned_time(saturday, *find_zone("America/St_Johns")), "2026-03-28 09:30:00 -02:30");
  const ScheduleClock clock(CronRule{.expression = "@daily", .zone = "Europe/Berlin"}, saturday);
  EXPECT_EQ(clock.time_and_distance(saturday + 90s), "2026-03-28 13:01:30 +01:00 (in 1m 30s)");
  EXPECT_EQ(clock.time_and_distance(saturday - 2h), "2026-03-28 11:00:00 +01:00 (2h ago)");
}

TEST(ScheduleText, AnUnknownValueIsADash) {
  ScheduleInfo schedule;
  schedule.wall_now = saturday;
  schedule.next_run_at = saturday + 7min + 12s;
  schedule.next_cause = "scheduled";
  EXPECT_EQ(shown_next(schedule), "in 7m 12s");
  EXPECT_EQ(shown_last(schedule), "-");
  EXPECT_EQ(shown_holder(schedule), "-");
  schedule.state = ScheduleState::running;
  EXPECT_EQ(shown_next(schedule), "-") << "the pause begins when the run ends";
  schedule.options.rule = CronRule{.expression = "@daily"};
  EXPECT_EQ(shown_next(schedule), "in 7m 12s");
  schedule.paused_at = saturday;
  EXPECT_EQ(shown_next(schedule), "-");
}

TEST(ScheduleText, ANoteShowsCountsErrorOrReason) {
  RunInfo run;
  run.outcome = RunOutcome::completed;
  run.counts = R"({"rows":3})";
  EXPECT_EQ(shown_note(run), R"({"rows":3})");
  run.outcome = RunOutcome::failed;
  run.error = "exit code 3";
  EXPECT_EQ(shown_note(run), R"(exit code 3  {"rows":3})");
  RunInfo skipped;
  skipped.outcome = RunOutcome::skipped;
  skipped.missed = 3;
  skipped.through = saturday;
  skipped.reason = "misfire";
  EXPECT_EQ(shown_note(skipped), "3 skipped through 2026-03-28T12:00:00Z: misfire");
  skipped.missed = 1;
  EXPECT_EQ(shown_note(skipped), "1 skipped: misfire");
  RunInfo enqueued;
  enqueued.outcome = RunOutcome::enqueued;
  enqueued.job_id = 17;
  EXPECT_EQ(shown_note(enqueued), "job 17");
}

}  // namespace
}  // namespace leasehold::cli
