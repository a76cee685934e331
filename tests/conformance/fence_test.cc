// Promise 14: the fence guards the user's own transaction. What each store can promise is the same, how it
// feels differs: PostgreSQL refuses a takeover, a SQLite file has one writer at a time.
#include <gtest/gtest.h>

#include "support/lock_helpers.h"
#include "support/store_fixture.h"
#include "support/user_connection.h"

namespace leasehold::support {
namespace {

class FenceTest : public StoreTest {
 protected:
  void SetUp() override {
    StoreTest::SetUp();
    user_.emplace(under_test());
    hurried_ = open({.call_timeout = 300ms});
  }
  void TearDown() override {
    user_.reset();
    hurried_.reset();
  }

  std::optional<UserConnection> user_;
  /// Does not wait long for a writer.
  std::optional<Store> hurried_;
};
LEASEHOLD_ON_BOTH_STORES(FenceTest);

TEST_P(FenceTest, Promise14_TheCurrentTokenPasses) {
  const auto grant = take(locks(), "deploy", {}, by("alice"));
  ASSERT_TRUE(user_->begin());
  EXPECT_TRUE(ok(user_->fence("deploy", grant.token)));
  EXPECT_TRUE(user_->run("COMMIT"));
}

TEST_P(FenceTest, Promise14_AStaleTokenIsLost) {
  const auto old = take(locks(), "deploy", {.ttl = 30s}, by("alice"));
  advance(31s);
  take(locks(), "deploy", {}, by("bob"));
  ASSERT_TRUE(user_->begin());
  EXPECT_TRUE(fails(user_->fence("deploy", old.token), Errc::lost));
  EXPECT_TRUE(user_->run("ROLLBACK"));
}

TEST_P(FenceTest, Promise14_AnEndedLeaseIsLost) {
  const auto released = take(locks(), "a", {}, by("alice"));
  ASSERT_TRUE(ok(locks().release("a", released.token)));
  const auto revoked = take(locks(), "b", {}, by("alice"));
  ASSERT_TRUE(ok(locks().revoke("b", "stuck")));
  for (const auto& grant : {released, revoked}) {
    ASSERT_TRUE(user_->begin());
    EXPECT_TRUE(fails(user_->fence(grant.key, grant.token), Errc::lost)) << grant.key;
    EXPECT_TRUE(user_->run("ROLLBACK"));
  }
}

TEST_P(FenceTest, Promise14_AnUnknownLockIsNeverFine) {
  ASSERT_TRUE(user_->begin());
  EXPECT_FALSE(user_->fence("nothing", Token{1}).ok());
  EXPECT_TRUE(user_->run("ROLLBACK"));
}

TEST_P(FenceTest, Promise14_ATakeoverWaitsForTheTransaction) {
  const auto grant = take(locks(), "deploy", {.ttl = 30s}, by("alice"));
  ASSERT_TRUE(user_->begin());
  ASSERT_TRUE(ok(user_->fence("deploy", grant.token)));
  advance(1h);
  const auto refused = hurried_->locks().acquire("deploy", {}, by("bob"));
  ASSERT_FALSE(refused.ok()) << "taken over under a fence";
  EXPECT_TRUE(refused.error().code == Errc::busy || refused.error().code == Errc::unavailable)
      << describe(refused.error());
  EXPECT_EQ(locks().show("deploy")->token, grant.token);
  ASSERT_TRUE(user_->run("COMMIT"));
  EXPECT_TRUE(ok(locks().acquire("deploy", {}, by("bob"))));
}

TEST_P(FenceTest, Promise14_RevokeAndReleaseWaitForTheTransaction) {
  const auto grant = take(locks(), "deploy", {.ttl = 30s}, by("alice"));
  ASSERT_TRUE(user_->begin());
  ASSERT_TRUE(ok(user_->fence("deploy", grant.token)));
  EXPECT_FALSE(hurried_->locks().revoke("deploy", "now").ok());
  EXPECT_FALSE(hurried_->locks().release("deploy", grant.token).ok());
  EXPECT_EQ(state_of(locks(), "deploy"), LeaseState::running);
  ASSERT_TRUE(user_->run("COMMIT"));
  EXPECT_TRUE(ok(locks().release("deploy", grant.token)));
}

TEST_P(FenceTest, Promise14_AnExpiredLeaseMayBeFencedUntilATakeover) {
  const auto grant = take(locks(), "deploy", {.ttl = 30s}, by("alice"));
  advance(1h);
  ASSERT_TRUE(user_->begin());
  EXPECT_TRUE(ok(user_->fence("deploy", grant.token)));
  EXPECT_TRUE(user_->run("COMMIT"));
}

TEST_P(FenceTest, Promise14_OutsideATransactionNothingCanBePromised) {
  const auto grant = take(locks(), "deploy", {}, by("alice"));
  EXPECT_TRUE(fails(user_->fence("deploy", grant.token), Errc::invalid_argument));
}

class SqliteFenceTest : public ::testing::Test {
 protected:
  TestStore store_{StoreKind::sqlite};
};

TEST_F(SqliteFenceTest, Promise14_AReadTransactionIsNotEnough) {
  const auto grant = take(store_.open().locks(), "deploy", {}, by("alice"));
  const SqliteFile user(store_.path());
  user.run("BEGIN; SELECT * FROM leasehold_lock");
  EXPECT_TRUE(fails(fence(user.handle(), "deploy", grant.token), Errc::invalid_argument));
}

TEST_F(SqliteFenceTest, Promise14_AnAttachedStoreIsFencedByItsSchemaName) {
  const auto grant = take(store_.open().locks(), "deploy", {}, by("alice"));
  const SqliteFile user(":memory:");
  user.run("ATTACH '" + store_.path() + "' AS elsewhere; BEGIN IMMEDIATE");
  EXPECT_TRUE(ok(fence(user.handle(), "deploy", grant.token, "elsewhere")));
  EXPECT_FALSE(fence(user.handle(), "deploy", Token{1}, "elsewhere").ok());
  EXPECT_FALSE(fence(user.handle(), "deploy", grant.token).ok()) << "there is no store in main";
}

TEST_F(SqliteFenceTest, TheDocumentedSqlSaysTheSame) {
  auto opened = store_.open();
  const auto grant = take(opened.locks(), "deploy", {}, by("alice"));
  const SqliteFile user(store_.path());
  const auto question =
      "SELECT count(*) FROM leasehold_lock k JOIN leasehold_lease l ON l.id = k.lease_id WHERE "
      "k.name = 'deploy' AND l.ended_at IS NULL AND k.token = " +
      std::to_string(grant.token.value);
  EXPECT_EQ(user.scalar(question), "1");
  ASSERT_TRUE(ok(opened.locks().release("deploy", grant.token)));
  EXPECT_EQ(user.scalar(question), "0");
}

}  // namespace
}  // namespace leasehold::support
