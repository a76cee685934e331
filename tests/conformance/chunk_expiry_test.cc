// Loaders that die: which loader gets their chunks, which chunk is charged, and the counts. Promises 6, 7 and 12.
#include <gtest/gtest.h>

#include "support/chunk_fixture.h"
#include "support/dead_holder.h"

namespace leasehold::support {
namespace {

class ChunkExpiryTest : public ChunkStoreTest {
 protected:
  RecoveryTotal total(const std::string& reason) {
    for (const auto& each : must(store().recovery_stats()).totals) {
      if (each.reason == reason) return each;
    }
    return {};
  }
};
LEASEHOLD_ON_BOTH_STORES(ChunkExpiryTest);

TEST_P(ChunkExpiryTest, Promise06_TheNextClaimTakesOverToTheMicrosecond) {
  plan(1);
  claim("ann");
  advance(30s - 1us);
  EXPECT_TRUE(fails(try_claim("bob"), Errc::held));
  EXPECT_EQ(state("1"), ChunkState::running);
  advance(1us);
  EXPECT_EQ(state("1"), ChunkState::expired);
  EXPECT_EQ(name_of(claim("bob").previous_holder), "ann");
}

TEST_P(ChunkExpiryTest, Promise07_ASoleChunkPaysAndKeepsItsCursor) {
  plan(1, {.max_crashes = 2});
  ASSERT_TRUE(ok(save(claim("ann"), {.cursor = "5", .rows = 50})));
  advance(31s);
  EXPECT_EQ(claim("bob").cursor, "5");
  EXPECT_EQ(chunk("1").crashes, 1);
  EXPECT_EQ(chunk("1").failures, 0);
  advance(31s);
  EXPECT_TRUE(fails(try_claim("eve"), Errc::empty)) << "the second crash was the last";
  const auto dead = chunk("1");
  EXPECT_EQ(dead.state, ChunkState::exhausted);
  EXPECT_EQ(dead.crashes, 2);
  EXPECT_EQ(dead.cursor, "5");
  EXPECT_EQ(dead.rows, 50);
  EXPECT_EQ(dead.finished_at, now());
  EXPECT_EQ(progress().state, ChunkSetState::partial);
}

TEST_P(ChunkExpiryTest, Promise07_InnocentsAreNotChargedAndClaimedSolo) {
  plan(3);
  const auto held = claim_many("ann", 3);
  ASSERT_TRUE(ok(complete(held.chunks[0])));
  advance(31s);
  const auto first = claim_many("bob", 5);
  EXPECT_EQ(keys_of(first), Keys{"2"}) << "suspects are claimed solo";
  EXPECT_TRUE(first.solo);
  EXPECT_EQ(chunk("2").crashes + chunk("3").crashes, 0);
  advance(31s);
  EXPECT_EQ(claim("eve").key, "2");
  EXPECT_EQ(chunk("2").crashes, 1) << "solo, it pays";
}

TEST_P(ChunkExpiryTest, ASuspectStaysOutOfABatch) {
  plan(4);
  const auto held = claim_many("ann", 2);
  advance(31s);
  must(store().recover());
  ASSERT_TRUE(ok(fail(claim_key("bob", "1"), Verdict::retry_in(0s))));
  ASSERT_TRUE(ok(fail(claim_key("bob", "2"), Verdict::retry_in(0s))));
  EXPECT_EQ(keys_of(claim_many("bob", 4)), (Keys{"3", "4"}));
}

TEST_P(ChunkExpiryTest, ASuspectIsNotAttachedToALoader) {
  plan(2);
  claim_many("ann", 2);
  advance(31s);
  const auto lease = must(chunks().open_lease(60s, by("bob")));
  const auto grant = must(chunks().claim("orders", {.max = 5}, {.holder = holder("bob"), .lease = lease}));
  EXPECT_EQ(keys_of(grant), Keys{"1"});
  EXPECT_TRUE(grant.solo);
  EXPECT_NE(grant.lease_id, lease.id);
  EXPECT_EQ(grant.ttl, Duration(60s)) << "like that of the loader";
  ASSERT_TRUE(ok(chunks().close(lease)));
  EXPECT_EQ(state("1"), ChunkState::running);
}

TEST_P(ChunkExpiryTest, CompletingClearsTheSuspicion) {
  plan(2);
  claim_many("ann", 2);
  advance(31s);
  for (int i = 0; i < 2; ++i) ASSERT_TRUE(ok(complete(claim("bob"))));
  must(chunks().reset("orders", {.which = ChunkReset::Which::all}));
  EXPECT_EQ(keys_of(claim_many("bob", 5)), (Keys{"1", "2"}));
}

TEST_P(ChunkExpiryTest, AResetClearsTheSuspicionToo) {
  plan(2);
  claim_many("ann", 2);
  advance(31s);
  must(store().recover());
  must(chunks().reset("orders", {.which = ChunkReset::Which::all}));
  EXPECT_EQ(keys_of(claim_many("bob", 5)), (Keys{"1", "2"}));
}

TEST_P(ChunkExpiryTest, ALeaseOverTwoSetsGivesBackToBoth) {
  plan(1);
  plan_numbers(chunks(), "items", 1);
  const auto lease = must(chunks().open_lease(30s, by("ann")));
  for (const auto* set : {"orders", "items"}) {
    must(chunks().claim(set, {}, {.holder = holder("ann"), .lease = lease}));
  }
  advance(31s);
  claim("bob");
  EXPECT_EQ(must(chunks().progress("items")).available, 1);
  EXPECT_EQ(chunk("1").crashes, 0) << "the lease held two";
}

TEST_P(ChunkExpiryTest, RecoverCountsOnceAndIsIdempotent) {
  plan(4, {.max_crashes = 1});
  claim_many("ann", 2);
  claim("bob");
  EXPECT_EQ(must(store().recover()).chunks, 0) << "nothing is stale yet";
  advance(31s);
  const auto stale = must(store().recovery_stats()).stale_now;
  EXPECT_EQ(stale.leases, 2);
  EXPECT_EQ(stale.chunks, 2);
  EXPECT_EQ(stale.failed, 1);
  const auto recovered = must(store().recover());
  EXPECT_EQ(recovered.leases, 2);
  EXPECT_EQ(recovered.chunks, 2);
  EXPECT_EQ(recovered.failed, 1) << "its crash budget is spent";
  EXPECT_EQ(must(store().recover()).leases, 0);
  EXPECT_EQ(total("recover").chunks, 2);
  EXPECT_EQ(total("recover").last_at, now());
  EXPECT_EQ(must(store().recovery_stats()).stale_now.chunks, 0);
}

TEST_P(ChunkExpiryTest, AClaimCountsItsTakeoversToo) {
  plan(1);
  claim("ann");
  advance(31s);
  claim("bob");
  EXPECT_EQ(total("claim").leases, 1);
  EXPECT_EQ(total("claim").chunks, 1);
}

TEST_P(ChunkExpiryTest, Promise12_EventsAreInOrder) {
  plan(1, {.max_failures = 2});
  claim("ann");
  advance(31s);
  ASSERT_TRUE(ok(fail(claim("bob"), Verdict::fail(std::string(500, 'x')))));
  advance(2s);
  ASSERT_TRUE(ok(release(claim("bob"))));
  ASSERT_TRUE(ok(fail(claim("bob"))));
  must(chunks().reset("orders", {}));
  ASSERT_TRUE(ok(complete(claim("bob"), {.rows = 3})));
  EXPECT_EQ(story("1"), (std::vector<std::string>{"claimed", "reclaimed", "claimed", "failed", "claimed", "released",
                                                  "claimed", "exhausted", "reset", "claimed", "completed"}));
  for (const auto& event : must(store().events({.key = "orders/1"}))) {
    EXPECT_EQ(event.kind, "chunk");
    if (event.what == "reclaimed") {
      EXPECT_EQ(name_of(event.holder) + " from " + name_of(event.previous_holder), "bob from ann");
      EXPECT_EQ(event.at, now() - 2s);
    }
    if (event.what == "failed") {
      EXPECT_EQ(event.detail.size(), 200U);
    }
    if (event.what == "completed") {
      EXPECT_EQ(event.detail, "3 rows");
    }
  }
}

TEST_P(ChunkExpiryTest, AHolderOfThisHostWhoseProcessIsGoneIsNotWaitedFor) {
  plan(2);
  const auto late = must(chunks().claim("orders", {.ttl = 1h}, {.holder = dead_holder("ann")})).chunks.at(0);
  ASSERT_TRUE(ok(complete(claim("bob"))));
  EXPECT_EQ(claim("bob").key, late.key) << "nothing else is left, so the dead are looked for";
  EXPECT_TRUE(lost(complete(late), LostReason::superseded));
  EXPECT_EQ(chunk(late.key).crashes, 1);
  EXPECT_EQ(total("process_gone").chunks, 1);
}

TEST_P(ChunkExpiryTest, RecoverFindsTheDeadProcessToo) {
  plan(2);
  must(chunks().claim("orders", {.max = 2, .ttl = 1h}, {.holder = dead_holder("ann")}));
  EXPECT_EQ(must(store().recover()).chunks, 2);
  EXPECT_TRUE(claim_many("bob", 2).solo);
}

TEST_P(ChunkExpiryTest, TheLivingOfThisHostKeepTheirs) {
  plan(1);
  must(chunks().claim("orders", {.ttl = 1h}, {.holder = Holder::self("me")}));
  EXPECT_TRUE(fails(try_claim("bob"), Errc::held));
  EXPECT_EQ(must(store().recover()).chunks, 0);
}

TEST_P(ChunkExpiryTest, AMassacredFleetIsHealedByItsSuccessors) {
  constexpr int count = 50;
  plan(count);
  for (int i = 0; i < count; ++i) claim("loader-" + std::to_string(i));
  advance(31s);
  for (int i = 0; i < count; ++i) ASSERT_TRUE(ok(complete(claim("successor", 1h), {.rows = 1})));
  EXPECT_EQ(progress().state, ChunkSetState::complete);
  EXPECT_EQ(progress().rows, count);
}

}  // namespace
}  // namespace leasehold::support
