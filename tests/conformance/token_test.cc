// Promise 3: every grant's token is greater than every earlier one of the key.
#include <gtest/gtest.h>

#include "support/lock_helpers.h"
#include "support/store_fixture.h"

namespace leasehold::support {
namespace {

class TokenTest : public StoreTest {};
LEASEHOLD_ON_BOTH_STORES(TokenTest);

TEST_P(TokenTest, Promise03_GrowsAcrossRelease) {
  Token last;
  for (int i = 0; i < 20; ++i) {
    const auto grant = take(locks(), "deploy", {}, by("alice"));
    EXPECT_GT(grant.token, last);
    last = grant.token;
    ASSERT_TRUE(ok(locks().release("deploy", grant.token)));
  }
}

TEST_P(TokenTest, Promise03_GrowsAcrossExpiryAndTakeover) {
  const auto first = take(locks(), "deploy", {.ttl = 30s}, by("alice"));
  advance(31s);
  const auto second = take(locks(), "deploy", {.ttl = 30s}, by("bob"));
  EXPECT_GT(second.token, first.token);
}

TEST_P(TokenTest, Promise03_GrowsAcrossRevoke) {
  const auto first = take(locks(), "deploy", {}, by("alice"));
  ASSERT_TRUE(ok(locks().revoke("deploy", "stuck")));
  EXPECT_GT(take(locks(), "deploy", {}, by("bob")).token, first.token);
}

TEST_P(TokenTest, Promise03_GrowsAcrossReopeningTheStore) {
  const auto first = take(locks(), "deploy", {.ttl = 30s}, by("alice"));
  advance(31s);
  auto again = open();
  EXPECT_GT(take(again.locks(), "deploy", {}, by("bob")).token, first.token);
}

TEST_P(TokenTest, Promise03_IsTheStoresClockInMicroseconds) {
  const auto grant = take(locks(), "deploy", {}, by("alice"));
  EXPECT_EQ(grant.token.value, now().time_since_epoch().count());
  EXPECT_LT(grant.token.value, std::int64_t{1} << 53) << "must fit into a JSON number";
}

TEST_P(TokenTest, Promise03_TwoGrantsInOneMicrosecondDiffer) {
  const auto first = take(locks(), "deploy", {}, by("alice"));
  ASSERT_TRUE(ok(locks().release("deploy", first.token)));
  EXPECT_EQ(take(locks(), "deploy", {}, by("bob")).token.value, first.token.value + 1);
}

TEST_P(TokenTest, Promise03_AClockThatFallsBackGivesTheNextNumber) {
  advance(1h);
  const auto first = take(locks(), "deploy", {}, by("alice"));
  ASSERT_TRUE(ok(locks().release("deploy", first.token)));
  advance(-30min);
  EXPECT_EQ(take(locks(), "deploy", {}, by("bob")).token.value, first.token.value + 1);
}

TEST_P(TokenTest, Promise03_ARestoreThatForgotGrantsDoesNotRepeatThem) {
  const auto first = take(locks(), "deploy", {.ttl = 30s}, by("alice"));
  const auto old_token = std::to_string(first.token.value);
  advance(1min);
  const auto forgotten = take(locks(), "deploy", {.ttl = 30s}, by("bob"));
  // The state after a restore from before bob's grant.
  under_test().run("UPDATE " + under_test().table("lock") + " SET token = " + old_token);
  advance(1min);
  EXPECT_GT(take(locks(), "deploy", {}, by("carol")).token, forgotten.token);
}

TEST_P(TokenTest, Promise03_HeartbeatKeepsTheToken) {
  const auto grant = take(locks(), "deploy", {}, by("alice"));
  advance(1s);
  const auto extended = locks().heartbeat("deploy", grant.token);
  ASSERT_TRUE(ok(extended));
  EXPECT_EQ(extended->token, grant.token);
}

TEST_P(TokenTest, Promise03_PruneForgetsNoTokenThatAClockSetBackByItsAgeCouldMeet) {
  const auto first = take(locks(), "deploy", {}, by("alice"));
  ASSERT_TRUE(ok(locks().release("deploy", first.token)));
  advance(1h);
  ASSERT_TRUE(ok(store().prune(1h)));
  advance(-1h);
  EXPECT_EQ(take(locks(), "deploy", {}, by("bob")).token.value, first.token.value + 1) << "the row was still there";
  ASSERT_TRUE(ok(locks().release("deploy", {first.token.value + 1})));
  advance(1h + 2us);
  ASSERT_EQ(store().prune(1h)->locks, 1);
  advance(-1h);
  EXPECT_GT(take(locks(), "deploy", {}, by("cid")).token.value, first.token.value + 1);
}

}  // namespace
}  // namespace leasehold::support
