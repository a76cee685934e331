// Holders that die: which worker gets the work, which job is charged, and the counts. Promises 5, 6, 7 and 12.
#include <gtest/gtest.h>

#include <set>

#include "support/job_helpers.h"
#include "support/store_fixture.h"

namespace leasehold::support {
namespace {

class JobExpiryTest : public StoreTest {};
LEASEHOLD_ON_BOTH_STORES(JobExpiryTest);

TEST_P(JobExpiryTest, Promise06_TheNextClaimTakesExpiredWorkWithoutASweep) {
  const auto id = add(jobs(), "q", {.payload = "precious"});
  const auto first = claim_one(jobs(), "q", "alice", 30s);
  advance(30s - 1us);
  EXPECT_FALSE(jobs().claim("q", claiming(), by("bob")).ok()) << "a live lease was taken";
  advance(1us);
  const auto next = claim_one(jobs(), "q", "bob", 30s);
  EXPECT_EQ(next.id, id);
  EXPECT_EQ(next.payload, "precious");
  EXPECT_EQ(next.attempt, 2);
  EXPECT_GT(next.token, first.token);
}

TEST_P(JobExpiryTest, TheEventSaysHowLongTheJobsWereFree) {
  add_many(jobs(), "q", 2);
  claim(jobs(), "q", {.max = 2, .ttl = 30s}, by("alice"));
  advance(35s + 160ms);
  claim_one(jobs(), "q", "bob", 30s);
  const auto event = must(store().events()).back();
  EXPECT_EQ(event.what + ": " + event.detail, "reclaimed: 2 jobs, free for 5160 ms");
}

TEST_P(JobExpiryTest, OnesOwnExpiredWorkCanBeClaimedAgain) {
  add(jobs(), "q");
  const auto first = claim_one(jobs(), "q", "alice", 30s);
  advance(31s);
  const auto again = claim_one(jobs(), "q", "alice", 30s);
  EXPECT_EQ(again.id, first.id);
  EXPECT_TRUE(fails(jobs().complete(first.id, first.token), Errc::lost));
  EXPECT_TRUE(ok(jobs().complete(again.id, again.token)));
}

TEST_P(JobExpiryTest, Promise05_AHeartbeatKeepsTheJobAndNeverRevives) {
  add(jobs(), "q");
  const auto job = claim_one(jobs(), "q", "alice", 30s);
  for (int i = 0; i < 10; ++i) {
    advance(29s);
    ASSERT_TRUE(ok(jobs().heartbeat(job.id, job.token)));
    EXPECT_TRUE(fails(jobs().claim("q", claiming(), by("bob")), Errc::empty));
  }
  advance(30s);
  const auto rows = dump();
  EXPECT_TRUE(lost(jobs().heartbeat(job.id, job.token), LostReason::expired));
  EXPECT_EQ(dump(), rows);
}

TEST_P(JobExpiryTest, Promise06_AnExpiryThatAHeartbeatBroughtNearerIsNoticedInTime) {
  const auto id = add(jobs(), "q");
  const auto job = claim_one(jobs(), "q", "alice", 30s);
  advance(-10s);
  ASSERT_TRUE(ok(jobs().heartbeat(job.id, job.token)));
  advance(30s - 1us);
  EXPECT_TRUE(fails(jobs().claim("q", claiming(), by("bob")), Errc::empty));
  advance(1us);
  EXPECT_EQ(claim_one(jobs(), "q", "bob").id, id);
}

TEST_P(JobExpiryTest, Promise07_ACrashSpendsTheCrashBudget) {
  const auto id = add(jobs(), "q", {.max_crashes = 2});
  claim_one(jobs(), "q", "alice", 30s);
  advance(31s);
  claim_one(jobs(), "q", "bob", 30s);
  EXPECT_EQ(must(jobs().show(id)).crashes, 1);
  advance(31s);
  EXPECT_TRUE(fails(jobs().claim("q", claiming(), by("carol")), Errc::empty)) << "the second crash was the last";
  const auto info = must(jobs().show(id));
  EXPECT_EQ(info.state, JobState::failed);
  EXPECT_EQ(info.crashes, 2);
  EXPECT_EQ(info.failures, 0);
  EXPECT_EQ(outcomes_of(jobs(), id), (std::vector<std::string>{"expired", "expired"}));
  ASSERT_EQ(must(jobs().list({.state = JobState::failed})).size(), 1U);
}

TEST_P(JobExpiryTest, Promise07_InnocentsAreNotChargedAndClaimedSolo) {
  const auto ids = add_many(jobs(), "q", 3);
  const auto grant = claim(jobs(), "q", claiming(3, 30s), by("alice"));
  ASSERT_TRUE(ok(jobs().complete(ids[0], grant.token)));
  advance(31s);
  const auto one = claim(jobs(), "q", claiming(10, 30s), by("bob"));
  ASSERT_EQ(one.jobs.size(), 1U) << "suspects are claimed solo";
  EXPECT_TRUE(one.solo);
  EXPECT_EQ(must(jobs().show(ids[1])).crashes, 0);
  EXPECT_EQ(must(jobs().show(ids[2])).crashes, 0);
  EXPECT_EQ(outcomes_of(jobs(), ids[2]), (std::vector<std::string>{"returned"}));
  advance(31s);
  const auto other = claim(jobs(), "q", claiming(10, 30s), by("carol"));
  EXPECT_EQ(other.jobs.size(), 1U);
  EXPECT_EQ(must(jobs().show(one.jobs[0].id)).crashes, 1) << "solo, it pays";
}

TEST_P(JobExpiryTest, SuspectsDoNotStopFreshOnes) {
  add_many(jobs(), "q", 2);
  claim(jobs(), "q", claiming(2, 30s), by("alice"));
  advance(31s);
  ASSERT_TRUE(ok(store().recover()));
  const auto fresh = add(jobs(), "q", {.priority = 1});
  const auto more = add(jobs(), "q", {.priority = 1});
  EXPECT_EQ(ids_of(claim(jobs(), "q", claiming(10), by("bob"))), (std::vector<JobId>{fresh, more}));
}

TEST_P(JobExpiryTest, StaleAndRecentMixed) {
  add_many(jobs(), "q", 2);
  const auto stale = claim_one(jobs(), "q", "alice", 30s);
  advance(20s);
  const auto recent = claim_one(jobs(), "q", "bob", 30s);
  advance(11s);
  const auto taken = claim(jobs(), "q", claiming(10, 30s), by("carol"));
  EXPECT_EQ(ids_of(taken), std::vector<JobId>{stale.id});
  EXPECT_EQ(state_of(jobs(), recent.id), JobState::running);
  EXPECT_TRUE(ok(jobs().heartbeat(recent.id, recent.token)));
}

TEST_P(JobExpiryTest, RecoverCountsOnceAndIsIdempotent) {
  add_many(jobs(), "q", 5);
  for (int i = 0; i < 3; ++i) claim_one(jobs(), "q", "alice", 30s);
  take(locks(), "deploy", {.ttl = 30s}, by("alice"));
  EXPECT_EQ(must(store().recover()).jobs, 0) << "nothing is stale yet";
  advance(31s);
  const auto stale = must(store().recovery_stats()).stale_now;
  EXPECT_EQ(stale.leases, 3);
  EXPECT_EQ(stale.locks, 1);
  const auto first = must(store().recover());
  EXPECT_EQ(first.jobs, 3);
  EXPECT_EQ(first.leases, 3);
  EXPECT_EQ(first.locks, 1);
  const auto second = must(store().recover());
  EXPECT_EQ(second.jobs + second.leases + second.locks, 0);
  EXPECT_EQ(must(queues().show("q")).available, 5);
  const auto stats = must(store().recovery_stats());
  EXPECT_EQ(stats.stale_now.leases, 0);
  ASSERT_FALSE(stats.totals.empty());
  EXPECT_EQ(stats.totals[0].reason, "recover");
  EXPECT_EQ(stats.totals[0].jobs, 3);
  EXPECT_EQ(stats.totals[0].last_at, now());
}

TEST_P(JobExpiryTest, RecoverOfALongLivedLeaseFindsItLater) {
  add(jobs(), "q");
  const auto job = claim_one(jobs(), "q", "alice", 30s);
  for (int i = 0; i < 5; ++i) {
    advance(25s);
    ASSERT_TRUE(ok(jobs().heartbeat(job.id, job.token)));
    EXPECT_EQ(must(store().recover()).leases, 0);
  }
  advance(31s);
  EXPECT_EQ(claim_one(jobs(), "q", "bob").id, job.id);
}

TEST_P(JobExpiryTest, AClaimCountsItsTakeoversToo) {
  add(jobs(), "q");
  claim_one(jobs(), "q", "alice", 30s);
  advance(31s);
  claim_one(jobs(), "q", "bob", 30s);
  const auto stats = must(store().recovery_stats());
  ASSERT_EQ(stats.totals.size(), 1U);
  EXPECT_EQ(stats.totals[0].reason, "claim");
  EXPECT_EQ(stats.totals[0].jobs, 1);
}

TEST_P(JobExpiryTest, Promise12_ATakeoverLeavesAnEventThatNamesBoth) {
  add(jobs(), "q");
  claim_one(jobs(), "q", "alice", 30s);
  advance(31s);
  claim_one(jobs(), "q", "bob", 30s);
  bool found = false;
  for (const auto& event : must(store().events())) {
    if (event.what != "reclaimed") continue;
    found = true;
    EXPECT_EQ(event.kind, "job");
    EXPECT_EQ(event.key, "q");
    EXPECT_EQ(name_of(event.previous_holder), "alice");
    EXPECT_EQ(name_of(event.holder), "bob");
    EXPECT_EQ(event.at, now());
  }
  EXPECT_TRUE(found);
}

TEST_P(JobExpiryTest, AMassacredFleetIsHealedByItsSuccessors) {
  constexpr int count = 200;
  add_many(jobs(), "q", count);
  for (int i = 0; i < count; ++i) claim_one(jobs(), "q", "worker-" + std::to_string(i), 30s);
  advance(31s);
  std::set<JobId> healed;
  for (int i = 0; i < count; ++i) {
    const auto grant = jobs().claim("q", claiming(1, 1h), by("successor"));
    ASSERT_TRUE(ok(grant));
    healed.insert(grant->jobs.at(0).id);
  }
  EXPECT_EQ(healed.size(), static_cast<std::size_t>(count));
  EXPECT_TRUE(fails(jobs().claim("q", claiming(), by("successor")), Errc::empty));
}

TEST_P(JobExpiryTest, LeftoversOfAFinishedGrantAreNoCrash) {
  const auto ids = add_many(jobs(), "q", 2);
  const auto grant = claim(jobs(), "q", claiming(2, 30s), by("alice"));
  for (const auto id : ids) ASSERT_TRUE(ok(jobs().complete(id, grant.token)));
  advance(31s);
  EXPECT_EQ(must(store().recover()).jobs, 0);
  EXPECT_EQ(state_of(jobs(), ids[0]), JobState::completed);
}

}  // namespace
}  // namespace leasehold::support
