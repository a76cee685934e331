// Planning a set, and planning it again: what is added, replaced, removed, kept and left.
#include <gtest/gtest.h>

#include "support/chunk_fixture.h"

namespace leasehold::support {
namespace {

using Plan = std::vector<PlannedChunk>;

class ChunkPlanTest : public ChunkStoreTest {
 protected:
  std::string spec(const std::string& key) { return chunk(key).spec; }
  bool known(const std::string& key) { return chunks().show("orders", key).ok(); }
};
LEASEHOLD_ON_BOTH_STORES(ChunkPlanTest);

TEST_P(ChunkPlanTest, TheSamePlannerOnlyAddsMissingChunks) {
  plan_as("1", {{"a", "1"}, {"b", "2"}});
  const auto outcome = plan_as("1", {{"b", "2"}, {"c", "3"}});
  EXPECT_EQ(outcome.added, 1);
  EXPECT_EQ(outcome.kept, 1);
  EXPECT_EQ(outcome.removed, 0);
  EXPECT_EQ(outcome.total, 3) << "a is not in this plan, and stays";
  EXPECT_TRUE(known("a"));
}

TEST_P(ChunkPlanTest, AnotherSpecUnderTheSamePlannerIsCountedAndNotTaken) {
  plan_as("1", {{"a", "1"}});
  const auto outcome = plan_as("1", {{"a", "2"}});
  EXPECT_EQ(outcome.differing, 1);
  EXPECT_EQ(outcome.kept + outcome.replaced, 0);
  EXPECT_EQ(spec("a"), "1");
}

TEST_P(ChunkPlanTest, ANewPlannerReplacesWhatWasNotStarted) {
  plan_as("1", {{"a", "1"}, {"b", "2"}, {"c", "3"}});
  const auto before = chunk("a");
  const auto outcome = plan_as("2", {{"b", "22"}, {"a", "1"}});
  EXPECT_EQ(outcome.kept, 1);
  EXPECT_EQ(outcome.replaced, 1);
  EXPECT_EQ(outcome.removed, 1);
  EXPECT_EQ(outcome.total, 2);
  EXPECT_EQ(spec("b"), "22");
  EXPECT_FALSE(known("c"));
  EXPECT_EQ(chunk("a").planner, "2");
  EXPECT_NE(chunk("a").hash, before.hash) << "the hash covers planner, key and spec";
  EXPECT_EQ(claim("ann").key, "b") << "in the order of the new plan";
}

TEST_P(ChunkPlanTest, AFinishedChunkThatStillMatchesIsKept) {
  plan_as("1", {{"a", "1"}});
  load("a", 10);
  const auto outcome = plan_as("2", {{"a", "1"}});
  EXPECT_EQ(outcome.kept, 1);
  EXPECT_EQ(outcome.state, ChunkSetState::complete);
  EXPECT_EQ(chunk("a").rows, 10);
  EXPECT_EQ(chunk("a").planner, "2");
}

TEST_P(ChunkPlanTest, AFinishedChunkThatHasChangedStartsAnew) {
  plan_as("1", {{"a", "1"}});
  load("a", 10);
  const auto before = chunk("a").token;
  const auto outcome = plan_as("2", {{"a", "11"}});
  EXPECT_EQ(outcome.replaced, 1);
  EXPECT_EQ(outcome.state, ChunkSetState::planned);
  const auto fresh = chunk("a");
  EXPECT_EQ(fresh.state, ChunkState::available);
  EXPECT_EQ(fresh.rows, 0);
  EXPECT_EQ(fresh.attempts, 0);
  EXPECT_FALSE(fresh.cursor || fresh.synced_at);
  EXPECT_GT(claim("ann").token, before) << "Promise 3: tokens only grow, whatever is planned";
}

TEST_P(ChunkPlanTest, AFinishedChunkThatIsNotInThePlanIsRemoved) {
  plan_as("1", {{"a", "1"}, {"b", "2"}});
  load("a", 10);
  const auto outcome = plan_as("2", {{"b", "2"}});
  EXPECT_EQ(outcome.removed, 1);
  EXPECT_FALSE(known("a"));
  EXPECT_EQ(progress().rows, 0);
}

TEST_P(ChunkPlanTest, AChunkInProgressIsNotChanged) {
  plan_as("1", {{"same", "1"}, {"changed", "2"}, {"gone", "3"}});
  const auto held = claim_many("ann", 3);
  const auto outcome = plan_as("2", {{"same", "1"}, {"changed", "22"}});
  EXPECT_EQ(outcome.kept, 1);
  EXPECT_EQ(outcome.left, 2) << "one with another spec, one that is not in the plan";
  EXPECT_EQ(outcome.replaced + outcome.removed, 0);
  EXPECT_EQ(outcome.total, 3);
  EXPECT_EQ(spec("changed"), "2");
  for (const auto& chunk : held.chunks) EXPECT_TRUE(ok(complete(chunk)));
}

TEST_P(ChunkPlanTest, AChunkThatBeganAndWasReleasedIsNotChangedEither) {
  plan_as("1", {{"a", "1"}});
  ASSERT_TRUE(ok(release(claim("ann"), {.cursor = "7", .rows = 7})));
  EXPECT_EQ(plan_as("2", {{"a", "11"}}).left, 1);
  EXPECT_EQ(claim("bob").cursor, "7");
}

TEST_P(ChunkPlanTest, ALaterPlanHandlesTheChunksThatWereLeft) {
  plan_as("1", {{"changed", "1"}, {"gone", "2"}});
  const auto held = claim_many("ann", 2);
  plan_as("2", {{"changed", "11"}});
  for (const auto& chunk : held.chunks) ASSERT_TRUE(ok(complete(chunk)));
  const auto outcome = plan_as("2", {{"changed", "11"}});
  EXPECT_EQ(outcome.replaced, 1);
  EXPECT_EQ(outcome.removed, 1);
  EXPECT_EQ(outcome.total, 1);
  EXPECT_EQ(spec("changed"), "11");
}

TEST_P(ChunkPlanTest, AnExhaustedChunkIsFinished) {
  plan_as("1", {{"same", "1"}, {"changed", "2"}});
  ASSERT_TRUE(ok(fail(claim_key("ann", "same"), Verdict::fail_finally())));
  ASSERT_TRUE(ok(fail(claim_key("ann", "changed"), Verdict::fail_finally())));
  const auto outcome = plan_as("2", {{"same", "1"}, {"changed", "22"}});
  EXPECT_EQ(outcome.kept, 1);
  EXPECT_EQ(outcome.replaced, 1);
  EXPECT_EQ(state("same"), ChunkState::exhausted);
  EXPECT_EQ(state("changed"), ChunkState::available);
}

TEST_P(ChunkPlanTest, APlanOfNothingIsComplete) {
  const auto outcome = plan_as("1", {});
  EXPECT_TRUE(outcome.created);
  EXPECT_EQ(outcome.total, 0);
  EXPECT_EQ(outcome.state, ChunkSetState::complete);
  EXPECT_TRUE(fails(try_claim("ann"), Errc::empty));
}

TEST_P(ChunkPlanTest, ANewPlannerThatPlansNothingRemovesEverything) {
  plan_as("1", {{"a", "1"}, {"b", "2"}});
  const auto outcome = plan_as("2", {});
  EXPECT_EQ(outcome.removed, 2);
  EXPECT_EQ(outcome.state, ChunkSetState::complete);
}

TEST_P(ChunkPlanTest, OmittedSettingsStayAsTheyWere) {
  plan(1, {.max_failures = 7, .default_ttl = 9min});
  ASSERT_TRUE(ok(chunks().set("orders", {.backoff_base = 5s})));
  plan(1, {.max_crashes = 2});
  const auto set = progress();
  EXPECT_EQ(set.max_failures, 7);
  EXPECT_EQ(set.max_crashes, 2);
  EXPECT_EQ(set.backoff_base, Duration(5s));
  EXPECT_EQ(set.backoff_max, Duration(30s));
  EXPECT_EQ(set.default_ttl, Duration(9min));
  EXPECT_TRUE(fails(chunks().set("nothing", {.max_failures = 1}), Errc::not_found));
}

TEST_P(ChunkPlanTest, SpecsAreKeptByteForByte) {
  const std::string odd = " {\"b\" : 1.50,\t\"a\":\"\\u00e4 ä\"}";
  plan_as("1", {{"a", odd}});
  EXPECT_EQ(spec("a"), odd);
  EXPECT_EQ(claim("ann").spec, odd);
  EXPECT_EQ(plan_as("1", {{"a", odd}}).kept, 1);
}

TEST_P(ChunkPlanTest, Promise12_APlanIsAnEvent) {
  plan(3);
  const auto events = must(store().events({.key = "orders"}));
  ASSERT_EQ(events.size(), 1U);
  EXPECT_EQ(events[0].kind, "chunks");
  EXPECT_EQ(events[0].what, "planned");
  EXPECT_NE(events[0].detail.find("3 chunks"), std::string::npos) << events[0].detail;
}

}  // namespace
}  // namespace leasehold::support
