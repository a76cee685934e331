// Promise 14 for shares, for locks taken together and for what is in its lock delay: the fence guards the user's own
// transaction, whatever kind of grant the token is of.
#include <gtest/gtest.h>

#include "support/lock_family_fixture.h"
#include "support/user_connection.h"

namespace leasehold::support {
namespace {

class LockFenceShareTest : public LockFamilyTest {
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

  /// In a transaction of its own.
  Result<void> fence(const std::string& name, Token token) {
    EXPECT_TRUE(user_->begin());
    auto fenced = user_->fence(name, token);
    EXPECT_TRUE(user_->run("ROLLBACK"));
    return fenced;
  }
  void begin_fenced(const std::string& name, Token token) {
    ASSERT_TRUE(user_->begin());
    ASSERT_TRUE(ok(user_->fence(name, token)));
  }
  /// PostgreSQL says `busy`; a SQLite file has one writer at a time.
  static bool is_kept_out(const Result<Grant>& refused) {
    return !refused && (refused.error().code == Errc::busy || refused.error().code == Errc::unavailable);
  }

  std::optional<UserConnection> user_;
  /// Does not wait long for a writer.
  std::optional<Store> hurried_;
};
LEASEHOLD_ON_BOTH_STORES(LockFenceShareTest);

TEST_P(LockFenceShareTest, Promise14_EveryShareThatHasNotEndedPasses) {
  const auto ann = take(locks(), "report", sharing(), by("ann"));
  const auto bob = take(locks(), "report", sharing(), by("bob"));
  EXPECT_TRUE(ok(fence("report", ann.token))) << "bob's share, though later, does not supersede it";
  EXPECT_TRUE(ok(fence("report", bob.token)));
  ASSERT_TRUE(ok(locks().release("report", bob.token)));
  EXPECT_TRUE(ok(fence("report", ann.token)));
}

TEST_P(LockFenceShareTest, Promise14_AShareThatHasEndedIsLost) {
  const auto released = take(locks(), "report", sharing(), by("ann"));
  const auto revoked = take(locks(), "report", sharing(), by("bob"));
  const auto expired = take(locks(), "report", sharing(10s), by("cat"));
  ASSERT_TRUE(ok(locks().release("report", released.token)));
  ASSERT_TRUE(ok(locks().revoke("report", "enough", revoked.token)));
  advance(10s);
  EXPECT_TRUE(ok(fence("report", expired.token))) << "its place is not taken";
  take(locks(), "report", {}, by("dan"));
  EXPECT_TRUE(lost(fence("report", released.token), LostReason::finished));
  EXPECT_TRUE(lost(fence("report", revoked.token), LostReason::revoked));
  EXPECT_TRUE(lost(fence("report", expired.token), LostReason::expired));
}

TEST_P(LockFenceShareTest, Promise14_AHolderOfAllOfItIsSupersededByAShare) {
  const auto whole = take(locks(), "report", {.ttl = 10s}, by("ann"));
  advance(10s);
  take(locks(), "report", sharing(), by("bob"));
  EXPECT_TRUE(lost(fence("report", whole.token), LostReason::superseded));
}

TEST_P(LockFenceShareTest, Promise14_AnAcquireWaitsForAFencedShare) {
  const auto ann = take(locks(), "report", sharing(10s), by("ann"));
  begin_fenced("report", ann.token);
  advance(1h);
  EXPECT_TRUE(is_kept_out(hurried_->locks().acquire("report", {}, by("bob"))));
  ASSERT_TRUE(user_->run("COMMIT"));
  EXPECT_TRUE(ok(locks().acquire("report", {}, by("bob"))));
}

TEST_P(LockFenceShareTest, Promise14_AnAcquireWaitsForThePermitsOfAFencedShare) {
  const auto ann = take(locks(), "gpu", permits(3, 5, 10s), by("ann"));
  begin_fenced("gpu", ann.token);
  advance(1h);
  EXPECT_TRUE(is_kept_out(hurried_->locks().acquire("gpu", permits(3, 5), by("bob"))));
  EXPECT_TRUE(is_kept_out(hurried_->locks().acquire("gpu", permits(1, 1), by("bob")))) << "nor resizes it";
  if (GetParam() == StoreKind::postgres) {
    EXPECT_TRUE(ok(hurried_->locks().acquire("gpu", permits(2, 5), by("bob")))) << "there is room beside it";
  }
  ASSERT_TRUE(user_->run("COMMIT"));
  EXPECT_TRUE(ok(locks().acquire("gpu", permits(3, 5), by("cat"))));
}

TEST_P(LockFenceShareTest, Promise14_RevokeAndReleaseWaitForAFencedShare) {
  const auto ann = take(locks(), "report", sharing(), by("ann"));
  begin_fenced("report", ann.token);
  EXPECT_FALSE(hurried_->locks().revoke("report", "now").ok());
  EXPECT_FALSE(hurried_->locks().release("report", ann.token).ok());
  EXPECT_EQ(state_of(locks(), "report"), LeaseState::running);
  ASSERT_TRUE(user_->run("COMMIT"));
  EXPECT_TRUE(ok(locks().release("report", ann.token)));
}

TEST_P(LockFenceShareTest, Promise14_LocksTakenTogetherAreFencedByEachName) {
  const auto both = take_all({"a", "b"}, {.ttl = 10s}, by("ann"));
  EXPECT_TRUE(ok(fence("a", both.token)));
  EXPECT_TRUE(ok(fence("b", both.token)));
  begin_fenced("a", both.token);
  advance(1h);
  EXPECT_TRUE(is_kept_out(hurried_->locks().acquire("b", {}, by("bob")))) << "that would end the lease of both";
  EXPECT_TRUE(is_kept_out(hurried_->locks().acquire_all({"b", "c"}, {}, by("bob"))));
  ASSERT_TRUE(user_->run("COMMIT"));
  ASSERT_TRUE(ok(locks().acquire("b", {}, by("bob"))));
  EXPECT_TRUE(lost(fence("a", both.token), LostReason::expired));
  EXPECT_TRUE(lost(fence("b", both.token), LostReason::superseded));
}

TEST_P(LockFenceShareTest, Promise14_DuringItsDelayAGrantMayStillBeFenced) {
  const auto ann = take(locks(), "deploy", delayed(AcquireOptions{.ttl = 10s}, 5s), by("ann"));
  advance(12s);
  EXPECT_TRUE(ok(fence("deploy", ann.token)));
  must(store().recover());
  EXPECT_TRUE(lost(fence("deploy", ann.token), LostReason::expired)) << "not after its lease has been ended";
}

}  // namespace
}  // namespace leasehold::support
