// Promises 4 and 5: a stale token changes nothing, and the refusal says why.
#include <gtest/gtest.h>

#include "support/lock_helpers.h"
#include "support/store_fixture.h"

namespace leasehold::support {
namespace {

class LostTest : public StoreTest {
 protected:
  /// Heartbeat and release with this token are lost for this reason, and not one cell changes.
  void expect_powerless(Token token, LostReason why) {
    const auto before = dump();
    EXPECT_TRUE(lost(locks().heartbeat("deploy", token), why));
    EXPECT_TRUE(lost(locks().heartbeat("deploy", token, 1h), why));
    EXPECT_EQ(dump(), before) << "a heartbeat with a stale token changed the store";
    EXPECT_TRUE(lost(locks().release("deploy", token), why));
    EXPECT_EQ(dump(), before) << "a release with a stale token changed the store";
  }
};
LEASEHOLD_ON_BOTH_STORES(LostTest);

TEST_P(LostTest, Promise04_AfterATakeoverTheOldTokenIsSuperseded) {
  const auto old = take(locks(), "deploy", {.ttl = 30s}, by("alice"));
  advance(31s);
  take(locks(), "deploy", {}, by("bob"));
  expect_powerless(old.token, LostReason::superseded);
}

TEST_P(LostTest, Promise04_AfterReleaseAndANewGrantTheOldTokenIsSuperseded) {
  const auto old = take(locks(), "deploy", {}, by("alice"));
  ASSERT_TRUE(ok(locks().release("deploy", old.token)));
  take(locks(), "deploy", {}, by("bob"));
  expect_powerless(old.token, LostReason::superseded);
}

TEST_P(LostTest, Promise04_AfterTheNewGrantEndedTheOldTokenIsStillSuperseded) {
  const auto old = take(locks(), "deploy", {.ttl = 30s}, by("alice"));
  advance(31s);
  ASSERT_TRUE(ok(locks().release("deploy", take(locks(), "deploy", {}, by("bob")).token)));
  expect_powerless(old.token, LostReason::superseded);
}

TEST_P(LostTest, Promise04_AfterRevokeTheTokenIsRevoked) {
  const auto grant = take(locks(), "deploy", {}, by("alice"));
  ASSERT_TRUE(ok(locks().revoke("deploy", "stuck")));
  expect_powerless(grant.token, LostReason::revoked);
}

TEST_P(LostTest, Promise04_HeartbeatAfterReleaseIsFinished) {
  const auto grant = take(locks(), "deploy", {}, by("alice"));
  ASSERT_TRUE(ok(locks().release("deploy", grant.token)));
  const auto before = dump();
  EXPECT_TRUE(lost(locks().heartbeat("deploy", grant.token), LostReason::finished));
  EXPECT_EQ(dump(), before);
}

TEST_P(LostTest, Promise04_ATokenThatWasNeverGrantedIsSuperseded) {
  const auto grant = take(locks(), "deploy", {}, by("alice"));
  expect_powerless(Token{grant.token.value + 1}, LostReason::superseded);
  expect_powerless(Token{grant.token.value - 1}, LostReason::superseded);
  expect_powerless(Token{0}, LostReason::superseded);
  expect_powerless(Token{-1}, LostReason::superseded);
  expect_powerless(Token{INT64_MAX}, LostReason::superseded);
  expect_powerless(Token{INT64_MIN}, LostReason::superseded);
}

TEST_P(LostTest, Promise04_TheTokenOfAnotherLockIsNoProof) {
  const auto deploy = take(locks(), "deploy", {}, by("alice"));
  advance(1us);
  const auto other = take(locks(), "other", {}, by("alice"));
  ASSERT_NE(deploy.token, other.token);
  expect_powerless(other.token, LostReason::superseded);
}

TEST_P(LostTest, Promise04_LostNamesTheCurrentHolder) {
  const auto old = take(locks(), "deploy", {.ttl = 30s}, by("alice"));
  advance(31s);
  const auto current = take(locks(), "deploy", {}, by("bob"));
  const auto answer = locks().heartbeat("deploy", old.token);
  ASSERT_TRUE(fails(answer, Errc::lost));
  ASSERT_TRUE(answer.error().held_by.has_value());
  EXPECT_EQ(answer.error().held_by->holder.name, "bob");
  EXPECT_EQ(answer.error().held_by->acquired_at, current.acquired_at);
  EXPECT_EQ(answer.error().held_by->token, Token{}) << "the token proves to be the holder";
}

TEST_P(LostTest, Promise05_HeartbeatAfterExpiryIsLost) {
  const auto grant = take(locks(), "deploy", {.ttl = 30s}, by("alice"));
  advance(30s);
  const auto before = dump();
  EXPECT_TRUE(lost(locks().heartbeat("deploy", grant.token), LostReason::expired));
  EXPECT_EQ(dump(), before);
  EXPECT_EQ(state_of(locks(), "deploy"), LeaseState::expired);
}

TEST_P(LostTest, Promise05_HeartbeatAMicrosecondBeforeExpiryIsInTime) {
  const auto grant = take(locks(), "deploy", {.ttl = 30s}, by("alice"));
  advance(30s - 1us);
  EXPECT_TRUE(ok(locks().heartbeat("deploy", grant.token)));
}

TEST_P(LostTest, Promise05_ReleaseAfterExpiryIsAcceptedUntilATakeover) {
  const auto grant = take(locks(), "deploy", {.ttl = 30s}, by("alice"));
  advance(1h);
  EXPECT_TRUE(ok(locks().release("deploy", grant.token)));
  const auto info = locks().show("deploy");
  ASSERT_TRUE(ok(info));
  EXPECT_EQ(info->state, LeaseState::free);
  EXPECT_EQ(info->end_reason, "released");
}

TEST_P(LostTest, Promise05_RevokeAfterExpiryIsFinalForTheHolder) {
  const auto grant = take(locks(), "deploy", {.ttl = 30s}, by("alice"));
  advance(1h);
  ASSERT_TRUE(ok(locks().revoke("deploy", "gone for an hour")));
  expect_powerless(grant.token, LostReason::revoked);
}

TEST_P(LostTest, AnUnknownLockIsNotFound) {
  const auto before = dump();
  EXPECT_TRUE(fails(locks().heartbeat("nothing", Token{1}), Errc::not_found));
  EXPECT_TRUE(fails(locks().release("nothing", Token{1}), Errc::not_found));
  EXPECT_TRUE(fails(locks().revoke("nothing", "why"), Errc::not_found));
  EXPECT_TRUE(fails(locks().show("nothing"), Errc::not_found));
  EXPECT_EQ(dump(), before);
}

}  // namespace
}  // namespace leasehold::support
