// Setting schedules, and changing them.
#include <gtest/gtest.h>

#include "support/schedule_helpers.h"

namespace leasehold::support {
namespace {

using namespace std::string_literals;

class ScheduleSetTest : public ScheduleStoreTest {};
LEASEHOLD_ON_BOTH_STORES(ScheduleSetTest);

TEST_P(ScheduleSetTest, ANewOneWithAPauseIsDueAfterIt) {
  const auto saved = must(schedules().set("refresh", every_ten_minutes()));
  EXPECT_TRUE(saved.created);
  EXPECT_TRUE(saved.changed);
  EXPECT_EQ(saved.next_run_at, now() + 10min);
  EXPECT_EQ(state("refresh"), ScheduleState::waiting);
  EXPECT_FALSE(info("refresh").next_occurrence);
  EXPECT_TRUE(not_due_until(try_acquire("refresh"), now() + 10min));
  advance(10min);
  EXPECT_EQ(acquire("refresh").occurrence, now());
}

TEST_P(ScheduleSetTest, OfARangeTheFirstPauseIsDrawnToo) {
  const auto first = must(schedules().set("refresh", {.rule = every(10min, 15min)})).next_run_at;
  EXPECT_GE(first, now() + 10min);
  EXPECT_LE(first, now() + 15min);
}

TEST_P(ScheduleSetTest, AScheduleMadeByEnsureIsDueAtOnce) {
  EXPECT_EQ(must(schedules().ensure("refresh", every_ten_minutes())).next_run_at, now());
  EXPECT_EQ(must(settle(acquire("refresh"))).next_run_at, now() + 10min);
  EXPECT_EQ(must(schedules().ensure("refresh", every_ten_minutes())).next_run_at, now() + 10min);
}

TEST_P(ScheduleSetTest, ANewOneWithCronIsDueAtItsNextOccurrence) {
  EXPECT_EQ(set_schedule("report", daily()).next_run_at, at("2026-03-02T09:00:00Z"));
  EXPECT_EQ(state("report"), ScheduleState::waiting);
  EXPECT_EQ(info("report").next_occurrence, at("2026-03-02T09:00:00Z"));
  EXPECT_TRUE(not_due_until(try_acquire("report"), at("2026-03-02T09:00:00Z")));
  go_to("2026-03-02T09:00:00Z");
  EXPECT_EQ(set_schedule("exactly now", daily()).next_run_at, at("2026-03-03T09:00:00Z"))
      << "the next one is a later one";
}

TEST_P(ScheduleSetTest, TheSameDefinitionAgainChangesNothing) {
  auto command = daily();
  command.command = {"make", "report"};
  const std::vector<std::pair<std::string, ScheduleOptions>> definitions = {
      {"pause", every_ten_minutes()},
      {"range", with_back_off({.rule = every(10min, 15min)}, 20min)},
      {"cron", {.rule = CronRule{.expression = "@daily", .zone = "Europe/Berlin", .jitter = 10min}}},
      {"queue", into_a_queue(every_ten_minutes())},
      {"command", command}};
  for (const auto& [name, options] : definitions) {
    const auto first = set_schedule(name, options);
    const auto before = dump();
    const auto again = set_schedule(name, options);
    EXPECT_FALSE(again.created || again.changed) << name;
    EXPECT_EQ(again.next_run_at, first.next_run_at) << name;
    EXPECT_EQ(dump(), before) << name;
  }
}

TEST_P(ScheduleSetTest, ShowPrintsADefinitionAsItWasGiven) {
  const ScheduleOptions with_queue{
      .rule = CronRule{.expression = "0  9 * JAN-MAR mon", .zone = "Europe/Berlin", .jitter = 7s},
      .on_fail = Between{20min, 40min},
      .ttl = 17s,
      .misfire = Misfire::all,
      .misfire_after = 3min,
      .queue = "mail",
      .payload = "a\0b\xFF"s};
  set_schedule("with queue", with_queue);
  const auto reported = info("with queue").options;
  EXPECT_EQ(reported.rule, with_queue.rule);
  EXPECT_EQ(reported.on_fail, with_queue.on_fail);
  EXPECT_EQ(reported.ttl, with_queue.ttl);
  EXPECT_EQ(reported.misfire, with_queue.misfire);
  EXPECT_EQ(reported.misfire_after, with_queue.misfire_after);
  EXPECT_EQ(reported.queue, with_queue.queue);
  EXPECT_EQ(reported.payload, with_queue.payload);
  const Words command = {"sh", "-c", "echo \"it's\"\n\xF0\x9F\x9A\x80 \\ \t", ""};
  set_schedule("with command", {.rule = every(1s, 1h), .command = command});
  EXPECT_EQ(info("with command").options.command, command);
  EXPECT_EQ(info("with command").options.rule, ScheduleRule(every(1s, 1h)));
  EXPECT_FALSE(info("with command").options.on_fail);
  EXPECT_EQ(info("with command").created_at, now());
}

TEST_P(ScheduleSetTest, AChangedRuleBeginsAnew) {
  set_schedule("report", daily());
  const auto changed = set_schedule("report", with_cron("0 12 * * *"));
  EXPECT_FALSE(changed.created);
  EXPECT_TRUE(changed.changed);
  EXPECT_EQ(changed.next_run_at, at("2026-03-01T12:00:00Z"));
  EXPECT_EQ(set_schedule("report", with_cron("0 12 * * *", "Europe/Berlin")).next_run_at, at("2026-03-01T11:00:00Z"));
  go_to("2026-03-03T09:30:00Z");
  EXPECT_EQ(set_schedule("report", daily()).next_run_at, at("2026-03-04T09:00:00Z"))
      << "the occurrence that was due by the old rule";
  EXPECT_EQ(lines("report"), Words{});
}

TEST_P(ScheduleSetTest, AnotherPauseKeepsANextRunThatComesSoonEnough) {
  set_schedule("refresh", {.rule = every(1h)});
  run_once("refresh");
  EXPECT_EQ(set_schedule("refresh", {.rule = every(2h)}).next_run_at, now() + 1h);
  EXPECT_EQ(set_schedule("refresh", {.rule = every(1h, 3h)}).next_run_at, now() + 1h);
  EXPECT_EQ(set_schedule("refresh", {.rule = every(10min)}).next_run_at, now() + 10min);
}

TEST_P(ScheduleSetTest, OtherChangesKeepTheNextRun) {
  const CronRule rule{.expression = "0 9 * * *", .jitter = 1h};
  const auto first = set_schedule("report", {.rule = rule}).next_run_at;
  CronRule written_otherwise = rule;
  written_otherwise.expression = "00 09 * * SUN-SAT";
  const std::vector<ScheduleOptions> changes = {{.rule = rule, .ttl = 1min},
                                                {.rule = rule, .on_fail = Between{1min, 2min}},
                                                {.rule = rule, .misfire = Misfire::all},
                                                {.rule = rule, .misfire_after = 1s},
                                                {.rule = rule, .queue = "mail"},
                                                {.rule = rule, .queue = "mail", .payload = "x"},
                                                {.rule = rule, .command = {"true"}},
                                                {.rule = written_otherwise}};
  for (const auto& options : changes) {
    const auto changed = set_schedule("report", options);
    EXPECT_TRUE(changed.changed);
    EXPECT_EQ(changed.next_run_at, first);
  }
  EXPECT_EQ(info("report").options.rule, ScheduleRule(written_otherwise));
}

TEST_P(ScheduleSetTest, FromAPauseToCronAndBack) {
  set_schedule("refresh", every_ten_minutes());
  EXPECT_EQ(set_schedule("refresh", daily()).next_run_at, at("2026-03-02T09:00:00Z"));
  EXPECT_EQ(info("refresh").next_occurrence, at("2026-03-02T09:00:00Z"));
  EXPECT_EQ(set_schedule("refresh", {.rule = every(48h)}).next_run_at, at("2026-03-02T09:00:00Z")) << "soon enough";
  EXPECT_FALSE(info("refresh").next_occurrence);
  set_schedule("refresh", daily());
  EXPECT_EQ(set_schedule("refresh", {.rule = every(1h)}).next_run_at, now() + 1h);
}

TEST_P(ScheduleSetTest, APauseATriggerAndARunSurviveAChange) {
  set_schedule("refresh", every_ten_minutes());
  const auto run = acquire("refresh");
  must(schedules().trigger("refresh"));
  must(schedules().pause("refresh", "migration"));
  auto changed = with_cron("0 12 * * *");
  changed.ttl = 1min;
  set_schedule("refresh", changed);
  EXPECT_EQ(info("refresh").pause_reason, "migration");
  EXPECT_TRUE(ok(beat(run)));
  EXPECT_TRUE(ok(settle(run)));
  EXPECT_EQ(info("refresh").next_occurrence, at("2026-03-01T12:00:00Z"));
  EXPECT_TRUE(fails(try_acquire("refresh"), Errc::paused));
  must(schedules().resume("refresh"));
  const auto next = acquire("refresh");
  EXPECT_EQ(next.cause, "triggered");
  EXPECT_EQ(next.grant.ttl, Duration(1min)) << "a later run has the new one";
}

}  // namespace
}  // namespace leasehold::support
