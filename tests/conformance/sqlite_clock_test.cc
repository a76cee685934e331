// The store clock of a SQLite file: steps of the wall clock do not move leases, reboots end them, and
// another machine is never mistaken for this one.
#include <gtest/gtest.h>

#include "support/job_helpers.h"
#include "support/lock_helpers.h"
#include "support/store_fixture.h"

namespace leasehold::support {
namespace {

class SqliteClockTest : public ::testing::Test {
 protected:
  TestClock& clock() { return store_.clock(); }
  static MachineFacts machine(const std::string& machine_id, const std::string& boot_id, std::int64_t time_namespace) {
    return {.machine_id = machine_id, .boot_id = boot_id, .time_namespace = time_namespace};
  }
  void expect_unavailable_with_advice() {
    const auto before = store_.dump();
    const auto opened = store_.try_open();
    Result<LockInfo> answer = opened ? opened->locks().show("deploy") : opened.error();
    Result<Grant> taken = opened ? opened->locks().acquire("deploy", {}, by("bob")) : opened.error();
    EXPECT_TRUE(fails(answer, Errc::unavailable));
    ASSERT_TRUE(fails(taken, Errc::unavailable)) << "never a takeover";
    EXPECT_GT(taken.error().message.size(), 30U) << "what to do about it: " << taken.error().message;
    EXPECT_EQ(store_.dump(), before);
  }

  TestStore store_{StoreKind::sqlite};
};

TEST_F(SqliteClockTest, Promise02_StepsOfTheWallClockDoNotMoveLeases) {
  auto store = store_.open();
  const auto grant = take(store.locks(), "deploy", {.ttl = 30s}, by("alice"));
  clock().step_wall(48h);
  EXPECT_TRUE(fails(store.locks().acquire("deploy", {}, by("bob")), Errc::held));
  EXPECT_TRUE(ok(store.locks().heartbeat("deploy", grant.token)));
  clock().step_wall(-96h);
  EXPECT_EQ(state_of(store.locks(), "deploy"), LeaseState::running);
  clock().advance(31s);
  EXPECT_EQ(state_of(store.locks(), "deploy"), LeaseState::expired) << "time that passed counts";
}

TEST_F(SqliteClockTest, Promise02_AProcessThatOpensAfterTheStepAgreesWithTheOthers) {
  auto first = store_.open();
  take(first.locks(), "deploy", {.ttl = 30s}, by("alice"));
  clock().step_wall(-240h);
  clock().advance(10s);
  auto second = store_.open();
  EXPECT_EQ(status_of(second).store_now, status_of(first).store_now);
  EXPECT_TRUE(fails(second.locks().acquire("deploy", {}, by("bob")), Errc::held));
}

TEST_F(SqliteClockTest, ARebootVoidsTheLeasesOfTheBootBefore) {
  const auto grant = take(store_.open().locks(), "deploy", {.ttl = 240h}, by("alice"));
  clock().reboot("boot-2");
  auto store = store_.open();
  EXPECT_NE(state_of(store.locks(), "deploy"), LeaseState::running);
  EXPECT_FALSE(store.locks().heartbeat("deploy", grant.token).ok());
  const auto next = store.locks().acquire("deploy", {}, by("bob"));
  ASSERT_TRUE(ok(next)) << "the process that held it cannot be alive";
  EXPECT_GT(next->token, grant.token);
}

TEST_F(SqliteClockTest, Promise03_TokensGrowAcrossARebootWithAClockThatFellBack) {
  clock().advance(1h);
  const auto grant = take(store_.open().locks(), "deploy", {}, by("alice"));
  clock().step_wall(-30min);
  clock().reboot("boot-2");
  EXPECT_GT(take(store_.open().locks(), "deploy", {}, by("bob")).token, grant.token);
}

TEST_F(SqliteClockTest, Promise06_ALockDelayDoesNotLastUntilAClockThatFellBackHasCaughtUp) {
  clock().advance(1h);
  AcquireOptions whole{.ttl = 1min};
  whole.lock_delay = 10s;
  auto share = whole;
  share.share = Share{.permits = 1, .capacity = 1};
  take(store_.open().locks(), "deploy", whole, by("alice"));
  take(store_.open().locks(), "pool", share, by("alice"));
  clock().step_wall(-30min);
  clock().reboot("boot-2");
  const auto locks = store_.open().locks();
  EXPECT_TRUE(fails(locks.acquire("deploy", {}, by("bob")), Errc::held)) << "the delay itself counts";
  clock().advance(11s);
  EXPECT_TRUE(ok(locks.acquire("deploy", {}, by("bob"))));
  EXPECT_TRUE(ok(locks.acquire("pool", share)));
}

TEST_F(SqliteClockTest, ALockWithoutDelayIsFreeAfterARebootWithAnEarlierClock) {
  clock().advance(1h);
  {
    const auto store = store_.open();
    const auto released = take(store.locks(), "released", {}, by("alice"));
    ASSERT_TRUE(ok(store.locks().release("released", released.token)));
    take(store.locks(), "revoked", {}, by("alice"));
    ASSERT_TRUE(ok(store.locks().revoke("revoked", "enough")));
  }
  clock().step_wall(-30min);
  clock().reboot("boot-2");
  const auto locks = store_.open().locks();
  for (const auto* name : {"released", "revoked"}) {
    const auto shown = must(locks.show(name));
    EXPECT_FALSE(shown.delayed) << name;
    EXPECT_EQ(shown.holders, 0) << name;
    EXPECT_TRUE(must(locks.holders(name)).empty()) << name;
  }
}

TEST_F(SqliteClockTest, SeveralRebootsInARowAreFine) {
  Token last;
  for (const auto* boot : {"boot-2", "boot-3", "boot-4"}) {
    clock().reboot(boot);
    const auto grant = take(store_.open().locks(), "deploy", {.ttl = 1h}, by("alice"));
    EXPECT_GT(grant.token, last);
    last = grant.token;
  }
}

TEST_F(SqliteClockTest, AnotherMachineIsUnavailableWithAdvice) {
  take(store_.open().locks(), "deploy", {}, by("alice"));
  clock().set_machine(machine("machine-2", "boot-9", 1));
  expect_unavailable_with_advice();
}

TEST_F(SqliteClockTest, AnotherMachineWithoutAnIdIsUnavailableWithAdvice) {
  take(store_.open().locks(), "deploy", {}, by("alice"));
  clock().set_machine(machine("", "boot-9", 1));
  expect_unavailable_with_advice();
}

// Some sandboxes hide it; that is no reboot.
TEST_F(SqliteClockTest, ABootIdThatCannotBeReadIsUnavailableWithAdvice) {
  take(store_.open().locks(), "deploy", {}, by("alice"));
  clock().set_machine(machine(clock().machine().machine_id, "", clock().machine().time_namespace));
  expect_unavailable_with_advice();
}

TEST_F(SqliteClockTest, AnotherTimeNamespaceIsUnavailableWithAdvice) {
  take(store_.open().locks(), "deploy", {}, by("alice"));
  clock().set_machine(machine("machine-1", "boot-1", 2));
  expect_unavailable_with_advice();
}

TEST_F(SqliteClockTest, AnOldBootThatComesBackIsUnavailableWithAdvice) {
  take(store_.open().locks(), "deploy", {}, by("alice"));
  clock().reboot("boot-2");
  take(store_.open().locks(), "deploy", {.ttl = 1h}, by("bob"));
  clock().set_machine(machine("machine-1", "boot-1", 1));
  expect_unavailable_with_advice();
}

TEST_F(SqliteClockTest, AMachineThatSuspendedForAnHourLostItsLease) {
  auto store = store_.open();
  const auto grant = take(store.locks(), "deploy", {.ttl = 30s}, by("alice"));
  clock().advance(1h);
  EXPECT_TRUE(lost(store.locks().heartbeat("deploy", grant.token), LostReason::expired));
}

}  // namespace
}  // namespace leasehold::support
