// A holder that requests its own lock would wait for itself for ever, so it is refused at once, as `reentry`.
#include <gtest/gtest.h>

#include "support/lock_family_fixture.h"

namespace leasehold::support {
namespace {

class LockReentryTest : public LockFamilyTest {
 protected:
  static Call from_instance(Call call, const std::string& instance) {
    call.holder->instance = instance;
    return call;
  }
};
LEASEHOLD_ON_BOTH_STORES(LockReentryTest);

TEST_P(LockReentryTest, Promise11_AHolderThatTakesItAgainLearnsThatItHasIt) {
  const auto mine = take(locks(), "deploy", {}, by("ann"));
  const auto before = dump();
  const auto refused = locks().acquire("deploy", {}, by("ann"));
  ASSERT_TRUE(fails(refused, Errc::reentry));
  ASSERT_TRUE(refused.error().held_by.has_value());
  EXPECT_EQ(refused.error().held_by->acquired_at, mine.acquired_at);
  EXPECT_EQ(refused.error().held_by->holder.name, "ann");
  EXPECT_EQ(dump(), before);
}

TEST_P(LockReentryTest, ARequestNeverWaitsForItself) {
  take(locks(), "deploy", {.ttl = 1h}, by("ann"));
  const auto before = BootClock::now();
  EXPECT_TRUE(fails(locks().acquire("deploy", waiting(AcquireOptions{}), by("ann")), Errc::reentry));
  EXPECT_LT(BootClock::now() - before, Duration(10s));
  EXPECT_EQ(status_of(store()).waiters, 0);
}

TEST_P(LockReentryTest, TheSameNameInAnotherProcessIsADifferentHolder) {
  take(locks(), "deploy", {}, by("ann"));
  EXPECT_TRUE(fails(locks().acquire("deploy", {}, from_instance(by("ann"), "another process")), Errc::held));
}

TEST_P(LockReentryTest, AnotherNameInTheSameProcessIsADifferentHolder) {
  take(locks(), "deploy", {}, by("ann"));
  EXPECT_TRUE(fails(locks().acquire("deploy", {}, from_instance(by("bob"), "instance-of-ann")), Errc::held));
}

TEST_P(LockReentryTest, AHolderWithoutAnInstanceIsNotRecognized) {
  take(locks(), "deploy", {}, from_instance(by("ann"), ""));
  EXPECT_TRUE(fails(locks().acquire("deploy", {}, from_instance(by("ann"), "")), Errc::held));
}

TEST_P(LockReentryTest, AThreadIsRecognizedAndAnotherThreadIsADifferentHolder) {
  const auto mine = locks().acquire("deploy");
  ASSERT_TRUE(ok(mine));
  EXPECT_TRUE(fails(locks().acquire("deploy"), Errc::reentry));
  std::jthread([&] { EXPECT_TRUE(fails(locks().acquire("deploy"), Errc::held)); }).join();
  std::optional<Result<Grant>> answer;
  std::jthread waiter([&] { answer = locks().acquire("deploy", {.wait = 30s}); });
  ASSERT_TRUE(in_line(1));
  ASSERT_TRUE(ok(locks().release("deploy", mine->token)));
  waiter.join();
  EXPECT_TRUE(ok(*answer)) << "threads wait for each other";
}

TEST_P(LockReentryTest, AllOfALockWhileHavingAShareOfIt) {
  take(locks(), "report", sharing(1h), by("bob"));
  take(locks(), "report", sharing(), by("ann"));
  const auto refused = locks().acquire("report", {}, by("ann"));
  ASSERT_TRUE(fails(refused, Errc::reentry));
  EXPECT_EQ(refused.error().held_by->holder.name, "ann") << "its own, though bob's frees later";
  EXPECT_TRUE(fails(locks().acquire("report", {}, by("cat")), Errc::held));
}

TEST_P(LockReentryTest, AShareWhileHavingAllOfIt) {
  take(locks(), "report", {}, by("ann"));
  EXPECT_TRUE(fails(locks().acquire("report", sharing(), by("ann")), Errc::reentry));
}

TEST_P(LockReentryTest, ASecondShareIsNone) {
  const auto first = take(locks(), "gpu", permits(2, 5), by("ann"));
  const auto second = locks().acquire("gpu", permits(2, 5), by("ann"));
  ASSERT_TRUE(ok(second));
  EXPECT_GT(second->token, first.token);
  take(locks(), "gpu", permits(1, 5), by("bob"));
  EXPECT_TRUE(fails(locks().acquire("gpu", permits(1, 5), by("ann")), Errc::held)) << "but there is no more room";
  ASSERT_TRUE(ok(locks().release("gpu", first.token)));
  EXPECT_TRUE(ok(locks().heartbeat("gpu", second->token)));
}

TEST_P(LockReentryTest, ASecondShareThatItsOwnPermitsLeaveNoRoomForIs) {
  take(locks(), "gpu", permits(1, 5, 1h), by("bob"));
  const auto mine = take(locks(), "gpu", permits(3, 5, 1h), by("ann"));
  const auto before = dump();
  const auto refused = locks().acquire("gpu", waiting(permits(3, 5)), by("ann"));
  ASSERT_TRUE(fails(refused, Errc::reentry)) << "even if all others give back, it would wait for itself";
  EXPECT_EQ(refused.error().held_by->acquired_at, mine.acquired_at);
  EXPECT_EQ(dump(), before);
}

TEST_P(LockReentryTest, ASecondShareDoesNotWaitForThoseWhoWaitForTheFirst) {
  take(locks(), "report", sharing(), by("ann"));
  stand("report", "writer");
  EXPECT_TRUE(fails(locks().acquire("report", sharing(), by("bob")), Errc::busy));
  EXPECT_TRUE(ok(locks().acquire("report", sharing(), by("ann"))));
}

TEST_P(LockReentryTest, ASecondShareWaitsForRoomOnlyAndNotForTheLine) {
  take(locks(), "gpu", permits(2, 5, 1h), by("ann"));
  const auto bob = take(locks(), "gpu", permits(2, 5, 1h), by("bob"));
  stand("gpu", "writer", 1min);
  std::optional<Result<Grant>> second;
  std::jthread waiter([&] { second = locks().acquire("gpu", waiting(permits(2, 5)), by("ann")); });
  ASSERT_TRUE(in_line(2));
  ASSERT_TRUE(ok(locks().release("gpu", bob.token)));
  waiter.join();
  EXPECT_TRUE(ok(*second));
}

TEST_P(LockReentryTest, AnExpiredOrReleasedLockIsNoReentry) {
  take(locks(), "deploy", {.ttl = 10s}, by("ann"));
  advance(10s);
  const auto again = locks().acquire("deploy", {}, by("ann"));
  ASSERT_TRUE(ok(again));
  ASSERT_TRUE(ok(locks().release("deploy", again->token)));
  EXPECT_TRUE(ok(locks().acquire("deploy", {}, by("ann"))));
}

TEST_P(LockReentryTest, Promise13_ARepeatedRequestIsNone) {
  const auto first = take(locks(), "deploy", asked_as(AcquireOptions{}, "r1"), by("ann"));
  const auto again = locks().acquire("deploy", asked_as(AcquireOptions{}, "r1"), by("ann"));
  ASSERT_TRUE(ok(again));
  EXPECT_EQ(again->token, first.token);
}

TEST_P(LockReentryTest, OneOfSeveralThatOneHasAlready) {
  take(locks(), "b", {}, by("ann"));
  const auto before = dump();
  const auto refused = locks().acquire_all({"c", "b", "a"}, waiting(AcquireOptions{}), by("ann"));
  ASSERT_TRUE(fails(refused, Errc::reentry));
  EXPECT_EQ(refused.error().held_by->key, "b");
  EXPECT_TRUE(fails(locks().show("a"), Errc::not_found));
  EXPECT_TRUE(fails(locks().show("c"), Errc::not_found));
}

}  // namespace
}  // namespace leasehold::support
