// Promise 10: "cannot tell" is its own answer. The network breaks on demand here.
#include <gtest/gtest.h>

#include <thread>

#include "support/broken_store.h"
#include "support/lock_helpers.h"
#include "support/process.h"
#include "support/store_fixture.h"

namespace leasehold::support {
namespace {

class DoubtTest : public WithBrokenStore<StoreTest> {
 protected:
  Locks broken_locks() { return broken_->locks(); }
  std::string leases() { return under_test().scalar("SELECT count(*) FROM " + under_test().table("lease")); }
};
LEASEHOLD_ON_BOTH_STORES(DoubtTest);

TEST_P(DoubtTest, Promise10_AnAcquireWhoseReplyWasLostIsAskedAgainAndGrantedOnce) {
  faults_->fail_next(Fault::lose_reply, 1, "lock_acquire");
  const auto grant = broken_locks().acquire("deploy", {}, by("alice"));
  ASSERT_TRUE(ok(grant));
  EXPECT_EQ(faults_->failures(), 1);
  EXPECT_EQ(leases(), "1") << "one grant, not two";
  EXPECT_EQ(grant->token, locks().show("deploy")->token);
  EXPECT_TRUE(ok(locks().heartbeat("deploy", grant->token)));
}

TEST_P(DoubtTest, Promise10_ARevokeWhoseReplyWasLostIsNotRepeatedOntoTheNextHolder) {
  take(locks(), "deploy", {}, by("alice"));
  faults_->fail_next(Fault::lose_reply, 1, "lock_revoke");
  EXPECT_TRUE(fails(broken_locks().revoke("deploy", "maintenance"), Errc::in_doubt));
  EXPECT_EQ(faults_->failures(), 1);
  const auto next = take(locks(), "deploy", {}, by("bob"));
  EXPECT_TRUE(ok(locks().heartbeat("deploy", next.token)));
}

TEST_P(DoubtTest, Promise10_AnAcquireThatNeverGetsThroughIsUnavailableAndChangesNothing) {
  const auto before = dump();
  faults_->fail_always(Fault::fail_before_send);
  EXPECT_TRUE(fails(broken_locks().acquire("deploy", {}, by("alice")), Errc::unavailable));
  EXPECT_EQ(dump(), before);
}

TEST_P(DoubtTest, Promise10_AnAcquireWhoseRepliesAreAllLostIsInDoubtAndNeverFree) {
  faults_->fail_always(Fault::lose_reply);
  EXPECT_TRUE(fails(broken_locks().acquire("deploy", {}, by("alice")), Errc::in_doubt));
  EXPECT_EQ(leases(), "1");
}

TEST_P(DoubtTest, Promise10_InDoubtCanBeClearedUpWithTheRequestId) {
  AcquireOptions options{};
  options.request_id = "r1";
  faults_->fail_always(Fault::lose_reply);
  ASSERT_TRUE(fails(broken_locks().acquire("deploy", options, by("alice")), Errc::in_doubt));
  faults_->heal();
  const auto grant = broken_locks().acquire("deploy", options, by("alice"));
  ASSERT_TRUE(ok(grant));
  EXPECT_TRUE(grant->replayed);
  EXPECT_EQ(leases(), "1");
}

TEST_P(DoubtTest, Promise10_EveryQuestionToAnUnreachableStoreIsUnavailable) {
  const auto grant = take(locks(), "deploy", {}, by("alice"));
  const auto before = dump();
  faults_->fail_always(Fault::fail_before_send);
  EXPECT_TRUE(fails(broken_locks().heartbeat("deploy", grant.token), Errc::unavailable));
  EXPECT_TRUE(fails(broken_locks().release("deploy", grant.token), Errc::unavailable));
  EXPECT_TRUE(fails(broken_locks().revoke("deploy", "why"), Errc::unavailable));
  EXPECT_TRUE(fails(broken_locks().show("deploy"), Errc::unavailable)) << "never read as free";
  EXPECT_TRUE(fails(broken_locks().list(), Errc::unavailable)) << "never read as empty";
  EXPECT_TRUE(fails(broken_->events(), Errc::unavailable));
  EXPECT_TRUE(fails(broken_->status(), Errc::unavailable));
  EXPECT_TRUE(fails(broken_->prune(1s), Errc::unavailable));
  EXPECT_EQ(dump(), before);
}

TEST_P(DoubtTest, Promise10_AReleaseWhoseReplyWasLostIsDoneOnce) {
  const auto grant = take(locks(), "deploy", {}, by("alice"));
  faults_->fail_next(Fault::lose_reply, 1, "lock_release");
  const auto released = broken_locks().release("deploy", grant.token);
  EXPECT_TRUE(released.ok() || released.error().code == Errc::in_doubt);
  EXPECT_TRUE(ok(broken_locks().release("deploy", grant.token))) << "so it can be repeated";
  EXPECT_EQ(store().events().value().size(), 2U) << "acquired and released, once each";
}

TEST_P(DoubtTest, Promise10_AWaiterWhoseRepliesAreLostStandsInLineOnce) {
  const auto grant = take(locks(), "deploy", {.ttl = 1h}, by("alice"));
  faults_->fail_next(Fault::lose_reply, 1, "lock_wait");
  AcquireOptions options{};
  options.wait = 20s;
  std::optional<Result<Grant>> answer;
  std::jthread waiter([&] { answer = broken_locks().acquire("deploy", options, by("bob")); });
  ASSERT_TRUE(eventually([&] { return status_of(store()).waiters == 1 && faults_->failures() == 1; }));
  EXPECT_EQ(status_of(store()).waiters, 1);
  ASSERT_TRUE(ok(locks().release("deploy", grant.token)));
  waiter.join();
  EXPECT_TRUE(ok(*answer));
}

}  // namespace
}  // namespace leasehold::support
