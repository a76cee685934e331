// Waits among shares and locks taken together, pair by pair; and no calls wait in a circle. Alice does
// the first thing in a transaction that stays open, bob the second.
#include <gtest/gtest.h>

#include <map>

#include "sql/matrix_fixture.h"

namespace leasehold::support {
namespace {

/// On a semaphore of three in which ann has one permit (TOKEN) and ben another, and on c and d, which cid has together
/// (BOTH).
std::map<std::string, std::string> lock_family_acts() {
  return {
      {"fence", "'passed' FROM leasehold_internal.fence('pool', TOKEN)"},
      {"heartbeat", "outcome || coalesce(' ' || why, '') FROM leasehold_internal.lock_heartbeat('pool', TOKEN)"},
      {"release", "outcome || coalesce(' ' || why, '') FROM leasehold_internal.lock_release('pool', TOKEN)"},
      {"revoke", "outcome FROM leasehold_internal.lock_revoke('pool', 'because', TOKEN)"},
      {"revoke all", "outcome FROM leasehold_internal.lock_revoke('pool', 'because')"},
      {"share", "outcome FROM leasehold_internal.lock_share('pool', 'dan', p_permits => 1, p_capacity => 3)"},
      {"share two", "outcome FROM leasehold_internal.lock_share('pool', 'eve', p_permits => 2, p_capacity => 3)"},
      {"share three", "outcome FROM leasehold_internal.lock_share('pool', 'eve', p_permits => 3, p_capacity => 3)"},
      {"acquire", "outcome FROM leasehold_internal.lock_acquire('pool', 'fay')"},
      {"wait", "outcome FROM leasehold_internal.lock_wait('pool', 'fay', 'place of fay')"},
      {"show", "outcome FROM leasehold_internal.lock_show('pool')"},
      {"fence c", "'passed' FROM leasehold_internal.fence('c', BOTH)"},
      {"heartbeat d", "outcome || coalesce(' ' || why, '') FROM leasehold_internal.lock_heartbeat('d', BOTH)"},
      {"release c", "outcome || coalesce(' ' || why, '') FROM leasehold_internal.lock_release('c', BOTH)"},
      {"release d", "outcome || coalesce(' ' || why, '') FROM leasehold_internal.lock_release('d', BOTH)"},
      {"acquire d", "outcome FROM leasehold_internal.lock_acquire('d', 'gil')"},
      {"acquire c, d", "outcome FROM leasehold_internal.lock_acquire_all(ARRAY['c', 'd'], 'gil')"},
      {"acquire d, c", "outcome FROM leasehold_internal.lock_acquire_all(ARRAY['d', 'c'], 'hal')"},
      {"wait d, c", "outcome FROM leasehold_internal.lock_wait_all(ARRAY['d', 'c'], 'hal', 'place of hal')"},
  };
}

class LockFamilyMatrixTest : public MatrixTest {
 protected:
  LockFamilyMatrixTest() : MatrixTest(lock_family_acts()) {}

  void SetUp() override {
    words_["TOKEN"] =
        observer_.scalar(here("SELECT token FROM leasehold_internal.lock_share('pool', 'ann', p_capacity => 3)"));
    observer_.run(here("SELECT leasehold_internal.lock_share('pool', 'ben', p_capacity => 3)"));
    words_["BOTH"] =
        observer_.scalar(here("SELECT token FROM leasehold_internal.lock_acquire_all(ARRAY['c', 'd'], 'cid')"));
  }
};

TEST_P(LockFamilyMatrixTest, EachPairWaitsOrPassesAsPromised) { expect_as_promised(); }

INSTANTIATE_TEST_SUITE_P(
    Shares, LockFamilyMatrixTest,
    ::testing::Values(
        Pair{"FenceThenHeartbeat", "fence", "heartbeat", Bob::passes, "extended"},
        Pair{"FenceThenShare", "fence", "share", Bob::passes, "granted"},
        Pair{"FenceThenRelease", "fence", "release", Bob::waits, "released"},
        Pair{"FenceThenRevoke", "fence", "revoke", Bob::waits, "revoked"},
        Pair{"FenceThenRevokeOfAll", "fence", "revoke all", Bob::waits, "revoked"},
        Pair{"FenceThenTakeoverOfAll", "fence", "acquire", Bob::passes, "busy", Expiry::after_alice},
        Pair{"FenceThenTakeoverBesideIt", "fence", "share two", Bob::passes, "granted", Expiry::after_alice},
        Pair{"FenceThenTakeoverOfIts", "fence", "share three", Bob::passes, "busy", Expiry::after_alice},
        Pair{"HeartbeatThenShare", "heartbeat", "share", Bob::passes, "granted"},
        Pair{"HeartbeatThenTakeover", "heartbeat", "share three", Bob::passes, "busy", Expiry::after_alice},
        Pair{"ReleaseThenFence", "release", "fence", Bob::waits, "LH001"},
        Pair{"ReleaseThenHeartbeat", "release", "heartbeat", Bob::waits, "lost finished"},
        Pair{"ReleaseThenShare", "release", "share two", Bob::waits, "granted"},
        Pair{"ReleaseThenWait", "release", "wait", Bob::waits, "free"},
        Pair{"ReleaseThenShow", "release", "show", Bob::passes, "running"},
        Pair{"RevokeThenHeartbeat", "revoke", "heartbeat", Bob::waits, "lost revoked"},
        Pair{"ShareThenShare", "share", "share", Bob::waits, "held"},
        Pair{"ShareThenFence", "share", "fence", Bob::passes, "passed"},
        Pair{"ShareThenHeartbeat", "share", "heartbeat", Bob::passes, "extended"},
        Pair{"TakeoverThenHeartbeat", "share three", "heartbeat", Bob::waits, "lost expired", Expiry::before_alice},
        Pair{"TakeoverThenFence", "share three", "fence", Bob::waits, "LH001", Expiry::before_alice},
        Pair{"TakeoverThenTakeover", "share three", "acquire", Bob::waits, "held", Expiry::before_alice}),
    pair_name);

INSTANTIATE_TEST_SUITE_P(
    Together, LockFamilyMatrixTest,
    ::testing::Values(
        Pair{"FenceThenHeartbeatOfTheOther", "fence c", "heartbeat d", Bob::passes, "extended"},
        Pair{"FenceThenReleaseOfTheOther", "fence c", "release d", Bob::waits, "released"},
        Pair{"FenceThenTakeoverOfTheOther", "fence c", "acquire d", Bob::passes, "busy", Expiry::after_alice},
        Pair{"ReleaseThenAcquireOfTheOther", "release c", "acquire d", Bob::waits, "granted"},
        Pair{"ReleaseThenHeartbeatOfTheOther", "release c", "heartbeat d", Bob::waits, "lost finished"},
        Pair{"AcquireThenAcquireInAnotherOrder", "acquire c, d", "acquire d, c", Bob::waits, "held",
             Expiry::before_alice},
        Pair{"AcquireThenWaitInAnotherOrder", "acquire c, d", "wait d, c", Bob::waits, "free", Expiry::before_alice},
        Pair{"TakeoverThenReleaseOfTheOther", "acquire d", "release c", Bob::waits, "lost expired",
             Expiry::before_alice}),
    pair_name);

class LockFamilyOrderTest : public SqlTest {};

// A release has the lease and wants the locks; a takeover has a lock and would want the lease.
TEST_F(LockFamilyOrderTest, AReleaseOfBothAndATakeoverOfOneDoNotWaitInACircle) {
  const auto token =
      observer_.scalar(here("SELECT token FROM leasehold_internal.lock_acquire_all(ARRAY['a', 'b'], 'ann')"));
  store_.advance(31s);
  // Bob's place in the line of b keeps the row of b; the release has the lease by then, and waits for that row.
  bob_.run("BEGIN");
  bob_.run(here("SELECT leasehold_internal.lock_wait('b', 'bob', 'place of bob')"));
  alice_.send(here("SELECT outcome FROM leasehold_internal.lock_release('a', " + token + ")"));
  ASSERT_TRUE(alice_.waits(observer_));
  EXPECT_EQ(
      bob_.scalar(here("SELECT outcome FROM leasehold_internal.lock_acquire('b', 'bob', p_request => 'place of bob')")),
      "busy")
      << "it does not wait for the lease";
  bob_.run("COMMIT");
  EXPECT_EQ(alice_.answer(), "released");
  EXPECT_EQ(
      bob_.scalar(here("SELECT outcome FROM leasehold_internal.lock_acquire('b', 'bob', p_request => 'place of bob')")),
      "granted");
}

// Each call would wait for the row as long as a call may take.
TEST_F(LockFamilyOrderTest, AShortWaitIsNotProlongedByAnOpenTransaction) {
  alice_.run("BEGIN");
  alice_.run(here("SELECT leasehold_internal.lock_acquire('deploy', 'ann')"));
  const auto locks = store_.open().locks();
  const auto begun = BootClock::now();
  EXPECT_TRUE(fails(locks.acquire("deploy", {.wait = 100ms}), Errc::busy));
  EXPECT_LT(BootClock::now() - begun, Duration(5s));
  alice_.run("ROLLBACK");
}

TEST_F(LockFamilyOrderTest, TwoWhoWantTheSameInAnotherOrderDoNotWaitInACircle) {
  alice_.run("BEGIN");
  EXPECT_EQ(alice_.scalar(here("SELECT outcome FROM leasehold_internal.lock_acquire_all(ARRAY['a', 'b', 'c'], 'ann')")),
            "granted");
  bob_.send(here("SELECT outcome || ' ' || key FROM leasehold_internal.lock_acquire_all(ARRAY['c', 'b'], 'bob')"));
  ASSERT_TRUE(bob_.waits(observer_));
  alice_.run("COMMIT");
  EXPECT_EQ(bob_.answer(), "held b");
}

}  // namespace
}  // namespace leasehold::support
