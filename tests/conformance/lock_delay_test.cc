// The lock delay: after an expiry or a revoke the place stays closed for a while, after a release it is free at once.
#include <gtest/gtest.h>

#include "support/dead_holder.h"
#include "support/lock_family_fixture.h"

namespace leasehold::support {
namespace {

class LockDelayTest : public LockFamilyTest {
 protected:
  /// Refused because of the delay alone, until this moment.
  ::testing::AssertionResult is_delayed(const Result<Grant>& refused, Timestamp until) {
    if (const auto held = fails(refused, Errc::held); !held) return held;
    const auto& error = refused.error();
    if (error.retry_at == until && error.retry_in == until - now()) return ::testing::AssertionSuccess();
    return ::testing::AssertionFailure() << "not reported until when, but " << describe(error);
  }
};
LEASEHOLD_ON_BOTH_STORES(LockDelayTest);

TEST_P(LockDelayTest, AfterAnExpiryItStaysClosedUntilTheDelayIsOver) {
  take(locks(), "deploy", delayed(AcquireOptions{.ttl = 10s}, 5s), by("ann"));
  advance(10s - 1us);
  const auto held = locks().acquire("deploy", {}, by("bob"));
  ASSERT_TRUE(fails(held, Errc::held));
  EXPECT_FALSE(held.error().retry_at.has_value()) << "a heartbeat may still come";
  advance(1us);
  const auto before = dump();
  EXPECT_TRUE(is_delayed(locks().acquire("deploy", {}, by("bob")), test_start + 15s));
  advance(5s - 1us);
  EXPECT_TRUE(is_delayed(locks().acquire("deploy", {}, by("bob")), test_start + 15s));
  EXPECT_EQ(dump(), before);
  advance(1us);
  news();
  EXPECT_TRUE(ok(locks().acquire("deploy", {}, by("bob"))));
  EXPECT_EQ(news(), "deploy reclaimed bob from ann");
}

TEST_P(LockDelayTest, Promise11_TheRefusalShowsTheLastHolderAndTheReason) {
  const auto ann = take(locks(), "deploy", delayed(AcquireOptions{.ttl = 10s}, 5s), by("ann"));
  advance(12s);
  const auto refused = locks().acquire("deploy", {}, by("bob"));
  ASSERT_TRUE(is_delayed(refused, test_start + 15s));
  ASSERT_TRUE(refused.error().held_by.has_value());
  EXPECT_EQ(refused.error().held_by->holder.name, "ann");
  EXPECT_EQ(refused.error().held_by->acquired_at, ann.acquired_at);
  EXPECT_EQ(refused.error().held_by->state, LeaseState::expired);
  EXPECT_NE(refused.error().message.find("ann may not know yet"), std::string::npos) << refused.error().message;
}

TEST_P(LockDelayTest, AfterAReleaseItIsFreeAtOnce) {
  ASSERT_TRUE(ok(locks().release("deploy", take(locks(), "deploy", delayed(AcquireOptions{}, 5min), by("ann")).token)));
  EXPECT_TRUE(ok(locks().acquire("deploy", {}, by("bob"))));
}

TEST_P(LockDelayTest, AReleaseDuringTheDelayEndsIt) {
  const auto ann = take(locks(), "deploy", delayed(AcquireOptions{.ttl = 10s}, 5min), by("ann"));
  advance(11s);
  ASSERT_TRUE(ok(locks().release("deploy", ann.token)));
  EXPECT_TRUE(ok(locks().acquire("deploy", {}, by("bob"))));
}

TEST_P(LockDelayTest, AfterARevokeItIsCountedFromThen) {
  const auto ann = take(locks(), "deploy", delayed(AcquireOptions{.ttl = 1h}, 5s), by("ann"));
  advance(10s);
  ASSERT_TRUE(ok(locks().revoke("deploy", "enough")));
  EXPECT_TRUE(is_delayed(locks().acquire("deploy", {}, by("bob")), test_start + 15s));
  EXPECT_TRUE(lost(locks().release("deploy", ann.token), LostReason::revoked));
  EXPECT_TRUE(is_delayed(locks().acquire("deploy", {}, by("bob")), test_start + 15s)) << "that release was none";
  advance(5s);
  news();
  EXPECT_TRUE(ok(locks().acquire("deploy", {}, by("bob"))));
  EXPECT_EQ(news(), "deploy acquired bob") << "the revoke was reported before";
}

TEST_P(LockDelayTest, AfterALateRevokeItIsCountedFromTheExpiry) {
  take(locks(), "deploy", delayed(AcquireOptions{.ttl = 10s}, 5s), by("ann"));
  advance(12s);
  ASSERT_TRUE(ok(locks().revoke("deploy", "enough")));
  EXPECT_TRUE(is_delayed(locks().acquire("deploy", {}, by("bob")), test_start + 15s));
}

TEST_P(LockDelayTest, Promise05_DuringTheDelayAHeartbeatIsLost) {
  const auto ann = take(locks(), "deploy", delayed(AcquireOptions{.ttl = 10s}, 5s), by("ann"));
  advance(10s);
  EXPECT_TRUE(lost(locks().heartbeat("deploy", ann.token), LostReason::expired));
}

TEST_P(LockDelayTest, TheDelayAppliesToEveryCaller) {
  take(locks(), "deploy", asked_as(delayed(AcquireOptions{.ttl = 10s}, 5s), "r1"), by("ann"));
  advance(10s);
  EXPECT_TRUE(is_delayed(locks().acquire("deploy", {}, by("ann")), test_start + 15s)) << "not even its last holder";
  EXPECT_TRUE(lost(locks().acquire("deploy", asked_as(AcquireOptions{}, "r1"), by("ann")), LostReason::expired));
  EXPECT_TRUE(is_delayed(locks().acquire("deploy", sharing(), by("bob")), test_start + 15s)) << "nor a share";
  EXPECT_TRUE(is_delayed(locks().acquire_all({"deploy", "other"}, {}, by("bob")), test_start + 15s));
}

TEST_P(LockDelayTest, TheDelayIsThatOfTheLatestGrant) {
  ASSERT_TRUE(ok(locks().release("deploy", take(locks(), "deploy", delayed(AcquireOptions{}, 5min), by("ann")).token)));
  take(locks(), "deploy", {.ttl = 10s}, by("bob"));
  advance(10s);
  EXPECT_TRUE(ok(locks().acquire("deploy", {}, by("cat"))));
}

TEST_P(LockDelayTest, RecoverEndsTheLeaseAndTheDelayStillCounts) {
  take(locks(), "deploy", delayed(AcquireOptions{.ttl = 10s}, 5s), by("ann"));
  advance(12s);
  EXPECT_EQ(must(store().recover()).locks, 1);
  EXPECT_TRUE(is_delayed(locks().acquire("deploy", {}, by("bob")), test_start + 15s));
  advance(3s);
  EXPECT_TRUE(ok(locks().acquire("deploy", {}, by("bob"))));
}

TEST_P(LockDelayTest, TheDelayOfADeadProcessCountsFromTheRecovery) {
  take(locks(), "deploy", delayed(AcquireOptions{.ttl = 1h}, 5s), {.holder = dead_holder("ann")});
  advance(10s);
  news();
  must(store().recover());
  EXPECT_EQ(news(), "deploy expired ann (process gone)");
  EXPECT_TRUE(is_delayed(locks().acquire("deploy", {}, by("bob")), test_start + 15s));
}

TEST_P(LockDelayTest, APermitStaysTakenDuringItsDelay) {
  const auto ann = take(locks(), "gpu", delayed(permits(3, 5, 10s), 5s), by("ann"));
  take(locks(), "gpu", permits(1, 5, 1h), by("bob"));
  advance(10s);
  EXPECT_TRUE(ok(locks().acquire("gpu", permits(1, 5, 1h), by("cat")))) << "there is room beside it";
  EXPECT_TRUE(is_delayed(locks().acquire("gpu", permits(1, 5), by("dan")), test_start + 15s));
  EXPECT_TRUE(fails(locks().acquire("gpu", permits(4, 5), by("dan")), Errc::held));
  EXPECT_TRUE(lost(locks().heartbeat("gpu", ann.token), LostReason::expired));
  advance(5s);
  EXPECT_TRUE(ok(locks().acquire("gpu", permits(3, 5), by("dan"))));
  EXPECT_EQ(holders_of("gpu"), "bob cat dan");
}

TEST_P(LockDelayTest, PermitsThatWereGivenBackAreFreeAtOnce) {
  const auto ann = take(locks(), "gpu", delayed(permits(3, 5), 5min), by("ann"));
  ASSERT_TRUE(ok(locks().release("gpu", ann.token)));
  EXPECT_TRUE(ok(locks().acquire("gpu", permits(5, 5), by("bob"))));
}

TEST_P(LockDelayTest, ARevokedPermitStaysTakenToo) {
  const auto ann = take(locks(), "gpu", delayed(permits(3, 5, 1h), 5s), by("ann"));
  ASSERT_TRUE(ok(locks().revoke("gpu", "enough", ann.token)));
  EXPECT_TRUE(is_delayed(locks().acquire("gpu", permits(3, 5), by("bob")), test_start + 5s));
  EXPECT_TRUE(fails(locks().acquire("gpu", permits(1, 6), by("bob")), Errc::mismatch))
      << "it counts against its capacity";
  EXPECT_TRUE(is_delayed(locks().acquire("gpu", {}, by("bob")), test_start + 5s));
  advance(5s);
  EXPECT_TRUE(ok(locks().acquire("gpu", {}, by("bob"))));
}

TEST_P(LockDelayTest, ShowHasTheDelayAndItsEnd) {
  take(locks(), "deploy", delayed(AcquireOptions{.ttl = 10s}, 5s), by("ann"));
  EXPECT_EQ(must(locks().show("deploy")).free_at, test_start + 15s);
  EXPECT_FALSE(must(locks().show("deploy")).delayed);
  advance(10s);
  EXPECT_TRUE(must(locks().show("deploy")).delayed);
  EXPECT_EQ(must(locks().show("deploy")).holders, 1);
  must(store().recover());
  const auto shown = must(locks().show("deploy"));
  EXPECT_EQ(shown.state, LeaseState::free);
  EXPECT_TRUE(shown.delayed);
  EXPECT_EQ(shown.free_at, test_start + 15s);
  EXPECT_EQ(must(locks().holders("deploy")).at(0).free_at, test_start + 15s);
  advance(5s);
  EXPECT_FALSE(must(locks().show("deploy")).delayed);
  EXPECT_EQ(must(locks().show("deploy")).holders, 0);
  EXPECT_FALSE(must(locks().show("deploy")).free_at.has_value());
  EXPECT_EQ(holders_of("deploy"), "");
}

TEST_P(LockDelayTest, ShowHasTheShareInItsDelayAndNotAnExpiredOne) {
  const auto ann = take(locks(), "report", sharing(10s), by("ann"));
  const auto bob = take(locks(), "report", delayed(sharing(1h), 1h), by("bob"));
  ASSERT_TRUE(ok(locks().revoke("report", "enough", bob.token)));
  advance(10s);
  const auto shown = must(locks().show("report"));
  EXPECT_TRUE(shown.delayed);
  EXPECT_EQ(shown.token, bob.token);
  EXPECT_EQ(shown.free_at, test_start + 1h);
  EXPECT_TRUE(must(locks().list()).at(0).delayed);
  EXPECT_EQ(must(locks().list({.only_held = true})).size(), 1U) << "ann's lease has not been ended";
  EXPECT_EQ(must(locks().revoke("report", "that one too")).token, ann.token);
  EXPECT_TRUE(must(locks().list({.only_held = true})).empty());
  EXPECT_TRUE(is_delayed(locks().acquire("report", {}, by("cat")), test_start + 1h));
}

TEST_P(LockDelayTest, AWaiterGetsItWhenTheDelayIsOver) {
  take(locks(), "deploy", delayed(AcquireOptions{.ttl = 10s}, 5s), by("ann"));
  std::optional<Result<Grant>> answer;
  std::jthread waiter([&] { answer = locks().acquire("deploy", waiting(AcquireOptions{}), by("bob")); });
  ASSERT_TRUE(in_line(1));
  advance(10s);
  EXPECT_TRUE(eventually([&] { return must(locks().show("deploy")).delayed; }));
  EXPECT_EQ(must(locks().show("deploy")).holder.name, "ann");
  // Its place has run out with that step of the clock; it stands in line again with its next heartbeat.
  advance(5s);
  waiter.join();
  ASSERT_TRUE(ok(*answer));
  EXPECT_GE((*answer)->acquired_at, test_start + 15s);
}

TEST_P(LockDelayTest, MeaninglessArgumentsAreRefused) {
  EXPECT_TRUE(fails(locks().acquire("deploy", delayed(AcquireOptions{}, -1us), by("ann")), Errc::invalid_argument));
  EXPECT_TRUE(fails(locks().acquire("deploy", delayed(AcquireOptions{}, std::chrono::days(31)), by("ann")),
                    Errc::invalid_argument));
  EXPECT_TRUE(ok(locks().acquire("deploy", delayed(AcquireOptions{}, std::chrono::days(30)), by("ann"))));
}

}  // namespace
}  // namespace leasehold::support
