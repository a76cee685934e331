// Runs that die or overrun: noted as lost, backed off like a failure, and late words of theirs move nothing. Promises
// 4, 5 and 6.
#include <gtest/gtest.h>

#include "support/schedule_helpers.h"

namespace leasehold::support {
namespace {

class ScheduleLostTest : public ScheduleStoreTest {};
LEASEHOLD_ON_BOTH_STORES(ScheduleLostTest);

TEST_P(ScheduleLostTest, Promise06_TheNextAcquireNotesItAndGoesOn) {
  set_schedule("refresh", every_ten_minutes());
  const auto dead = acquire("refresh", "ann");
  advance(30s - 1us);
  EXPECT_TRUE(fails(try_acquire("refresh", "bob"), Errc::held)) << "alive to its last microsecond";
  advance(1us + 5s);
  EXPECT_EQ(state("refresh"), ScheduleState::expired);
  EXPECT_EQ(outcomes("refresh"), Words{"expired"});
  const auto next = acquire("refresh", "bob");
  EXPECT_EQ(next.lost, dead.occurrence);
  EXPECT_EQ(name_of(next.lost_holder), "ann");
  EXPECT_EQ(next.cause, "retry");
  EXPECT_EQ(next.occurrence, dead.grant.expires_at) << "without a back-off it is due when the lease runs out";
  EXPECT_EQ(lines("refresh"), (Words{"2026-03-01T09:30:30Z retry running", "2026-03-01T09:30:00Z scheduled lost"}));
  EXPECT_EQ(history("refresh")[1].finished_at, now()) << "when it was noticed";
  EXPECT_EQ(name_of(history("refresh")[1].holder), "ann");
  EXPECT_EQ(recovered("claim").runs, 1);
  must(settle(next));
  EXPECT_EQ(next_run("refresh"), now() + 10min);
}

TEST_P(ScheduleLostTest, WithABackOffItIsNotedAtOnceAndRunsLater) {
  set_schedule("refresh", with_back_off(every_ten_minutes(), 20min));
  const auto dead = acquire("refresh", "ann");
  advance(1min);
  const auto retry_at = dead.grant.expires_at + 20min;
  EXPECT_TRUE(not_due_until(try_acquire("refresh", "bob"), retry_at));
  EXPECT_EQ(outcomes("refresh"), Words{"lost"});
  EXPECT_EQ(state("refresh"), ScheduleState::waiting);
  EXPECT_EQ(info("refresh").next_cause, "retry");
  EXPECT_TRUE(must(store().leases()).empty());
  EXPECT_EQ(story("refresh"), (Words{"set", "acquired", "lost"}));
  everything_is_lost(dead, LostReason::expired);
  advance(retry_at - now());
  const auto next = acquire("refresh", "bob");
  EXPECT_EQ(next.cause, "retry");
  EXPECT_EQ(name_of(next.lost_holder), "ann") << "the next run reports it";
}

TEST_P(ScheduleLostTest, NowTakesOverWhatHasExpiredWithoutWaitingForItsBackOff) {
  set_schedule("refresh", with_back_off(every_ten_minutes(), 20min));
  acquire("refresh", "ann");
  advance(30s);
  const auto next = acquire_now("refresh", "bob");
  EXPECT_EQ(next.cause, "triggered");
  EXPECT_EQ(name_of(next.lost_holder), "ann");
  EXPECT_EQ(outcomes("refresh"), (Words{"running", "lost"}));
}

TEST_P(ScheduleLostTest, Promise05_AHeartbeatKeepsALiveRunAndNeverRevivesOne) {
  set_schedule("refresh", every_ten_minutes());
  const auto run = acquire("refresh");
  for (int i = 0; i < 4; ++i) {
    advance(30s - 1us);
    EXPECT_EQ(must(beat(run)).expires_at, now() + 30s);
  }
  EXPECT_TRUE(fails(try_acquire("refresh", "bob"), Errc::held)) << "work longer than its lease stays single";
  advance(30s);
  const auto before = dump();
  EXPECT_TRUE(lost(beat(run), LostReason::expired));
  EXPECT_TRUE(lost(schedules().heartbeat("refresh", run.grant.token, 1h), LostReason::expired));
  EXPECT_EQ(dump(), before);
}

TEST_P(ScheduleLostTest, Promise04_ALateFinishTouchesNothingOfItsSuccessor) {
  set_schedule("refresh", with_back_off(every_ten_minutes(), 1min));
  const auto late = acquire("refresh", "ann");
  advance(30s + 1min);
  const auto next = acquire("refresh", "bob");
  everything_is_lost(late, LostReason::superseded);
  EXPECT_TRUE(ok(beat(next)));
  must(settle(next));
  everything_is_lost(late, LostReason::superseded);
  EXPECT_EQ(outcomes("refresh"), (Words{"completed", "lost"}));
  EXPECT_EQ(next_run("refresh"), now() + 10min);
}

TEST_P(ScheduleLostTest, ALostRunOfCronIsTriedAgainBeforeTheNextOccurrence) {
  set_schedule("report", daily());
  go_to("2026-03-02T09:00:00Z");
  acquire("report", "ann");
  go_to("2026-03-02T15:00:00Z");
  const auto next = acquire("report", "bob");
  EXPECT_EQ(next.cause, "retry");
  EXPECT_EQ(next.occurrence, at("2026-03-02T09:00:30Z"));
  EXPECT_EQ(next.lost, at("2026-03-02T09:00:00Z"));
  EXPECT_EQ(info("report").next_occurrence, at("2026-03-03T09:00:00Z"));
}

TEST_P(ScheduleLostTest, AnUntakenRetryIsSkippedWithTheOccurrencesAfterIt) {
  set_schedule("report", daily());
  go_to("2026-03-02T09:00:00Z");
  acquire("report", "ann");
  go_to("2026-03-04T09:10:00Z");
  const auto next = acquire("report", "bob");
  EXPECT_EQ(next.skipped, 2);
  EXPECT_EQ(lines("report"), (Words{"2026-03-04T09:00:00Z scheduled running",
                                    "2026-03-02T09:00:30Z scheduled skipped 2 through 2026-03-03T09:00:00Z (misfire)",
                                    "2026-03-02T09:00:00Z scheduled lost"}));
}

TEST_P(ScheduleLostTest, ABackOffThatEndsAfterTheNextOccurrenceDoesNotMoveIt) {
  set_schedule("report", with_back_off(with_cron("0 * * * *"), 2h));
  go_to("2026-03-01T10:00:00Z");
  acquire("report", "ann");
  advance(1min);
  EXPECT_TRUE(not_due_until(try_acquire("report", "bob"), at("2026-03-01T11:00:00Z")));
  EXPECT_EQ(info("report").next_cause, "scheduled");
  EXPECT_EQ(outcomes("report"), Words{"lost"});
}

TEST_P(ScheduleLostTest, WorkThatKillsItsRunnerIsTriedAgainAndEachLossIsReported) {
  set_schedule("refresh", with_back_off(every_ten_minutes(), 1min));
  for (int i = 0; i < 3; ++i) {
    acquire("refresh", "dead " + std::to_string(i));
    advance(30s + 1min);
  }
  must(settle(acquire("refresh", "bob")));
  EXPECT_EQ(outcomes("refresh"), (Words{"completed", "lost", "lost", "lost"}));
  EXPECT_EQ(recovered("claim").runs, 3);
  EXPECT_EQ(name_of(info("refresh").last->holder), "bob");
}

}  // namespace
}  // namespace leasehold::support
