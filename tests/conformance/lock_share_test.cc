// Shares of a lock: several beside each other, each a grant of its own. Promises 3 to 6 and 11 to 13.
#include <gtest/gtest.h>

#include "support/lock_family_fixture.h"

namespace leasehold::support {
namespace {

class LockShareTest : public LockFamilyTest {};
LEASEHOLD_ON_BOTH_STORES(LockShareTest);

TEST_P(LockShareTest, SharesStandBesideEachOther) {
  const auto ann = locks().acquire("report", sharing(), by("ann"));
  ASSERT_TRUE(ok(ann));
  EXPECT_EQ(ann->key, "report");
  EXPECT_EQ(ann->holder.name, "ann");
  EXPECT_EQ(ann->expires_at, now() + 30s);
  ASSERT_TRUE(ok(locks().acquire("report", sharing(), by("bob"))));
  ASSERT_TRUE(ok(locks().acquire("report", sharing(), by("cat"))));
  EXPECT_EQ(holders_of("report"), "ann bob cat");
}

TEST_P(LockShareTest, AShareExcludesAllOfTheLockAndTheOtherWayRound) {
  const auto share = take(locks(), "report", sharing(), by("ann"));
  EXPECT_TRUE(fails(locks().acquire("report", {}, by("bob")), Errc::held));
  ASSERT_TRUE(ok(locks().release("report", share.token)));
  take(locks(), "report", {}, by("bob"));
  EXPECT_TRUE(fails(locks().acquire("report", sharing(), by("ann")), Errc::held));
}

TEST_P(LockShareTest, Promise03_EveryLaterGrantHasAGreaterTokenWhateverItIsOf) {
  std::vector<Grant> grants;
  const auto note = [&](Grant grant) {
    EXPECT_TRUE(grants.empty() || grant.token > grants.back().token);
    grants.push_back(std::move(grant));
  };
  for (int round = 0; round < 3; ++round) {
    note(take(locks(), "report", sharing(), by("ann")));
    note(take(locks(), "report", sharing(), by("bob")));
    ASSERT_TRUE(ok(locks().release("report", grants.back().token)));
    ASSERT_TRUE(ok(locks().release("report", grants[grants.size() - 2].token)));
    note(take(locks(), "report", {}, by("cat")));
    ASSERT_TRUE(ok(locks().release("report", grants.back().token)));
  }
}

TEST_P(LockShareTest, Promise04_ALaterShareDoesNotSupersedeAnEarlierOne) {
  const auto ann = take(locks(), "report", sharing(), by("ann"));
  const auto bob = take(locks(), "report", sharing(), by("bob"));
  advance(10s);
  const auto extended = locks().heartbeat("report", ann.token);
  ASSERT_TRUE(ok(extended));
  EXPECT_EQ(extended->token, ann.token);
  EXPECT_EQ(extended->holder.name, "ann");
  EXPECT_EQ(extended->expires_at, now() + 30s);
  const auto all = must(locks().holders("report"));
  EXPECT_EQ(all.at(1).token, bob.token);
  EXPECT_EQ(all.at(1).expires_at, bob.expires_at) << "a heartbeat is for one's own share";
  ASSERT_TRUE(ok(locks().release("report", ann.token)));
  EXPECT_EQ(holders_of("report"), "bob");
}

TEST_P(LockShareTest, Promise05_AHeartbeatNeverRevivesAnExpiredShare) {
  const auto ann = take(locks(), "report", sharing(10s), by("ann"));
  take(locks(), "report", sharing(1h), by("bob"));
  advance(10s);
  EXPECT_TRUE(lost(locks().heartbeat("report", ann.token), LostReason::expired));
  EXPECT_TRUE(ok(locks().release("report", ann.token))) << "its place was not needed";
  EXPECT_EQ(holders_of("report"), "bob");
}

TEST_P(LockShareTest, Promise04_ALateShareIsRefusedWithTheReason) {
  const auto expired = take(locks(), "report", sharing(10s), by("ann"));
  const auto revoked = take(locks(), "report", sharing(1h), by("bob"));
  const auto finished = take(locks(), "report", sharing(1h), by("cat"));
  const auto alive = take(locks(), "report", sharing(1h), by("dan"));
  advance(10s);
  ASSERT_TRUE(ok(locks().revoke("report", "enough", revoked.token)));
  ASSERT_TRUE(ok(locks().release("report", finished.token)));
  take(locks(), "report", sharing(), by("eve"));
  const auto before = dump();
  EXPECT_TRUE(lost(locks().heartbeat("report", expired.token), LostReason::expired));
  EXPECT_TRUE(lost(locks().release("report", expired.token), LostReason::expired));
  EXPECT_TRUE(lost(locks().heartbeat("report", revoked.token), LostReason::revoked));
  EXPECT_TRUE(lost(locks().release("report", revoked.token), LostReason::revoked));
  EXPECT_TRUE(lost(locks().heartbeat("report", finished.token), LostReason::finished));
  EXPECT_TRUE(lost(locks().heartbeat("report", Token{12345}), LostReason::superseded));
  EXPECT_EQ(dump(), before) << "a token that is not current changes nothing";
  EXPECT_TRUE(ok(locks().heartbeat("report", alive.token)));
}

TEST_P(LockShareTest, Promise04_AWholeGrantIsSupersededByALaterShare) {
  const auto whole = take(locks(), "report", {.ttl = 10s}, by("ann"));
  advance(10s);
  take(locks(), "report", sharing(), by("bob"));
  EXPECT_TRUE(lost(locks().heartbeat("report", whole.token), LostReason::superseded));
  EXPECT_TRUE(lost(locks().release("report", whole.token), LostReason::superseded));
}

TEST_P(LockShareTest, Promise06_ARequestForTheWholeLockTakesOverExpiredShares) {
  take(locks(), "report", sharing(10s), by("ann"));
  const auto last = take(locks(), "report", sharing(20s), by("bob"));
  advance(20s - 1us);
  EXPECT_TRUE(fails(locks().acquire("report", {}, by("cat")), Errc::held)) << "bob's share is alive";
  advance(1us);
  news();
  const auto whole = locks().acquire("report", {}, by("cat"));
  ASSERT_TRUE(ok(whole));
  EXPECT_GT(whole->token, last.token);
  EXPECT_EQ(news(), "report expired ann (shared); report expired bob (shared); report acquired cat");
  EXPECT_EQ(holders_of("report"), "cat");
}

TEST_P(LockShareTest, Promise06_AShareIsTakenOverFromAnExpiredHolder) {
  take(locks(), "report", {.ttl = 10s}, by("ann"));
  advance(10s);
  news();
  ASSERT_TRUE(ok(locks().acquire("report", sharing(), by("bob"))));
  EXPECT_EQ(news(), "report reclaimed bob from ann (shared)");
  EXPECT_EQ(holders_of("report"), "bob");
}

TEST_P(LockShareTest, Promise11_ARefusalShowsTheLiveShareThatFreesLast) {
  take(locks(), "report", sharing(20s), by("ann"));
  take(locks(), "report", sharing(60s), by("bob"));
  take(locks(), "report", sharing(40s), by("cat"));
  const auto before = dump();
  const auto refused = locks().acquire("report", {}, by("dan"));
  ASSERT_TRUE(fails(refused, Errc::held));
  ASSERT_TRUE(refused.error().held_by.has_value());
  EXPECT_EQ(refused.error().held_by->holder.name, "bob");
  EXPECT_EQ(refused.error().held_by->retry_in(), Duration(60s));
  EXPECT_EQ(dump(), before);
}

TEST_P(LockShareTest, Promise12_EveryShareIsAnEvent) {
  const auto ann = take(locks(), "report", sharing(), by("ann"));
  const auto bob = take(locks(), "report", sharing(), by("bob"));
  ASSERT_TRUE(ok(locks().release("report", ann.token)));
  ASSERT_TRUE(ok(locks().revoke("report", "enough", bob.token)));
  EXPECT_EQ(news(),
            "report acquired ann (shared); report acquired bob (shared); report released ann (shared); "
            "report revoked bob (enough)");
}

TEST_P(LockShareTest, Promise13_ARepeatedRequestGivesTheFirstShareAgain) {
  const auto first = take(locks(), "report", asked_as(sharing(), "r1"), by("ann"));
  take(locks(), "report", sharing(), by("bob"));
  advance(10s);
  const auto again = locks().acquire("report", asked_as(sharing(), "r1"), by("ann"));
  ASSERT_TRUE(ok(again));
  EXPECT_EQ(again->token, first.token);
  EXPECT_EQ(again->expires_at, first.expires_at) << "what remains, not more";
  EXPECT_TRUE(again->replayed);
  EXPECT_EQ(holders_of("report"), "ann bob");
  ASSERT_TRUE(ok(locks().release("report", first.token)));
  EXPECT_TRUE(ok(locks().release("report", first.token))) << "a release repeated is a release";
  EXPECT_TRUE(lost(locks().acquire("report", asked_as(sharing(), "r1"), by("ann")), LostReason::finished));
}

TEST_P(LockShareTest, Promise13_ARequestIdBelongsToOneGrantOnly) {
  take(locks(), "report", asked_as(sharing(), "share"), by("ann"));
  take(locks(), "deploy", asked_as(AcquireOptions{}, "whole"), by("ann"));
  EXPECT_TRUE(lost(locks().acquire("report", asked_as(AcquireOptions{}, "share"), by("ann")), LostReason::superseded));
  EXPECT_TRUE(lost(locks().acquire("deploy", asked_as(sharing(), "whole"), by("ann")), LostReason::superseded));
  EXPECT_TRUE(lost(locks().acquire("other", asked_as(sharing(), "share"), by("ann")), LostReason::superseded));
}

TEST_P(LockShareTest, Promise13_AnotherRequestUnderTheSameIdIsNotAnsweredWithTheFirstGrant) {
  const auto first = take(locks(), "gpu", asked_as(permits(2, 8), "r1"), by("ann"));
  for (const auto& other : {permits(5, 8), permits(2, 9), sharing(), AcquireOptions{}}) {
    const auto answer = locks().acquire("gpu", asked_as(other, "r1"), by("ann"));
    ASSERT_TRUE(lost(answer, LostReason::superseded));
    EXPECT_NE(answer.error().message.find("this request id belongs to another grant"), std::string::npos);
  }
  EXPECT_EQ(must(locks().acquire("gpu", asked_as(permits(2, 8), "r1"), by("ann"))).token, first.token);
  ASSERT_TRUE(ok(locks().release("gpu", first.token)));
  take(locks(), "gpu", permits(1, 3), by("bob"));
  EXPECT_TRUE(lost(locks().acquire("gpu", asked_as(permits(2, 8), "r1"), by("ann")), LostReason::finished));
  EXPECT_TRUE(lost(locks().acquire("gpu", asked_as(permits(1, 8), "r1"), by("ann")), LostReason::superseded));
}

TEST_P(LockShareTest, RevokingWithoutATokenEndsThemAllAndReturnsTheLatest) {
  const auto ann = take(locks(), "report", sharing(1h), by("ann"));
  const auto bob = take(locks(), "report", sharing(1min), by("bob"));
  news();
  const auto ended = locks().revoke("report", "make way");
  ASSERT_TRUE(ok(ended));
  EXPECT_EQ(ended->token, bob.token);
  EXPECT_EQ(ended->end_detail, "make way");
  EXPECT_EQ(news(), "report revoked ann (make way); report revoked bob (make way)");
  EXPECT_TRUE(lost(locks().heartbeat("report", ann.token), LostReason::revoked));
  EXPECT_TRUE(fails(locks().revoke("report", "again"), Errc::not_found));
  EXPECT_TRUE(ok(locks().acquire("report", {}, by("cat"))));
}

TEST_P(LockShareTest, ShowHasTheShareThatFreesLastAndTheNumber) {
  take(locks(), "report", sharing(60s), by("ann"));
  take(locks(), "report", sharing(20s), by("bob"));
  const auto shown = must(locks().show("report"));
  EXPECT_EQ(shown.state, LeaseState::running);
  EXPECT_EQ(shown.holder.name, "ann");
  EXPECT_EQ(shown.holders, 2);
  EXPECT_EQ(shown.permits, 2);
  EXPECT_FALSE(shown.capacity.has_value());
  EXPECT_EQ(shown.free_at, now() + 60s);
  EXPECT_FALSE(shown.delayed);
  EXPECT_EQ(must(locks().list()).at(0).holders, 2);
  EXPECT_EQ(must(store().leases()).size(), 2U) << "each share is a lease";
  EXPECT_EQ(status_of(store()).held_leases, 2);
  EXPECT_EQ(status_of(store()).locks, 1);
  advance(60s);
  EXPECT_EQ(must(locks().show("report")).state, LeaseState::expired);
  EXPECT_EQ(status_of(store()).expired_leases, 2);
  EXPECT_EQ(must(locks().list({.only_held = true})).size(), 1U) << "they have not been ended yet";
}

TEST_P(LockShareTest, HoldersListsEachWithItsPermits) {
  EXPECT_TRUE(must(locks().holders("report")).empty()) << "an unknown lock has none";
  take(locks(), "report", sharing(10s), by("ann"));
  take(locks(), "report", sharing(20s), by("bob"));
  advance(10s);
  const auto all = must(locks().holders("report"));
  ASSERT_EQ(all.size(), 2U);
  EXPECT_EQ(all[0].state, LeaseState::expired);
  EXPECT_EQ(all[1].state, LeaseState::running);
  EXPECT_EQ(all[1].permits, 1);
  EXPECT_FALSE(all[1].capacity.has_value());
  EXPECT_EQ(all[1].free_at, test_start + 20s);
  EXPECT_EQ(must(locks().holders("report", 1)).size(), 1U);
  take(locks(), "deploy", {}, by("cat"));
  EXPECT_FALSE(must(locks().holders("deploy")).at(0).permits.has_value()) << "all of it";
}

TEST_P(LockShareTest, RecoverEndsExpiredSharesAndLeavesTheLiving) {
  take(locks(), "report", sharing(10s), by("ann"));
  take(locks(), "report", sharing(10s), by("bob"));
  take(locks(), "report", sharing(1h), by("cat"));
  advance(10s);
  news();
  EXPECT_EQ(must(store().recovery_stats()).stale_now.locks, 2);
  EXPECT_EQ(must(store().recover()).locks, 2);
  EXPECT_EQ(must(store().recover()).locks, 0);
  EXPECT_EQ(news(), "report expired ann (shared); report expired bob (shared)");
  EXPECT_EQ(holders_of("report"), "cat");
}

TEST_P(LockShareTest, PruneKeepsTheLatestShareAndForgetsTheRest) {
  const auto old = take(locks(), "report", sharing(), by("ann"));
  const auto latest = take(locks(), "report", sharing(), by("bob"));
  ASSERT_TRUE(ok(locks().release("report", old.token)));
  advance(48h);
  ASSERT_TRUE(ok(locks().release("report", latest.token)));
  EXPECT_EQ(must(store().prune(1h)).leases, 1);
  EXPECT_EQ(must(locks().show("report")).holder.name, "bob");
  EXPECT_TRUE(lost(locks().heartbeat("report", old.token), LostReason::superseded)) << "forgotten, as documented";
  EXPECT_TRUE(lost(locks().heartbeat("report", latest.token), LostReason::finished));
  EXPECT_GT(take(locks(), "report", sharing(), by("cat")).token, latest.token);
}

}  // namespace
}  // namespace leasehold::support
