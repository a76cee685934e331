// Defining schedules, and defining them otherwise.
#include <gtest/gtest.h>

#include "support/schedule_helpers.h"

namespace leasehold::support {
namespace {

using namespace std::string_literals;

class ScheduleDefineTest : public ScheduleStoreTest {};
LEASEHOLD_ON_BOTH_STORES(ScheduleDefineTest);

TEST_P(ScheduleDefineTest, ANewOneWithAPauseIsDueAfterIt) {
  const auto defined = must(schedules().set("refresh", every_ten_minutes()));
  EXPECT_TRUE(defined.created);
  EXPECT_TRUE(defined.changed);
  EXPECT_EQ(defined.next_run_at, now() + 10min);
  EXPECT_EQ(state("refresh"), ScheduleState::waiting);
  EXPECT_FALSE(info("refresh").next_occurrence);
  EXPECT_TRUE(not_due_until(try_acquire("refresh"), now() + 10min));
  advance(10min);
  EXPECT_EQ(acquire("refresh").occurrence, now());
}

TEST_P(ScheduleDefineTest, OfARangeTheFirstPauseIsDrawnToo) {
  const auto first = must(schedules().set("refresh", {.rule = every(10min, 15min)})).next_run_at;
  EXPECT_GE(first, now() + 10min);
  EXPECT_LE(first, now() + 15min);
}

TEST_P(ScheduleDefineTest, WhatEnsureMakesIsDueAtOnce) {
  EXPECT_EQ(must(schedules().ensure("refresh", every_ten_minutes())).next_run_at, now());
  EXPECT_EQ(must(settle(acquire("refresh"))).next_run_at, now() + 10min);
  EXPECT_EQ(must(schedules().ensure("refresh", every_ten_minutes())).next_run_at, now() + 10min);
}

TEST_P(ScheduleDefineTest, ANewOneWithCronIsDueAtItsNextOccurrence) {
  EXPECT_EQ(define("report", daily()).next_run_at, at("2026-03-02T09:00:00Z"));
  EXPECT_EQ(state("report"), ScheduleState::waiting);
  EXPECT_EQ(info("report").next_occurrence, at("2026-03-02T09:00:00Z"));
  EXPECT_TRUE(not_due_until(try_acquire("report"), at("2026-03-02T09:00:00Z")));
  go_to("2026-03-02T09:00:00Z");
  EXPECT_EQ(define("exactly now", daily()).next_run_at, at("2026-03-03T09:00:00Z")) << "the next one is a later one";
}

TEST_P(ScheduleDefineTest, TheSameDefinitionAgainChangesNothing) {
  auto command = daily();
  command.command = {"make", "report"};
  const std::vector<std::pair<std::string, ScheduleOptions>> definitions = {
      {"pause", every_ten_minutes()},
      {"range", with_back_off({.rule = every(10min, 15min)}, 20min)},
      {"cron", {.rule = CronRule{.expression = "@daily", .zone = "Europe/Berlin", .jitter = 10min}}},
      {"queue", into_a_queue(every_ten_minutes())},
      {"command", command}};
  for (const auto& [name, options] : definitions) {
    const auto first = define(name, options);
    const auto before = dump();
    const auto again = define(name, options);
    EXPECT_FALSE(again.created || again.changed) << name;
    EXPECT_EQ(again.next_run_at, first.next_run_at) << name;
    EXPECT_EQ(dump(), before) << name;
  }
}

TEST_P(ScheduleDefineTest, ADefinitionIsToldAsItWasGiven) {
  const ScheduleOptions with_queue{
      .rule = CronRule{.expression = "0  9 * JAN-MAR mon", .zone = "Europe/Berlin", .jitter = 7s},
      .on_fail = Between{20min, 40min},
      .ttl = 17s,
      .misfire = Misfire::all,
      .misfire_after = 3min,
      .queue = "mail",
      .payload = "a\0b\xFF"s};
  define("with queue", with_queue);
  const auto told = info("with queue").options;
  EXPECT_EQ(told.rule, with_queue.rule);
  EXPECT_EQ(told.on_fail, with_queue.on_fail);
  EXPECT_EQ(told.ttl, with_queue.ttl);
  EXPECT_EQ(told.misfire, with_queue.misfire);
  EXPECT_EQ(told.misfire_after, with_queue.misfire_after);
  EXPECT_EQ(told.queue, with_queue.queue);
  EXPECT_EQ(told.payload, with_queue.payload);
  const Words command = {"sh", "-c", "echo \"it's\"\n\xF0\x9F\x9A\x80 \\ \t", ""};
  define("with command", {.rule = every(1s, 1h), .command = command});
  EXPECT_EQ(info("with command").options.command, command);
  EXPECT_EQ(info("with command").options.rule, ScheduleRule(every(1s, 1h)));
  EXPECT_FALSE(info("with command").options.on_fail);
  EXPECT_EQ(info("with command").created_at, now());
}

TEST_P(ScheduleDefineTest, AChangedRuleBeginsAnew) {
  define("report", daily());
  const auto changed = define("report", with_cron("0 12 * * *"));
  EXPECT_FALSE(changed.created);
  EXPECT_TRUE(changed.changed);
  EXPECT_EQ(changed.next_run_at, at("2026-03-01T12:00:00Z"));
  EXPECT_EQ(define("report", with_cron("0 12 * * *", "Europe/Berlin")).next_run_at, at("2026-03-01T11:00:00Z"));
  go_to("2026-03-03T09:30:00Z");
  EXPECT_EQ(define("report", daily()).next_run_at, at("2026-03-04T09:00:00Z")) << "what was due by the rule before";
  EXPECT_EQ(lines("report"), Words{});
}

TEST_P(ScheduleDefineTest, AnotherPauseKeepsANextRunThatComesSoonEnough) {
  define("refresh", {.rule = every(1h)});
  run_once("refresh");
  EXPECT_EQ(define("refresh", {.rule = every(2h)}).next_run_at, now() + 1h);
  EXPECT_EQ(define("refresh", {.rule = every(1h, 3h)}).next_run_at, now() + 1h);
  EXPECT_EQ(define("refresh", {.rule = every(10min)}).next_run_at, now() + 10min);
}

TEST_P(ScheduleDefineTest, OtherChangesKeepTheNextRun) {
  const CronRule rule{.expression = "0 9 * * *", .jitter = 1h};
  const auto first = define("report", {.rule = rule}).next_run_at;
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
    const auto changed = define("report", options);
    EXPECT_TRUE(changed.changed);
    EXPECT_EQ(changed.next_run_at, first);
  }
  EXPECT_EQ(info("report").options.rule, ScheduleRule(written_otherwise));
}

TEST_P(ScheduleDefineTest, FromAPauseToCronAndBack) {
  define("refresh", every_ten_minutes());
  EXPECT_EQ(define("refresh", daily()).next_run_at, at("2026-03-02T09:00:00Z"));
  EXPECT_EQ(info("refresh").next_occurrence, at("2026-03-02T09:00:00Z"));
  EXPECT_EQ(define("refresh", {.rule = every(48h)}).next_run_at, at("2026-03-02T09:00:00Z")) << "soon enough";
  EXPECT_FALSE(info("refresh").next_occurrence);
  define("refresh", daily());
  EXPECT_EQ(define("refresh", {.rule = every(1h)}).next_run_at, now() + 1h);
}

TEST_P(ScheduleDefineTest, APauseATriggerAndARunSurviveAChange) {
  define("refresh", every_ten_minutes());
  const auto run = acquire("refresh");
  must(schedules().trigger("refresh"));
  must(schedules().pause("refresh", "migration"));
  auto changed = with_cron("0 12 * * *");
  changed.ttl = 1min;
  define("refresh", changed);
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
