// Due and free in one step, or not at all; a refusal names the time or the holder.
#include <gtest/gtest.h>

#include "support/schedule_helpers.h"

namespace leasehold::support {
namespace {

class ScheduleAcquireTest : public ScheduleStoreTest {};
LEASEHOLD_ON_BOTH_STORES(ScheduleAcquireTest);

TEST_P(ScheduleAcquireTest, ADueAndFreeScheduleIsTakenInOneStep) {
  set_schedule("refresh", every_ten_minutes());
  advance(3s);
  const auto run = acquire("refresh");
  EXPECT_EQ(run.grant.key, "refresh");
  EXPECT_EQ(run.grant.ttl, Duration(30s));
  EXPECT_EQ(run.grant.expires_at, now() + 30s);
  EXPECT_FALSE(run.grant.replayed);
  EXPECT_EQ(run.occurrence, now() - 3s);
  EXPECT_EQ(run.cause, "scheduled");
  EXPECT_EQ(run.skipped, 0);
  EXPECT_FALSE(run.lost);
  EXPECT_EQ(state("refresh"), ScheduleState::running);
  EXPECT_EQ(info("refresh").held_by->holder.name, "ann");
  EXPECT_EQ(info("refresh").held_by->token, run.grant.token);
  EXPECT_EQ(next_run("refresh"), now() + 10min) << "for the time being: it counts from the end";
  EXPECT_EQ(lines("refresh"), Words{to_string(now() - 3s) + " scheduled running"});
}

TEST_P(ScheduleAcquireTest, Promise02_ItIsDueExactlyAtItsMoment) {
  set_schedule("refresh", every_ten_minutes());
  set_schedule("report", with_cron("40 9 * * *"));
  run_once("refresh");
  advance(10min - 1us);
  const auto before = dump();
  for (const auto* name : {"refresh", "report"}) {
    const auto refused = try_acquire(name);
    EXPECT_TRUE(not_due_until(refused, at("2026-03-01T09:40:00Z")));
    EXPECT_EQ(refused.error().retry_in, Duration(1us));
    EXPECT_EQ(state(name), ScheduleState::waiting);
  }
  EXPECT_TRUE(must(schedules().due()).due.empty());
  EXPECT_EQ(must(schedules().due()).next_in, Duration(1us));
  EXPECT_EQ(dump(), before) << "a caller that comes too early leaves no trace";
  advance(1us);
  EXPECT_EQ(must(schedules().due()).due.size(), 2U);
  for (const auto* name : {"refresh", "report"}) {
    EXPECT_EQ(state(name), ScheduleState::due);
    EXPECT_EQ(acquire(name).occurrence, at("2026-03-01T09:40:00Z"));
  }
}

TEST_P(ScheduleAcquireTest, Promise11_ARefusalNamesTheRunnerSinceWhenAndUntilWhen) {
  set_schedule("refresh", every_ten_minutes());
  const auto run = acquire("refresh", "ann");
  advance(10s);
  const auto before = dump();
  const auto refused = try_acquire("refresh", "bob");
  ASSERT_TRUE(fails(refused, Errc::held));
  const auto& current = refused.error().held_by.value();
  EXPECT_EQ(current.holder.name + " " + current.holder.host + " " + current.holder.tty, "ann host-of-ann pts/7");
  EXPECT_EQ(current.acquired_at, run.grant.acquired_at);
  EXPECT_EQ(current.acquired_at, now() - 10s);
  EXPECT_EQ(current.retry_in(), Duration(20s));
  EXPECT_EQ(refused.error().retry_at, now() + 20s);
  EXPECT_TRUE(fails(schedules().acquire("refresh", {.now = true}, by("bob")), Errc::held))
      << "now never skips the lease";
  EXPECT_EQ(dump(), before);
}

TEST_P(ScheduleAcquireTest, Promise08_AnUnknownScheduleIsNotFound) {
  const auto not_found = [](const auto& result) { EXPECT_TRUE(fails(result, Errc::not_found)); };
  not_found(schedules().acquire("nothing", {.now = true}, by("ann")));
  not_found(schedules().heartbeat("nothing", Token{1}));
  not_found(schedules().settle("nothing", Token{1}));
  not_found(schedules().release("nothing", Token{1}));
  not_found(schedules().trigger("nothing"));
  not_found(schedules().pause("nothing"));
  not_found(schedules().resume("nothing"));
  not_found(schedules().rename("nothing", "something"));
  not_found(schedules().remove("nothing"));
  not_found(schedules().fire("nothing"));
  not_found(schedules().show("nothing"));
  not_found(schedules().next("nothing"));
  not_found(schedules().history("nothing"));
}

TEST_P(ScheduleAcquireTest, NowSkipsTheDueTestAndKeepsTheCalendar) {
  set_schedule("report", daily());
  const auto run = acquire_now("report");
  EXPECT_EQ(run.cause, "triggered");
  EXPECT_EQ(run.occurrence, now());
  must(settle(run));
  EXPECT_EQ(next_run("report"), at("2026-03-02T09:00:00Z"));
  set_schedule("refresh", every_ten_minutes());
  run_once("refresh");
  advance(1min);
  must(settle(acquire_now("refresh")));
  EXPECT_EQ(next_run("refresh"), now() + 10min) << "a pause counts from the end of whatever ran last";
}

TEST_P(ScheduleAcquireTest, NowTakesTheOccurrenceOfOneThatIsDueAnyway) {
  set_schedule("report", daily());
  go_to("2026-03-02T09:01:00Z");
  const auto run = acquire_now("report");
  EXPECT_EQ(run.cause, "scheduled");
  EXPECT_EQ(run.occurrence, at("2026-03-02T09:00:00Z"));
  EXPECT_EQ(next_run("report"), at("2026-03-03T09:00:00Z"));
}

TEST_P(ScheduleAcquireTest, OccurrencesAreUniqueAlsoWithinAMicrosecond) {
  set_schedule("refresh", every_ten_minutes());
  for (int i = 0; i < 3; ++i) must(settle(acquire_now("refresh")));
  EXPECT_EQ(lines("refresh"),
            (Words{"2026-03-01T09:30:00.000002Z triggered completed", "2026-03-01T09:30:00.000001Z triggered completed",
                   "2026-03-01T09:30:00Z scheduled completed"}));
}

TEST_P(ScheduleAcquireTest, ARunMayHaveATimeOfItsOwn) {
  set_schedule("refresh", every_ten_minutes());
  ScheduleAcquireOptions longer{};
  longer.ttl = 1h;
  const auto run = must(schedules().acquire("refresh", longer, by("ann")));
  EXPECT_EQ(run.grant.expires_at, now() + 1h);
  advance(59min);
  EXPECT_EQ(must(schedules().heartbeat("refresh", run.grant.token)).expires_at, now() + 1h);
  EXPECT_EQ(must(schedules().heartbeat("refresh", run.grant.token, 5s)).expires_at, now() + 5s);
}

TEST_P(ScheduleAcquireTest, Promise03_EveryTokenIsGreaterThanTheOneBefore) {
  set_schedule("refresh", into_a_queue(every_ten_minutes()));
  Token last{0};
  const auto grows = [&](Token token) {
    EXPECT_GT(token, last);
    last = token;
  };
  for (int i = 0; i < 3; ++i) {
    const auto finished = acquire_now("refresh");
    grows(finished.grant.token);
    must(settle(finished));
    const auto released = acquire_now("refresh");
    grows(released.grant.token);
    must(release(released));
    must(schedules().fire("refresh"));
    grows(history("refresh")[0].token);
    grows(acquire_now("refresh").grant.token);
    advance(30s);
    grows(acquire_now("refresh").grant.token);
    advance(30s);
    must(schedules().remove("refresh"));
    advance(1us);
    set_schedule("refresh", into_a_queue(every_ten_minutes()));
  }
}

TEST_P(ScheduleAcquireTest, Promise13_AnAcquireRepeatedGetsTheFirstAnswerAgain) {
  set_schedule("report", daily());
  go_to("2026-03-04T09:00:00Z");
  acquire("report", "cat");
  go_to("2026-03-06T12:00:00Z");
  const auto first = must(schedules().acquire("report", {.request_id = "r1"}, by("ann")));
  advance(10s);
  const auto before = dump();
  const auto again = must(schedules().acquire("report", {.request_id = "r1"}, by("ann")));
  EXPECT_TRUE(again.grant.replayed);
  EXPECT_EQ(again.grant.token, first.grant.token);
  EXPECT_EQ(again.grant.expires_at, first.grant.expires_at) << "what remains of it";
  EXPECT_EQ(again.occurrence, first.occurrence);
  EXPECT_EQ(again.cause, first.cause);
  EXPECT_EQ(first.skipped, 2) << "another try of the fourth, and the fifth";
  EXPECT_EQ(again.skipped, first.skipped);
  EXPECT_EQ(first.lost, at("2026-03-04T09:00:00Z"));
  EXPECT_EQ(again.lost, first.lost);
  EXPECT_EQ(name_of(again.lost_holder), "cat");
  EXPECT_EQ(dump(), before);
  EXPECT_TRUE(fails(schedules().acquire("report", {.request_id = "r2"}, by("bob")), Errc::held)) << "another request";
}

TEST_P(ScheduleAcquireTest, Promise13_AnAcquireRepeatedAfterItsRunIsLost) {
  set_schedule("refresh", every_ten_minutes());
  const auto repeated = [&](const std::string& id) {
    return schedules().acquire("refresh", {.request_id = id}, by("ann"));
  };
  must(settle(must(repeated("finished"))));
  EXPECT_TRUE(lost(repeated("finished"), LostReason::finished));
  advance(10min);
  must(repeated("expired"));
  advance(30s);
  EXPECT_TRUE(lost(repeated("expired"), LostReason::expired));
  acquire("refresh", "bob");
  EXPECT_TRUE(lost(repeated("expired"), LostReason::superseded));
  EXPECT_EQ(outcomes("refresh"), (Words{"running", "lost", "completed"}));
}

}  // namespace
}  // namespace leasehold::support
