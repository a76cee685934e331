// Promise 13: repeating an act is harmless.
#include <gtest/gtest.h>

#include "support/lock_helpers.h"
#include "support/store_fixture.h"

namespace leasehold::support {
namespace {

class ReplayTest : public StoreTest {
 protected:
  static AcquireOptions request(const std::string& id) { return {.ttl = 30s, .request_id = id}; }
};
LEASEHOLD_ON_BOTH_STORES(ReplayTest);

TEST_P(ReplayTest, Promise13_TheSameRequestIdGivesTheSameGrantWithWhatRemains) {
  const auto first = take(locks(), "deploy", request("r1"), by("alice"));
  advance(10s);
  const auto before = dump();
  const auto again = locks().acquire("deploy", request("r1"), by("alice"));
  ASSERT_TRUE(ok(again));
  EXPECT_EQ(again->token, first.token);
  EXPECT_EQ(again->expires_at, first.expires_at);
  EXPECT_TRUE(again->replayed);
  EXPECT_EQ(dump(), before) << "a replay must not write";
}

TEST_P(ReplayTest, Promise13_AReplayTrustsOnlyWhatRemains) {
  take(locks(), "deploy", request("r1"), by("alice"));
  advance(29s);
  const auto again = locks().acquire("deploy", request("r1"), by("alice"));
  ASSERT_TRUE(ok(again));
  EXPECT_LE(again->trusted_until, BootClock::now() + 1s);
}

TEST_P(ReplayTest, Promise13_AReplayAfterAHeartbeatSeesTheExtendedLease) {
  const auto first = take(locks(), "deploy", request("r1"), by("alice"));
  advance(20s);
  ASSERT_TRUE(ok(locks().heartbeat("deploy", first.token)));
  advance(20s);
  const auto again = locks().acquire("deploy", request("r1"), by("alice"));
  ASSERT_TRUE(ok(again));
  EXPECT_EQ(again->expires_at, now() + 10s);
}

TEST_P(ReplayTest, Promise13_AReplayAfterReleaseIsFinished) {
  const auto first = take(locks(), "deploy", request("r1"), by("alice"));
  ASSERT_TRUE(ok(locks().release("deploy", first.token)));
  EXPECT_TRUE(lost(locks().acquire("deploy", request("r1"), by("alice")), LostReason::finished));
}

TEST_P(ReplayTest, Promise13_AReplayAfterExpiryIsExpiredAndTakesNothing) {
  take(locks(), "deploy", request("r1"), by("alice"));
  advance(31s);
  const auto before = dump();
  EXPECT_TRUE(lost(locks().acquire("deploy", request("r1"), by("alice")), LostReason::expired));
  EXPECT_EQ(dump(), before);
}

TEST_P(ReplayTest, Promise13_AReplayAfterRevokeIsRevoked) {
  take(locks(), "deploy", request("r1"), by("alice"));
  ASSERT_TRUE(ok(locks().revoke("deploy", "stuck")));
  EXPECT_TRUE(lost(locks().acquire("deploy", request("r1"), by("alice")), LostReason::revoked));
}

TEST_P(ReplayTest, Promise13_AReplayAfterATakeoverIsSuperseded) {
  take(locks(), "deploy", request("r1"), by("alice"));
  advance(31s);
  const auto bob = take(locks(), "deploy", request("r2"), by("bob"));
  const auto before = dump();
  EXPECT_TRUE(lost(locks().acquire("deploy", request("r1"), by("alice")), LostReason::superseded));
  EXPECT_EQ(dump(), before);
  ASSERT_TRUE(ok(locks().release("deploy", bob.token)));
  EXPECT_TRUE(lost(locks().acquire("deploy", request("r1"), by("alice")), LostReason::superseded))
      << "also when it is free again";
}

TEST_P(ReplayTest, Promise13_ARequestIdOfAnotherLockTakesNothing) {
  take(locks(), "deploy", request("r1"), by("alice"));
  EXPECT_TRUE(fails(locks().acquire("other", request("r1"), by("alice")), Errc::lost));
  EXPECT_TRUE(ok(locks().acquire("other", request("r2"), by("alice"))));
}

TEST_P(ReplayTest, Promise13_ReleasingTwiceIsFineAndOneEvent) {
  const auto grant = take(locks(), "deploy", request("r1"), by("alice"));
  ASSERT_TRUE(ok(locks().release("deploy", grant.token)));
  advance(5s);
  const auto before = dump();
  EXPECT_TRUE(ok(locks().release("deploy", grant.token)));
  EXPECT_EQ(dump(), before);
}

TEST_P(ReplayTest, Promise13_RevokingIsNotRepeatedOntoTheNextHolder) {
  take(locks(), "deploy", request("r1"), by("alice"));
  ASSERT_TRUE(ok(locks().revoke("deploy", "stuck")));
  EXPECT_FALSE(locks().revoke("deploy", "stuck").ok());
  EXPECT_EQ(store().events().value().size(), 2U) << "acquired and revoked";
}

TEST_P(ReplayTest, Promise13_RequestIdsAreKeptAsLongAsTheirLease) {
  const auto first = take(locks(), "deploy", request("r1"), by("alice"));
  ASSERT_TRUE(ok(locks().release("deploy", first.token)));
  advance(1s);
  ASSERT_TRUE(ok(locks().release("deploy", take(locks(), "deploy", request("r2"), by("alice")).token)));
  advance(1h);
  ASSERT_TRUE(ok(store().prune(2h)));
  EXPECT_TRUE(lost(locks().acquire("deploy", request("r1"), by("alice")), LostReason::superseded));
  ASSERT_TRUE(ok(store().prune(30min)));
  EXPECT_TRUE(ok(locks().acquire("deploy", request("r1"), by("alice")))) << "forgotten with its lease, as documented";
}

TEST_P(ReplayTest, RequestsWithoutAnIdAreAllDifferent) {
  ASSERT_TRUE(ok(locks().acquire("deploy", {}, by("alice"))));
  EXPECT_TRUE(fails(locks().acquire("deploy", {}, by("alice")), Errc::reentry)) << "not the first answer again";
}

}  // namespace
}  // namespace leasehold::support
