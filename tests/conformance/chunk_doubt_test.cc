// Chunks over a network that breaks: nothing is lost, nothing counts twice. Promises 10 and 13.
#include <gtest/gtest.h>

#include "support/broken_store.h"
#include "support/chunk_fixture.h"

namespace leasehold::support {
namespace {

class ChunkDoubtTest : public WithBrokenStore<ChunkStoreTest> {
 protected:
  Chunks broken_chunks() { return broken_->chunks(); }
};
LEASEHOLD_ON_BOTH_STORES(ChunkDoubtTest);

TEST_P(ChunkDoubtTest, Promise13_AClaimWhoseReplyWasLostTakesNoSecondChunk) {
  plan(2);
  faults_->fail_next(Fault::lose_reply, 1, "chunk_claim");
  const auto grant = must(broken_chunks().claim("orders", loading(), by("ann")));
  EXPECT_EQ(faults_->failures(), 1);
  EXPECT_TRUE(grant.replayed);
  EXPECT_EQ(progress().running, 1);
  EXPECT_EQ(progress().available, 1);
}

TEST_P(ChunkDoubtTest, AnAttachedClaimWhoseReplyWasLostIsInDoubt) {
  plan(2);
  const auto lease = must(broken_chunks().open_lease(30s, by("ann")));
  faults_->fail_next(Fault::lose_reply, 1, "chunk_claim");
  EXPECT_TRUE(fails(broken_chunks().claim("orders", {}, {.lease = lease}), Errc::in_doubt));
  EXPECT_EQ(progress().running, 1) << "a second request would have taken another one";
  ASSERT_TRUE(ok(broken_chunks().close(lease)));
  EXPECT_EQ(progress().available, 2);
}

TEST_P(ChunkDoubtTest, Promise13_ASaveWhoseReplyWasLostCountsOnce) {
  plan(1);
  const auto held = claim("ann");
  faults_->fail_next(Fault::lose_reply, 1, "chunk_heartbeat");
  const auto saved = must(broken_chunks().heartbeat("orders", "1", held.token, {.cursor = "1", .rows = 10}));
  EXPECT_EQ(saved.rows, 10);
  EXPECT_EQ(faults_->calls("chunk_heartbeat"), 2);
  EXPECT_EQ(progress().rows, 10);
}

TEST_P(ChunkDoubtTest, Promise13_VerdictsWhoseReplyWasLostCountOnce) {
  plan(2);
  const auto completed = claim("ann");
  const auto failed = claim("ann");
  faults_->fail_next(Fault::lose_reply, 1, "chunk_settle");
  const auto settled = must(broken_chunks().complete("orders", "1", completed.token, {.rows = 10}));
  EXPECT_EQ(settled.state, ChunkState::completed);
  EXPECT_TRUE(settled.replayed);
  faults_->fail_next(Fault::lose_reply, 1, "chunk_settle");
  ASSERT_TRUE(ok(broken_chunks().fail("orders", "2", failed.token, "no route")));
  EXPECT_EQ(chunk("2").failures, 1);
  EXPECT_EQ(story("1"), (std::vector<std::string>{"claimed", "completed"}));
}

TEST_P(ChunkDoubtTest, Promise10_AnUnreachableStoreIsNeverEmptyNorLost) {
  plan(1);
  const auto held = claim("ann");
  const auto before = dump();
  faults_->fail_always(Fault::fail_before_send);
  const auto broken = broken_chunks();
  EXPECT_TRUE(fails(broken.claim("orders", loading(), by("bob")), Errc::unavailable));
  EXPECT_TRUE(fails(broken.heartbeat("orders", "1", held.token, {.rows = 1}), Errc::unavailable));
  EXPECT_TRUE(fails(broken.complete("orders", "1", held.token), Errc::unavailable));
  EXPECT_TRUE(fails(broken.plan("orders", {}, {.planner = "2"}), Errc::unavailable));
  EXPECT_TRUE(fails(broken.reset("orders", {}), Errc::unavailable));
  EXPECT_TRUE(fails(broken.progress("orders"), Errc::unavailable));
  EXPECT_TRUE(fails(broken.list("orders"), Errc::unavailable));
  EXPECT_TRUE(fails(broken_->rates().take("api", {.every = 1s}), Errc::unavailable));
  EXPECT_EQ(dump(), before);
}

TEST_P(ChunkDoubtTest, AHolderGoesOnWhenTheStoreIsBack) {
  plan(1);
  const auto held = claim("ann");
  faults_->fail_next(Fault::fail_before_send, 1, "chunk_heartbeat");
  EXPECT_TRUE(fails(broken_chunks().heartbeat("orders", "1", held.token, {.rows = 5}), Errc::unavailable));
  EXPECT_EQ(must(broken_chunks().heartbeat("orders", "1", held.token, {.rows = 5})).rows, 5);
}

TEST_P(ChunkDoubtTest, ATurnWhoseReplyWasLostIsWastedAndNothingMore) {
  faults_->fail_next(Fault::lose_reply, 1, "rate_take");
  const auto slot = must(broken_->rates().take("api", {.every = 1ms}));
  EXPECT_EQ(slot.at, now() + 1ms) << "the first turn was given to an answer that never came";
  EXPECT_EQ(must(store().rates().show("api")).taken, 2);
}

}  // namespace
}  // namespace leasehold::support
