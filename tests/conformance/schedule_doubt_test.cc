// Schedules over a network that breaks: nothing is lost, nothing counts twice, and nothing runs. Promises 10 and 13.
#include <gtest/gtest.h>

#include "support/broken_store.h"
#include "support/schedule_helpers.h"

namespace leasehold::support {
namespace {

class ScheduleDoubtTest : public WithBrokenStore<ScheduleStoreTest> {
 protected:
  void SetUp() override {
    WithBrokenStore::SetUp();
    set_schedule("refresh", every_ten_minutes());
  }
  /// The next answer of this statement never comes.
  void lose_reply(const std::string& statement) { faults_->fail_next(Fault::lose_reply, 1, statement); }
};
LEASEHOLD_ON_BOTH_STORES(ScheduleDoubtTest);

TEST_P(ScheduleDoubtTest, Promise13_ARunnersRepeatedActCountsOnceAfterALostReply) {
  const auto schedules = broken_->schedules();
  lose_reply("schedule_acquire");
  const auto run = must(schedules.acquire("refresh", {}, by("ann")));
  EXPECT_TRUE(run.grant.replayed);
  lose_reply("schedule_heartbeat");
  EXPECT_TRUE(ok(schedules.heartbeat("refresh", run.grant.token)));
  lose_reply("schedule_settle");
  const auto done = must(schedules.settle("refresh", run.grant.token));
  EXPECT_TRUE(done.replayed);
  EXPECT_EQ(done.next_in, Duration(10min));
  const auto again = acquire_now("refresh");
  lose_reply("schedule_release");
  EXPECT_TRUE(ok(schedules.release("refresh", again.grant.token)));
  EXPECT_EQ(faults_->failures(), 4);
  EXPECT_EQ(story("refresh"), (Words{"set", "acquired", "completed", "acquired", "released"}));
}

TEST_P(ScheduleDoubtTest, Promise13_AnOccurrenceOfTheCalendarIsTakenOnceWhereverTheReplyWasLost) {
  set_schedule("report", daily());
  go_to("2026-03-05T12:00:00Z");
  for (int call = 0; call < 3; ++call) {
    lose_reply("schedule_acquire");
    const auto run = must(broken_->schedules().acquire("report", {}, by("ann")));
    EXPECT_EQ(run.occurrence, at("2026-03-05T09:00:00Z") + call * 24h);
    EXPECT_EQ(run.skipped, call == 0 ? 3 : 0);
    must(settle(run));
    advance(24h);
  }
  EXPECT_EQ(outcomes("report"), (Words{"completed", "completed", "completed", "skipped"}));
}

TEST_P(ScheduleDoubtTest, OperatorActsAreRepeatedOnlyIfHarmless) {
  const auto schedules = broken_->schedules();
  lose_reply("schedule_set");
  EXPECT_TRUE(ok(schedules.set("report", due_now(into_a_queue(every_ten_minutes())))));
  lose_reply("schedule_pause");
  EXPECT_TRUE(ok(schedules.pause("report")));
  lose_reply("schedule_resume");
  EXPECT_TRUE(ok(schedules.resume("report")));
  lose_reply("schedule_fire");
  EXPECT_TRUE(fails(schedules.fire("report"), Errc::in_doubt));
  EXPECT_EQ(faults_->calls("schedule_fire"), 1) << "another occurrence may be due by now";
  EXPECT_EQ(must(queues().show("mail")).available, 1);
}

TEST_P(ScheduleDoubtTest, Promise10_AnUnreachableStoreRunsNothing) {
  const auto run = acquire("refresh");
  const auto before = dump();
  faults_->fail_always(Fault::fail_before_send);
  const auto schedules = broken_->schedules();
  const auto unavailable = [](const auto& result) { EXPECT_TRUE(fails(result, Errc::unavailable)); };
  unavailable(schedules.set("report", daily()));
  unavailable(schedules.acquire("refresh"));
  unavailable(schedules.hold("refresh"));
  unavailable(schedules.heartbeat("refresh", run.grant.token));
  unavailable(schedules.settle("refresh", run.grant.token));
  unavailable(schedules.release("refresh", run.grant.token));
  unavailable(schedules.trigger("refresh"));
  unavailable(schedules.pause("refresh"));
  unavailable(schedules.resume("refresh"));
  unavailable(schedules.rename("refresh", "reload"));
  unavailable(schedules.remove("refresh"));
  unavailable(schedules.fire("refresh"));
  unavailable(schedules.due());
  unavailable(schedules.show("refresh"));
  unavailable(schedules.list());
  unavailable(schedules.next("refresh"));
  unavailable(schedules.history("refresh"));
  EXPECT_EQ(dump(), before);
}

}  // namespace
}  // namespace leasehold::support
