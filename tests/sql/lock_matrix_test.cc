// Waits: the lock matrix of docs/semantics.md, pair by pair. Alice does the first thing in a
// transaction that stays open, bob the second.
#include <gtest/gtest.h>

#include <map>

#include "sql/matrix_fixture.h"

namespace leasehold::support {
namespace {

std::map<std::string, std::string> lock_acts() {
  return {
      {"fence", "'passed' FROM leasehold_internal.fence('deploy', TOKEN)"},
      {"heartbeat", "outcome || coalesce(' ' || why, '') FROM leasehold_internal.lock_heartbeat('deploy', TOKEN)"},
      {"release", "outcome || coalesce(' ' || why, '') FROM leasehold_internal.lock_release('deploy', TOKEN)"},
      {"revoke", "outcome FROM leasehold_internal.lock_revoke('deploy', 'because')"},
      {"acquire", "outcome FROM leasehold_internal.lock_acquire('deploy', 'carol')"},
      {"wait", "outcome FROM leasehold_internal.lock_wait('deploy', 'carol', 'place-of-carol')"},
      {"show", "outcome FROM leasehold_internal.lock_show('deploy')"},
      {"list", "outcome FROM leasehold_internal.lock_list('', true, 10)"},
  };
}

class LockMatrixTest : public MatrixTest {
 protected:
  LockMatrixTest() : MatrixTest(lock_acts()) {}

  void SetUp() override { words_["TOKEN"] = acquired("deploy"); }
};

TEST_P(LockMatrixTest, EachPairWaitsOrPassesAsPromised) { expect_as_promised(); }

INSTANTIATE_TEST_SUITE_P(
    Pairs, LockMatrixTest,
    ::testing::Values(Pair{"FenceThenFence", "fence", "fence", Bob::passes, "passed"},
                      Pair{"FenceThenHeartbeat", "fence", "heartbeat", Bob::passes, "extended"},
                      Pair{"FenceThenRelease", "fence", "release", Bob::waits, "released"},
                      Pair{"FenceThenRevoke", "fence", "revoke", Bob::waits, "revoked"},
                      Pair{"FenceThenAcquire", "fence", "acquire", Bob::passes, "held"},
                      Pair{"FenceThenTakeover", "fence", "acquire", Bob::passes, "busy", Expiry::after_alice},
                      Pair{"FenceThenWait", "fence", "wait", Bob::passes, "free"},
                      Pair{"FenceThenShow", "fence", "show", Bob::passes, "running"},
                      Pair{"HeartbeatThenFence", "heartbeat", "fence", Bob::passes, "passed"},
                      Pair{"HeartbeatThenHeartbeat", "heartbeat", "heartbeat", Bob::waits, "extended"},
                      Pair{"HeartbeatThenRelease", "heartbeat", "release", Bob::waits, "released"},
                      Pair{"HeartbeatThenRevoke", "heartbeat", "revoke", Bob::waits, "revoked"},
                      Pair{"HeartbeatThenAcquire", "heartbeat", "acquire", Bob::passes, "held"},
                      Pair{"HeartbeatThenTakeover", "heartbeat", "acquire", Bob::passes, "busy", Expiry::after_alice},
                      Pair{"HeartbeatThenList", "heartbeat", "list", Bob::passes, "running"}),
    pair_name);

INSTANTIATE_TEST_SUITE_P(
    Endings, LockMatrixTest,
    ::testing::Values(
        Pair{"ReleaseThenFence", "release", "fence", Bob::waits, "LH001"},
        Pair{"ReleaseThenHeartbeat", "release", "heartbeat", Bob::waits, "lost finished"},
        Pair{"ReleaseThenRelease", "release", "release", Bob::waits, "released"},
        Pair{"ReleaseThenAcquire", "release", "acquire", Bob::waits, "granted"},
        Pair{"ReleaseThenWait", "release", "wait", Bob::waits, "free"},
        Pair{"ReleaseThenShow", "release", "show", Bob::passes, "running"},
        Pair{"RevokeThenFence", "revoke", "fence", Bob::waits, "LH001"},
        Pair{"RevokeThenHeartbeat", "revoke", "heartbeat", Bob::waits, "lost revoked"},
        Pair{"RevokeThenRelease", "revoke", "release", Bob::waits, "lost revoked"},
        Pair{"RevokeThenAcquire", "revoke", "acquire", Bob::passes, "held"},
        Pair{"TakeoverThenFence", "acquire", "fence", Bob::waits, "LH001", Expiry::before_alice},
        Pair{"TakeoverThenHeartbeat", "acquire", "heartbeat", Bob::waits, "lost superseded", Expiry::before_alice},
        Pair{"TakeoverThenRelease", "acquire", "release", Bob::waits, "lost superseded", Expiry::before_alice},
        Pair{"TakeoverThenTakeover", "acquire", "acquire", Bob::waits, "held", Expiry::before_alice},
        Pair{"TakeoverThenShow", "acquire", "show", Bob::passes, "expired", Expiry::before_alice}),
    pair_name);

class LockWaitingTest : public SqlTest {};

TEST_F(LockWaitingTest, Promise05_AHeartbeatThatWaitedBehindARollbackDoesNotRevive) {
  const auto token = acquired("deploy", "30 seconds");
  alice_.run("BEGIN");
  alice_.run(here("SELECT leasehold_internal.lock_release('deploy', " + token + ")"));
  bob_.send(here("SELECT outcome || ' ' || why FROM leasehold_internal.lock_heartbeat('deploy', " + token + ")"));
  ASSERT_TRUE(bob_.waits(observer_));
  store_.advance(31s);
  alice_.run("ROLLBACK");
  EXPECT_EQ(bob_.answer(), "lost expired") << "PostgreSQL does not look at a WHERE again after a rollback";
}

TEST_F(LockWaitingTest, Promise02_TheClockIsReadAgainAfterWaiting) {
  const auto token = acquired("deploy", "30 seconds");
  alice_.run("BEGIN");
  alice_.run(here("SELECT leasehold_internal.lock_heartbeat('deploy', " + token + ", interval '10 seconds')"));
  bob_.send(here("SELECT outcome || ' ' || why FROM leasehold_internal.lock_heartbeat('deploy', " + token + ")"));
  ASSERT_TRUE(bob_.waits(observer_));
  store_.advance(11s);
  alice_.run("COMMIT");
  EXPECT_EQ(bob_.answer(), "lost expired");
}

TEST_F(LockWaitingTest, AReleaseWakesWhoGotInLineWhileItWaited) {
  const auto token = acquired("deploy");
  observer_.run("LISTEN " + store_.schema());
  alice_.run("BEGIN");
  EXPECT_EQ(
      alice_.scalar(here("SELECT outcome FROM leasehold_internal.lock_wait('deploy', 'carol', 'place-of-carol')")),
      "free");
  bob_.send(here("SELECT outcome FROM leasehold_internal.lock_release('deploy', " + token + ")"));
  EXPECT_TRUE(bob_.waits(observer_)) << "or it would not know of the place";
  alice_.run("COMMIT");
  EXPECT_EQ(bob_.answer(), "released");
  EXPECT_TRUE(observer_.notified()) << "a waiter would look again only after half a second";
}

TEST_F(LockWaitingTest, Promise14_AFenceThatRolledBackGuardsNothing) {
  const auto token = acquired("deploy", "30 seconds");
  alice_.run("BEGIN");
  alice_.run(here("SELECT leasehold_internal.fence('deploy', " + token + ")"));
  alice_.run("ROLLBACK");
  store_.advance(31s);
  EXPECT_EQ(bob_.scalar(here("SELECT outcome FROM leasehold_internal.lock_acquire('deploy', 'bob')")), "granted");
}

TEST_F(LockWaitingTest, TwoFirstGrantsOfANewLockMakeOneHolder) {
  alice_.run("BEGIN");
  EXPECT_EQ(alice_.scalar(here("SELECT outcome FROM leasehold_internal.lock_acquire('new', 'alice')")), "granted");
  bob_.send(here("SELECT outcome FROM leasehold_internal.lock_acquire('new', 'bob')"));
  ASSERT_TRUE(bob_.waits(observer_));
  alice_.run("COMMIT");
  EXPECT_EQ(bob_.answer(), "held");
}

TEST_F(LockWaitingTest, AGrantThatRolledBackWasNone) {
  alice_.run("BEGIN");
  const auto token = alice_.scalar(here("SELECT token FROM leasehold_internal.lock_acquire('new', 'alice')"));
  bob_.send(here("SELECT outcome FROM leasehold_internal.lock_acquire('new', 'bob')"));
  ASSERT_TRUE(bob_.waits(observer_));
  alice_.run("ROLLBACK");
  EXPECT_EQ(bob_.answer(), "granted");
}

}  // namespace
}  // namespace leasehold::support
