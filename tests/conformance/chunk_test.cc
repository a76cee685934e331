// A sync in chunks, once through: planned, claimed, saved, taken over with its cursor, finished.
#include <gtest/gtest.h>

#include "support/job_helpers.h"
#include "support/store_fixture.h"

namespace leasehold::support {
namespace {

class ChunkTest : public StoreTest {
 protected:
  Chunks chunks() { return store().chunks(); }
  PlanOutcome plan(const std::string& set, std::int64_t count) {
    return must(chunks().plan(set, must(plan_range(1, count, 1))));
  }
  /// The next one.
  Chunk claim(const std::string& set, const std::string& who) {
    return must(chunks().claim(set, {.ttl = 30s}, {.holder = holder(who)})).chunks.at(0);
  }
  ChunkSetState state(const std::string& set) { return must(chunks().progress(set)).state; }
};
LEASEHOLD_ON_BOTH_STORES(ChunkTest);

TEST_P(ChunkTest, PlanningTheSameAgainChangesNothing) {
  const auto first = plan("orders", 3);
  EXPECT_TRUE(first.created);
  EXPECT_EQ(first.added, 3);
  EXPECT_EQ(first.total, 3);
  EXPECT_EQ(first.state, ChunkSetState::planned);
  const auto again = plan("orders", 3);
  EXPECT_FALSE(again.created);
  EXPECT_EQ(again.kept, 3);
  EXPECT_EQ(again.added + again.replaced + again.removed, 0);
}

TEST_P(ChunkTest, APlanOfManyThousandsIsInOrder) {
  ASSERT_EQ(plan("orders", 2500).total, 2500);
  const auto first = must(chunks().list("orders", {.max = 2499}));
  const auto last = must(chunks().list("orders", {.page = first.next.value()}));
  EXPECT_FALSE(last.next);
  ASSERT_EQ(last.size(), 1U);
  EXPECT_EQ(last.front().key, "2500-2500");
  EXPECT_EQ(claim("orders", "ann").key, "1-1");
}

TEST_P(ChunkTest, AFinishedSetSaysEmptyAndComplete) {
  plan("orders", 2);
  for (const auto* key : {"1-1", "2-2"}) {
    const auto chunk = claim("orders", "ann");
    EXPECT_EQ(chunk.key, key);
    EXPECT_EQ(chunk.spec, must(chunks().show("orders", key)).spec);
    const auto settled = must(chunks().complete("orders", key, chunk.token, {.rows = 10}));
    EXPECT_EQ(settled.state, ChunkState::completed);
  }
  const auto done = must(chunks().progress("orders"));
  EXPECT_EQ(done.state, ChunkSetState::complete);
  EXPECT_EQ(done.rows, 20);
  const auto refused = chunks().claim("orders", {.wait = 1h});
  ASSERT_TRUE(fails(refused, Errc::empty)) << "and a claim does not wait in vain";
  EXPECT_FALSE(refused.error().retry_at);
  EXPECT_TRUE(fails(chunks().claim("orders", {.key = "1-1"}), Errc::terminal));
}

TEST_P(ChunkTest, Promise06_ATakeoverContinuesFromTheSavedCursor) {
  plan("orders", 1);
  const auto first = claim("orders", "ann");
  const auto saved =
      must(chunks().heartbeat("orders", first.key, first.token, {.cursor = R"({"page": 3})", .rows = 30}));
  EXPECT_EQ(saved.rows, 30);
  EXPECT_TRUE(fails(chunks().claim("orders", {}, {.holder = holder("bob")}), Errc::held));
  advance(31s);
  const auto second = claim("orders", "bob");
  EXPECT_EQ(second.cursor, R"({"page": 3})") << "byte for byte";
  EXPECT_EQ(second.rows, 30);
  EXPECT_EQ(second.attempt, 2);
  EXPECT_EQ(name_of(second.previous_holder), "ann");
  EXPECT_GT(second.token, first.token);
  EXPECT_TRUE(lost(chunks().heartbeat("orders", first.key, first.token, {.rows = 40}), LostReason::superseded));
  EXPECT_EQ(must(chunks().show("orders", first.key)).rows, 30) << "a late save changes nothing";
}

TEST_P(ChunkTest, Promise07_AChunkThatFailsTooOftenLeavesTheSetPartial) {
  const std::vector<PlannedChunk> bad = {{"bad", "1"}};
  must(chunks().plan("orders", bad, {.settings = {.max_failures = 2, .backoff_base = 10s}}));
  const auto first = claim("orders", "ann");
  const auto deferred = must(chunks().fail("orders", "bad", first.token, "no route"));
  EXPECT_EQ(deferred.state, ChunkState::deferred);
  const auto early = chunks().claim("orders");
  ASSERT_TRUE(fails(early, Errc::empty));
  EXPECT_EQ(early.error().retry_in, Duration(10s));
  advance(10s);
  const auto last = must(chunks().fail("orders", "bad", claim("orders", "ann").token, "no route"));
  EXPECT_EQ(last.state, ChunkState::exhausted);
  EXPECT_EQ(must(chunks().progress("orders")).summary(), "partial 0/1 (1 exhausted)");
  EXPECT_EQ(must(chunks().reset("orders", {})).reset, 1);
  EXPECT_EQ(claim("orders", "bob").key, "bad");
}

TEST_P(ChunkTest, ALoadersLeaseHoldsWhatIsAttachedToItAndGivesItBackWhenClosed) {
  plan("orders", 2);
  const auto lease = must(chunks().open_lease(30s, by("ann")));
  for (int i = 0; i < 2; ++i) {
    const auto grant = must(chunks().claim("orders", {}, {.holder = holder("ann"), .lease = lease}));
    EXPECT_EQ(grant.lease_id, lease.id);
  }
  advance(20s);
  EXPECT_EQ(must(chunks().extend(lease)).expires_at, now() + 30s);
  advance(20s);
  EXPECT_EQ(must(chunks().progress("orders")).running, 2);
  EXPECT_TRUE(ok(chunks().close(lease)));
  EXPECT_EQ(must(chunks().progress("orders")).available, 2);
}

}  // namespace
}  // namespace leasehold::support
