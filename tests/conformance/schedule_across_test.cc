// Functions across all features, for schedules: recover, prune, events, and all that is held. Promises 6 and 12.
#include <gtest/gtest.h>

#include "support/schedule_helpers.h"

namespace leasehold::support {
namespace {

class ScheduleAcrossTest : public ScheduleStoreTest {
 protected:
  /// "acquired 2026-03-01T09:30:00Z": what happened to a schedule, in detail.
  Words detailed_story(const std::string& name) {
    Words words;
    for (const auto& event : must(store().events({.key = name}))) {
      words.push_back(event.what + (event.detail.empty() ? "" : " " + event.detail) +
                      (!event.holder ? "" : " by " + name_of(event.holder) + " at " + host_of(event.holder)));
    }
    return words;
  }
};
LEASEHOLD_ON_BOTH_STORES(ScheduleAcrossTest);

TEST_P(ScheduleAcrossTest, Promise06_RecoverNotesExpiredRunsAndCountsThem) {
  for (const auto* name : {"dead 1", "dead 2", "alive"}) set_schedule(name, with_back_off(every_ten_minutes(), 20min));
  acquire("dead 1");
  acquire("dead 2");
  advance(20s);
  acquire("alive");
  EXPECT_EQ(must(store().recovery_stats()).stale_now.runs, 0);
  EXPECT_EQ(must(store().recover()).runs, 0);
  advance(10s);
  const auto before = dump();
  EXPECT_EQ(must(store().recovery_stats()).stale_now.runs, 2);
  EXPECT_EQ(must(store().recovery_stats()).stale_now.leases, 2);
  EXPECT_EQ(dump(), before) << "a preview";
  const auto freed = must(store().recover());
  EXPECT_EQ(freed.runs, 2);
  EXPECT_EQ(freed.leases, 2);
  EXPECT_EQ(next_run("dead 1"), now() + 20min) << "as where an acquire notes it";
  EXPECT_EQ(info("dead 1").next_cause, "retry");
  EXPECT_EQ(outcomes("dead 2"), Words{"lost"});
  EXPECT_EQ(state("alive"), ScheduleState::running);
  EXPECT_EQ(recovered("recover").runs, 2);
  EXPECT_EQ(must(store().recover()).runs, 0);
}

TEST_P(ScheduleAcrossTest, Promise06_TheNextRunReportsTheRunThatRecoverEnded) {
  set_schedule("refresh", every_ten_minutes());
  const auto dead = acquire("refresh", "ann");
  advance(30s);
  must(store().recover());
  const auto next = acquire("refresh", "bob");
  EXPECT_EQ(next.lost, dead.occurrence);
  EXPECT_EQ(name_of(next.lost_holder), "ann");
  EXPECT_EQ(recovered("claim").runs, 0);
}

TEST_P(ScheduleAcrossTest, PruneForgetsOldRunsButTheLatest) {
  set_schedule("refresh", every_ten_minutes());
  set_schedule("report", daily());
  for (int i = 0; i < 5; ++i) {
    run_once("refresh");
    advance(10min);
  }
  go_to("2026-03-05T12:00:00Z");
  run_once("report");
  must(store().prune(1h));
  EXPECT_EQ(lines("refresh"), Words{"2026-03-01T10:10:00Z scheduled completed"});
  EXPECT_EQ(outcomes("report"), (Words{"completed", "skipped"})) << "young enough";
  advance(2h);
  acquire("refresh");
  must(store().prune(1h));
  EXPECT_EQ(outcomes("report"), Words{"completed"}) << "a skipped occurrence is no run";
  EXPECT_EQ(outcomes("refresh"), (Words{"running", "completed"})) << "the latest that has come to an end";
  EXPECT_TRUE(info("refresh").last);
}

TEST_P(ScheduleAcrossTest, PruneKeepsWhatRuns) {
  set_schedule("refresh", every_ten_minutes());
  const auto run = acquire("refresh");
  advance(48h);
  must(store().prune(1h));
  EXPECT_EQ(state("refresh"), ScheduleState::expired);
  EXPECT_TRUE(ok(settle(run)));
}

TEST_P(ScheduleAcrossTest, Promise12_EveryActIsAnEvent) {
  set_schedule("report", with_back_off(into_a_queue(daily()), 1h));
  set_schedule("report", into_a_queue(daily()));
  go_to("2026-03-03T09:00:00Z");
  must(settle(acquire("report")));
  must(schedules().trigger("report"));
  must(release(acquire("report", "bob")));
  const auto failing = acquire("report", "cat");
  must(settle(failing, {.ok = false, .error = "no\nroute"}));
  must(schedules().pause("report", "why"));
  go_to("2026-03-04T09:00:00Z");
  must(schedules().resume("report"));
  must(schedules().trigger("report"));
  const auto job = must(schedules().fire("report")).job_id;
  acquire_now("report", "dan");
  advance(30s);
  must(store().recover());
  must(schedules().rename("report", "renamed"));
  must(schedules().remove("renamed"));
  EXPECT_EQ(
      detailed_story("report"),
      (Words{"set", "set changed", "skipped 1 occurrence (misfire)",
             "acquired 2026-03-03T09:00:00Z by ann at host-of-ann", "completed by ann at host-of-ann", "triggered",
             "acquired 2026-03-03T09:00:00.000001Z by bob at host-of-bob", "released by bob at host-of-bob",
             "acquired 2026-03-03T09:00:00.000002Z by cat at host-of-cat", "failed no\nroute by cat at host-of-cat",
             "paused why", "skipped 1 occurrence (paused)", "resumed", "triggered", "enqueued " + std::to_string(job),
             "acquired 2026-03-04T09:00:00.000002Z by dan at host-of-dan", "lost by dan at host-of-dan",
             "renamed renamed"}));
  EXPECT_EQ(story("renamed"), Words{"removed"});
}

TEST_P(ScheduleAcrossTest, Promise12_AnEventHasTheTokenOfItsRun) {
  set_schedule("refresh", every_ten_minutes());
  EXPECT_EQ(last_event("refresh").token, Token{0});
  const auto run = acquire("refresh");
  EXPECT_EQ(last_event("refresh").kind, "schedule");
  EXPECT_EQ(last_event("refresh").token, run.grant.token);
  must(settle(run, {.ok = false, .error = std::string(300, 'x')}));
  EXPECT_EQ(last_event("refresh").token, run.grant.token);
  EXPECT_EQ(last_event("refresh").detail, std::string(200, 'x')) << "the history has all of it";
}

TEST_P(ScheduleAcrossTest, ARunIsAmongTheHeldLeases) {
  set_schedule("refresh", every_ten_minutes());
  const auto run = acquire("refresh", "ann");
  const auto held = must(store().leases()).at(0);
  EXPECT_EQ(held.kind + " " + held.key, "schedule refresh");
  EXPECT_EQ(held.holder.name, "ann");
  EXPECT_EQ(held.token, run.grant.token);
  EXPECT_EQ(held.retry_in(), Duration(30s));
  must(settle(run));
  EXPECT_TRUE(must(store().leases()).empty());
}

}  // namespace
}  // namespace leasehold::support
