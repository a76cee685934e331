// Looking at schedules: what there is, what is due, what comes next, what has been.
#include <gtest/gtest.h>

#include "support/schedule_helpers.h"

namespace leasehold::support {
namespace {

class ScheduleLookTest : public ScheduleStoreTest {
 protected:
  static Words names(const DueSchedules& found) {
    Words words;
    for (const auto& each : found.due) words.push_back(each.name);
    return words;
  }
  Words due(int max = 100, const DueSchedule* after = nullptr) { return names(must(schedules().due(max, after))); }
};
LEASEHOLD_ON_BOTH_STORES(ScheduleLookTest);

TEST_P(ScheduleLookTest, TheListIsInTheOrderOfNamesAndSaysHowEachOneIs) {
  for (const auto* name : {"due", "expired", "paused", "running", "Zebra"}) set_schedule(name, every_ten_minutes());
  set_schedule("waiting", daily());
  acquire("expired");
  must(schedules().pause("paused"));
  advance(30s);
  acquire("running");
  const auto before = dump();
  Words reported;
  for (const auto& each : must(schedules().list())) reported.push_back(each.name + " " + to_string(each.state));
  EXPECT_EQ(reported,
            (Words{"Zebra due", "due due", "expired expired", "paused paused", "running running", "waiting waiting"}));
  EXPECT_EQ(must(schedules().list({.max = 2})).size(), 2U);
  EXPECT_EQ(info("waiting").due_in(), at("2026-03-02T09:00:00Z") - now());
  EXPECT_EQ(info("expired").held_by->state, LeaseState::expired);
  EXPECT_EQ(dump(), before) << "looking changes nothing";
}

TEST_P(ScheduleLookTest, DueSchedulesAreListedInOrderPageByPage) {
  for (int i = 0; i < 7; ++i) set_schedule("s" + std::to_string(i), with_cron(std::to_string(40 - i / 2) + " * * * *"));
  go_to("2026-03-01T09:41:00Z");
  const Words all = {"s6", "s4", "s5", "s2", "s3", "s0", "s1"};
  EXPECT_EQ(due(), all);
  EXPECT_EQ(must(schedules().due()).due[0].due_at, at("2026-03-01T09:37:00Z"));
  Words paged;
  std::optional<DueSchedule> last;
  for (int page = 0; page < 4; ++page) {
    const auto found = must(schedules().due(2, last ? &*last : nullptr));
    for (const auto& each : found.due) paged.push_back(each.name);
    ASSERT_EQ(found.due.size(), page < 3 ? 2U : 1U);
    last = found.due.back();
  }
  EXPECT_EQ(paged, all);
  EXPECT_EQ(due(2, &*last), Words{});
}

TEST_P(ScheduleLookTest, RunningAndPausedSchedulesAreNotDueAndSilentOnesAre) {
  for (const auto* name : {"running", "silent", "paused"}) set_schedule(name, every_ten_minutes());
  acquire("silent");
  advance(20s);
  acquire("running");
  must(schedules().pause("paused"));
  EXPECT_EQ(due(), Words{});
  EXPECT_EQ(must(schedules().due()).next_in, Duration(10s)) << "until the silent one's lease has run out";
  advance(10s);
  EXPECT_EQ(due(), Words{"silent"});
  EXPECT_EQ(must(schedules().due()).due[0].due_at, now());
  EXPECT_EQ(must(schedules().due()).next_in, Duration(20s));
  must(schedules().trigger("running"));
  EXPECT_EQ(due(), Words{"silent"}) << "it has to end first";
}

TEST_P(ScheduleLookTest, DueReportsWhatToDoWithEachSchedule) {
  set_schedule("queue", into_a_queue(every_ten_minutes()));
  set_schedule("command", {.rule = every(10min), .command = {"true"}});
  set_schedule("neither", every_ten_minutes());
  Words reported;
  for (const auto& each : must(schedules().due()).due) {
    reported.push_back(each.name + (each.enqueues ? " enqueues" : "") + (each.has_command ? " runs" : ""));
  }
  EXPECT_EQ(reported, (Words{"command runs", "neither", "queue enqueues"}));
}

TEST_P(ScheduleLookTest, UntilTheNextOneIsDueOneMaySleep) {
  EXPECT_FALSE(must(schedules().due()).next_in) << "there is none";
  set_schedule("report", daily());
  EXPECT_EQ(must(schedules().due()).next_in, at("2026-03-02T09:00:00Z") - now());
  set_schedule("sooner", with_cron("0 12 * * *"));
  EXPECT_EQ(must(schedules().due()).next_in, at("2026-03-01T12:00:00Z") - now());
}

TEST_P(ScheduleLookTest, TheNextOccurrencesAreTheCalendars) {
  set_schedule("report", with_cron("30 2 * * *", "Europe/Berlin"));
  go_to("2026-03-01T10:00:00Z");
  EXPECT_EQ(must(schedules().next("report", 3)),
            (std::vector{at("2026-03-02T01:30:00Z"), at("2026-03-03T01:30:00Z"), at("2026-03-04T01:30:00Z")}));
  EXPECT_EQ(must(schedules().next("report")).size(), 5U);
  set_schedule("refresh", every_ten_minutes());
  run_once("refresh");
  EXPECT_EQ(must(schedules().next("refresh")), std::vector{now() + 10min}) << "more is not known";
}

TEST_P(ScheduleLookTest, OfSeveralDueOccurrencesTheFirstIsShownUnlessEachWillRun) {
  set_schedule("once", daily());
  set_schedule("all", daily(Misfire::all));
  go_to("2026-03-04T12:00:00Z");
  EXPECT_EQ(must(schedules().next("once", 2)), (std::vector{at("2026-03-02T09:00:00Z"), at("2026-03-05T09:00:00Z")}));
  EXPECT_EQ(must(schedules().next("all", 2)), (std::vector{at("2026-03-02T09:00:00Z"), at("2026-03-03T09:00:00Z")}));
}

TEST_P(ScheduleLookTest, TheHistoryShowsTheLatestOccurrenceFirst) {
  set_schedule("refresh", with_back_off(every_ten_minutes(), 1min));
  EXPECT_EQ(lines("refresh"), Words{});
  for (int i = 0; i < 3; ++i) {
    run_once("refresh", {.ok = i != 1, .counts = std::to_string(i)});
    advance(10min);
  }
  const auto run = acquire("refresh", "bob");
  advance(3s);
  EXPECT_EQ(lines("refresh"),
            (Words{"2026-03-01T10:00:00Z scheduled running", "2026-03-01T09:41:00Z retry completed",
                   "2026-03-01T09:40:00Z scheduled failed", "2026-03-01T09:30:00Z scheduled completed"}));
  EXPECT_EQ(must(schedules().history("refresh", {.max = 2})).size(), 2U);
  const auto latest = history("refresh")[0];
  EXPECT_EQ(latest.name, "refresh");
  EXPECT_EQ(latest.token, run.grant.token);
  EXPECT_EQ(name_of(latest.holder) + " " + host_of(latest.holder), "bob host-of-bob");
  EXPECT_EQ(latest.started_at, now() - 3s);
  EXPECT_FALSE(latest.finished_at);
  EXPECT_EQ(latest.took(), Duration(3s)) << "until now";
  EXPECT_EQ(history("refresh")[2].counts, "1");
}

}  // namespace
}  // namespace leasehold::support
