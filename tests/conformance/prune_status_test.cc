// Counting and forgetting.
#include <gtest/gtest.h>

#include "support/lock_helpers.h"
#include "support/store_fixture.h"

namespace leasehold::support {
namespace {

class PruneStatusTest : public StoreTest {
 protected:
  void acquire_and_release(const std::string& name, int times) {
    for (int i = 0; i < times; ++i) {
      ASSERT_TRUE(ok(locks().release(name, take(locks(), name, {}, by("alice")).token)));
    }
  }
};
LEASEHOLD_ON_BOTH_STORES(PruneStatusTest);

TEST_P(PruneStatusTest, StatusCountsByTheStoresClock) {
  take(locks(), "held", {.ttl = 1h}, by("alice"));
  take(locks(), "expired", {.ttl = 1s}, by("alice"));
  acquire_and_release("free", 1);
  advance(2s);
  const auto status = store().status();
  ASSERT_TRUE(ok(status));
  EXPECT_EQ(status->backend, store().backend());
  EXPECT_GT(status->schema_version, 0);
  EXPECT_EQ(status->locks, 3);
  EXPECT_EQ(status->held_leases, 1);
  EXPECT_EQ(status->expired_leases, 1);
  EXPECT_EQ(status->waiters, 0);
  EXPECT_EQ(status->ended_leases, 1);
  EXPECT_EQ(status->events, 4);
  EXPECT_EQ(status->store_now, now());
}

TEST_P(PruneStatusTest, ALongHistoryIsEstimated) {
  acquire_and_release("deploy", 2);
  EXPECT_FALSE(must(store().status()).estimated());
  // 30,000 events with ids that are spread over 40,000.
  const auto event =
      GetParam() == StoreKind::sqlite ? std::string("leasehold_event") : under_test().schema() + "_internal.event";
  const auto id_is_given = GetParam() == StoreKind::sqlite ? "" : "OVERRIDING SYSTEM VALUE ";
  under_test().run("INSERT INTO " + event + " (id, at, kind, key, what, token, holder, host) " + id_is_given +
                   "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 30000) "
                   "SELECT 100 + i + i / 3, (SELECT at FROM " +
                   event +
                   " LIMIT 1), 'lock', 'k', 'released', 1, 'ann', 'box' "
                   "FROM n");
  const auto status = must(store().status());
  EXPECT_TRUE(status.estimated());
  EXPECT_NEAR(static_cast<double>(status.events), 30004, 600);
  EXPECT_EQ(status.ended_leases, 2);
}

TEST_P(PruneStatusTest, TheBackendHasItsName) {
  EXPECT_EQ(store().backend(), GetParam() == StoreKind::sqlite ? "sqlite" : "postgresql");
}

TEST_P(PruneStatusTest, PruneForgetsOnlyWhatIsOldEnough) {
  acquire_and_release("deploy", 3);
  advance(1h);
  acquire_and_release("deploy", 2);
  const auto pruned = store().prune(30min);
  ASSERT_TRUE(ok(pruned));
  EXPECT_EQ(pruned->leases, 3);
  EXPECT_EQ(pruned->events, 6);
  EXPECT_EQ(status_of(store()).ended_leases, 2);
  EXPECT_EQ(status_of(store()).events, 4);
}

TEST_P(PruneStatusTest, PruneKeepsTheLatestLeaseOfALockThatStaysAndEveryLiveOne) {
  take(locks(), "free", {.ttl = 1h}, by("alice"));
  ASSERT_TRUE(ok(locks().revoke("free", "why")));
  under_test().run("UPDATE " + under_test().table("lock") + " SET token = token + 1000000000000");
  const auto held = take(locks(), "held", {.ttl = 240h}, by("alice"));
  take(locks(), "expired", {.ttl = 1s}, by("bob"));
  advance(48h);
  ASSERT_TRUE(ok(store().prune(1h)));
  EXPECT_EQ(locks().show("free")->end_reason, "revoked") << "its token is ahead of the clock: the lock stays";
  EXPECT_EQ(state_of(locks(), "expired"), LeaseState::expired);
  EXPECT_TRUE(ok(locks().heartbeat("held", held.token)));
}

TEST_P(PruneStatusTest, PrunedEventIdsAreNotGivenOutAgain) {
  acquire_and_release("deploy", 2);
  const auto last = store().events()->back().id;
  advance(1h);
  ASSERT_TRUE(ok(store().prune(1s)));
  take(locks(), "deploy", {}, by("alice"));
  const auto fresh = store().events({.after_id = last});
  ASSERT_TRUE(ok(fresh));
  EXPECT_EQ(fresh->size(), 1U) << "a reader that follows the events would miss it";
}

TEST_P(PruneStatusTest, PruneRefusesAnAgeOutsideOfItsBounds) {
  for (const auto age : {Duration(-1s), Duration(bounds::max_delay + 1s), Duration::max()}) {
    EXPECT_TRUE(fails(store().prune(age), Errc::invalid_argument));
    EXPECT_TRUE(fails(store().prune_preview(age), Errc::invalid_argument));
  }
  must(store().prune(bounds::max_delay));
}

TEST_P(PruneStatusTest, DoctorLooksAtSomethingAndDoesNotHarm) {
  take(locks(), "deploy", {}, by("alice"));
  const auto before = dump();
  const auto findings = store().doctor();
  ASSERT_TRUE(ok(findings));
  EXPECT_FALSE(findings->empty());
  EXPECT_EQ(dump(), before);
}

}  // namespace
}  // namespace leasehold::support
