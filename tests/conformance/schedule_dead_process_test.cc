// On the same host a run whose process is gone is lost at once; "cannot tell" never reads as dead. Promise 10.
#include <gtest/gtest.h>

#include "support/dead_holder.h"
#include "support/schedule_helpers.h"

namespace leasehold::support {
namespace {

class ScheduleDeadProcessTest : public ScheduleStoreTest {
 protected:
  /// A run that the store believes alive for an hour.
  ScheduleRun acquire_as(const std::string& name, const Holder& holder) {
    return must(schedules().acquire(name, {.ttl = 1h}, {.holder = holder}));
  }
};
LEASEHOLD_ON_BOTH_STORES(ScheduleDeadProcessTest);

TEST_P(ScheduleDeadProcessTest, ItsScheduleGoesOnAtOnce) {
  set_schedule("refresh", every_ten_minutes());
  const auto late = acquire_as("refresh", dead_holder("ann"));
  advance(5s);
  const auto next = acquire("refresh", "bob");
  EXPECT_EQ(next.lost, late.occurrence);
  EXPECT_EQ(name_of(next.lost_holder), "ann");
  EXPECT_EQ(next.occurrence, now()) << "due when it was found out, not when the lease would have run out";
  EXPECT_EQ(outcomes("refresh"), (Words{"running", "lost"}));
  EXPECT_EQ(recovered("process_gone").runs, 1);
  everything_is_lost(late, LostReason::superseded);
}

TEST_P(ScheduleDeadProcessTest, ItBacksOffFromWhenItWasFoundOut) {
  set_schedule("refresh", with_back_off(every_ten_minutes(), 20min));
  acquire_as("refresh", dead_holder("ann"));
  advance(5s);
  EXPECT_TRUE(not_due_until(try_acquire("refresh", "bob"), now() + 20min));
  EXPECT_EQ(last_event("refresh").what + ": " + last_event("refresh").detail, "lost: process gone");
  EXPECT_EQ(name_of(last_event("refresh").holder), "ann");
}

TEST_P(ScheduleDeadProcessTest, ItDoesNotStandInTheWayOfRemoving) {
  set_schedule("refresh", every_ten_minutes());
  acquire_as("refresh", dead_holder("ann"));
  EXPECT_TRUE(ok(schedules().remove("refresh")));
  EXPECT_TRUE(must(schedules().list()).empty());
}

TEST_P(ScheduleDeadProcessTest, TheLivingAndThoseOfOtherHostsAndBootsKeepTheirs) {
  auto elsewhere = dead_holder("another boot");
  elsewhere.boot_id = "another boot";
  auto says_too_little = dead_holder("says too little");
  says_too_little.process_start = 0;
  for (const auto& who : {Holder::self("me"), elsewhere, says_too_little}) {
    set_schedule(who.name, every_ten_minutes());
    acquire_as(who.name, who);
    EXPECT_TRUE(fails(try_acquire(who.name, "bob"), Errc::held)) << who.name;
    EXPECT_TRUE(fails(schedules().remove(who.name), Errc::held)) << who.name;
  }
  EXPECT_EQ(must(store().recover()).runs, 0);
}

TEST_P(ScheduleDeadProcessTest, RecoverFindsItToo) {
  set_schedule("refresh", every_ten_minutes());
  acquire_as("refresh", dead_holder("ann"));
  const auto freed = must(store().recover());
  EXPECT_EQ(freed.leases, 1);
  EXPECT_EQ(freed.runs, 1);
  EXPECT_EQ(must(store().recover()).runs, 0);
  EXPECT_EQ(state("refresh"), ScheduleState::due);
}

/// A machine that was restarted: no process that ran anything from that file can be alive.
class ScheduleRebootTest : public ::testing::Test {
 protected:
  void SetUp() override {
    auto store = test_store_.open();
    must(store.schedules().set("refresh", due_now(with_back_off(every_ten_minutes(), 20min))));
    before_ = must(store.schedules().acquire("refresh", {}, by("ann")));
    test_store_.clock().reboot("boot-2");
  }

  TestStore test_store_{StoreKind::sqlite};
  ScheduleRun before_;
};

TEST_F(ScheduleRebootTest, ARunOfTheBootBeforeIsLost) {
  auto store = test_store_.open();
  const auto schedules = store.schedules();
  EXPECT_EQ(must(schedules.show("refresh")).state, ScheduleState::expired);
  EXPECT_TRUE(lost(schedules.heartbeat("refresh", before_.grant.token), LostReason::expired));
  EXPECT_TRUE(fails(schedules.acquire("refresh", {}, by("bob")), Errc::not_due)) << "it backs off like a failure";
  EXPECT_EQ(must(schedules.history("refresh")).at(0).outcome, RunOutcome::lost);
  const auto next = must(schedules.acquire("refresh", {.now = true}, by("bob")));
  EXPECT_GT(next.grant.token, before_.grant.token);
  EXPECT_EQ(name_of(next.lost_holder), "ann");
  EXPECT_TRUE(lost(schedules.settle("refresh", before_.grant.token), LostReason::superseded));
}

TEST_F(ScheduleRebootTest, RecoverFindsIt) {
  auto store = test_store_.open();
  EXPECT_EQ(must(store.recovery_stats()).stale_now.runs, 1);
  EXPECT_EQ(must(store.recover()).runs, 1);
  EXPECT_EQ(must(store.recover()).runs, 0);
}

}  // namespace
}  // namespace leasehold::support
