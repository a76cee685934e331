// Failing, backing off, being exhausted; and what operators do about it: reset and skip. Promise 7.
#include <gtest/gtest.h>

#include "support/chunk_fixture.h"

namespace leasehold::support {
namespace {

class ChunkRetryTest : public ChunkStoreTest {
 protected:
  void exhaust(const std::string& key, const ChunkSave& save = {}) {
    ASSERT_TRUE(ok(fail(claim_key("ann", key), {.kind = Verdict::Kind::fail,
                                                .text = "no route",
                                                .retryable = false,
                                                .cursor = save.cursor,
                                                .rows = save.rows})));
  }
  ChunkResetOutcome reset(const ChunkReset& which) { return must(chunks().reset("orders", which)); }
  using Which = ChunkReset::Which;
};
LEASEHOLD_ON_BOTH_STORES(ChunkRetryTest);

TEST_P(ChunkRetryTest, TheBackoffDoublesUpToItsMost) {
  plan(1, {.max_failures = 100});
  for (const auto pause : {2s, 4s, 8s, 16s, 30s, 30s, 30s}) {
    EXPECT_EQ(must(fail(claim("ann"))).due_at, now() + pause);
    advance(pause - 1us);
    EXPECT_TRUE(fails(try_claim("ann"), Errc::empty));
    advance(1us);
  }
}

TEST_P(ChunkRetryTest, TheBackoffOfManyFailuresIsNoOverflow) {
  plan(1, {.max_failures = 1000, .backoff_base = 24h, .backoff_max = 240h});
  for (int i = 0; i < 70; ++i) must(fail(claim_key("ann", "1")));
  EXPECT_EQ(chunk("1").due_at, now() + 240h);
  EXPECT_EQ(chunk("1").failures, 70);
}

TEST_P(ChunkRetryTest, EachSetHasItsOwnBackoff) {
  plan(1, {.max_failures = 5, .backoff_base = 1min, .backoff_max = 90s});
  EXPECT_EQ(must(fail(claim_key("ann", "1"))).due_at, now() + 1min);
  EXPECT_EQ(must(fail(claim_key("ann", "1"))).due_at, now() + 90s);
  EXPECT_EQ(must(fail(claim_key("ann", "1"), Verdict::retry_in(5s))).due_at, now() + 5s) << "or as the holder says";
  const auto at_once = must(fail(claim_key("ann", "1"), Verdict::retry_in(0s)));
  EXPECT_EQ(at_once.state, ChunkState::available);
  EXPECT_FALSE(at_once.due_at);
}

TEST_P(ChunkRetryTest, Promise07_ThreeFailuresAndItIsExhausted) {
  plan(1);
  for (int i = 1; i <= 2; ++i) {
    EXPECT_EQ(must(fail(claim_key("ann", "1"), Verdict::fail("no route"))).state, ChunkState::deferred);
    EXPECT_EQ(chunk("1").failures, i);
  }
  const auto last =
      must(fail(claim_key("ann", "1"), {.kind = Verdict::Kind::fail, .text = "still none", .cursor = "3", .rows = 30}));
  EXPECT_EQ(last.state, ChunkState::exhausted);
  EXPECT_EQ(last.set_state, ChunkSetState::partial);
  EXPECT_FALSE(last.due_at);
  const auto dead = chunk("1");
  EXPECT_EQ(dead.error, "still none");
  EXPECT_EQ(dead.cursor, "3") << "a verdict may carry how far it got";
  EXPECT_EQ(dead.rows, 30);
}

TEST_P(ChunkRetryTest, Promise07_AReleaseCostsNothing) {
  plan(1, {.max_failures = 1, .max_crashes = 1});
  for (int i = 0; i < 5; ++i) EXPECT_EQ(must(release(claim("ann"), {.rows = i})).state, ChunkState::available);
  EXPECT_EQ(chunk("1").failures + chunk("1").crashes, 0);
  EXPECT_EQ(chunk("1").attempts, 5);
  EXPECT_EQ(chunk("1").rows, 4);
}

TEST_P(ChunkRetryTest, FailuresAndCrashesAreCountedApart) {
  plan(1, {.max_failures = 2, .max_crashes = 2});
  must(fail(claim_key("ann", "1")));
  crash("1");
  EXPECT_EQ(chunk("1").failures, 1);
  EXPECT_EQ(chunk("1").crashes, 1);
  EXPECT_EQ(must(fail(claim_key("ann", "1"))).state, ChunkState::exhausted);
}

TEST_P(ChunkRetryTest, CompletingClearsTheError) {
  plan(1);
  must(fail(claim_key("ann", "1"), Verdict::fail("no route")));
  EXPECT_EQ(chunk("1").error, "no route");
  ASSERT_TRUE(ok(complete(claim_key("ann", "1"))));
  EXPECT_EQ(chunk("1").error, "");
}

TEST_P(ChunkRetryTest, ALongErrorIsCutShort) {
  plan(1);
  must(fail(claim("ann"), Verdict::fail(std::string(100'000, 'x'))));
  EXPECT_EQ(chunk("1").error.size(), 64U * 1024);
}

TEST_P(ChunkRetryTest, AResetOfFailedOnesGoesOnFromTheirCursors) {
  plan(3);
  exhaust("1", {.cursor = "4", .rows = 40});
  load("2", 20);
  EXPECT_EQ(reset({}).reset, 1);
  const auto again = claim("ann");
  EXPECT_EQ(again.key, "1");
  EXPECT_EQ(again.cursor, "4");
  EXPECT_EQ(again.rows, 40);
  EXPECT_EQ(again.attempt, 1);
  const auto info = chunk("1");
  EXPECT_EQ(info.failures, 0) << "fresh budgets";
  EXPECT_EQ(info.error, "");
  EXPECT_EQ(state("2"), ChunkState::completed);
}

TEST_P(ChunkRetryTest, AResetFromTheStartForgetsTheCursor) {
  plan(1);
  exhaust("1", {.cursor = "4", .rows = 40});
  reset({.from_start = true});
  EXPECT_FALSE(claim("ann").cursor);
  EXPECT_EQ(progress().rows, 0);
}

TEST_P(ChunkRetryTest, AResetOfCompletedOnesBeginsAnewAndRemembersWhenTheyWereSynced) {
  plan(1);
  ASSERT_TRUE(ok(complete(claim("ann"), {.cursor = "9", .rows = 90})));
  const auto synced = now();
  advance(1h);
  EXPECT_EQ(reset({.which = Which::keys, .keys = {"1"}}).reset, 1);
  const auto open = chunk("1");
  EXPECT_EQ(open.state, ChunkState::available);
  EXPECT_EQ(open.rows, 0);
  EXPECT_FALSE(open.cursor || open.finished_at);
  EXPECT_EQ(open.synced_at, synced);
  EXPECT_EQ(progress().state, ChunkSetState::planned);
}

TEST_P(ChunkRetryTest, AResetOfWhatIsOlder) {
  plan(3);
  load("1");
  advance(1h);
  load("2");
  EXPECT_EQ(reset({.which = Which::older, .older_than = 1h}).reset, 1);
  EXPECT_EQ(state("1"), ChunkState::available);
  EXPECT_EQ(state("2"), ChunkState::completed);
}

TEST_P(ChunkRetryTest, AResetByKeyReportsRunningAndUnknownChunks) {
  plan(3);
  const auto held = claim("ann");
  exhaust("2");
  const auto outcome = reset({.which = Which::keys, .keys = {"1", "2", "nothing", "nothing"}});
  EXPECT_EQ(outcome.reset, 1);
  EXPECT_EQ(outcome.running, 1);
  EXPECT_EQ(outcome.missing, 1);
  EXPECT_TRUE(ok(save(held, {.rows = 1}))) << "a held chunk is not reset";
  EXPECT_TRUE(fails(chunks().reset("nothing", {}), Errc::not_found));
}

TEST_P(ChunkRetryTest, AResetOfEverything) {
  plan(4);
  load("1");
  exhaust("2");
  ASSERT_TRUE(ok(chunks().skip("orders", "3", "not needed")));
  claim("ann");
  const auto outcome = reset({.which = Which::all});
  EXPECT_EQ(outcome.reset, 3);
  EXPECT_EQ(outcome.running, 1);
  EXPECT_EQ(progress().available, 3);
}

TEST_P(ChunkRetryTest, AnExpiredHolderStillHoldsUntilATakeover) {
  plan(1);
  const auto held = claim("ann");
  advance(1h);
  EXPECT_EQ(reset({.which = Which::all}).running, 1);
  EXPECT_TRUE(fails(chunks().skip("orders", "1", "why"), Errc::held));
  EXPECT_TRUE(ok(complete(held)));
}

TEST_P(ChunkRetryTest, AnOperatorSkipsFreeChunks) {
  plan(2);
  EXPECT_EQ(must(chunks().skip("orders", "1", "no such month")), ChunkState::skipped);
  EXPECT_EQ(chunk("1").note, "no such month");
  EXPECT_TRUE(fails(chunks().skip("orders", "1", "again"), Errc::terminal));
  EXPECT_TRUE(fails(chunks().skip("orders", "nothing", "why"), Errc::not_found));
  claim("ann");
  const auto held = chunks().skip("orders", "2", "why");
  ASSERT_TRUE(fails(held, Errc::held));
  EXPECT_EQ(held.error().held_by->holder.name, "ann");
}

TEST_P(ChunkRetryTest, AHolderSkipsItsOwn) {
  plan(1);
  const auto settled = must(skip(claim("ann"), "nothing in it"));
  EXPECT_EQ(settled.state, ChunkState::skipped);
  EXPECT_EQ(settled.set_state, ChunkSetState::complete);
  EXPECT_EQ(chunk("1").note, "nothing in it");
  EXPECT_FALSE(chunk("1").synced_at) << "it was not loaded";
}

TEST_P(ChunkRetryTest, AnOperatorsSkipIsNotTheHoldersVerdict) {
  plan(1);
  const auto released = claim("ann");
  must(release(released));
  must(chunks().skip("orders", "1", "not needed"));
  EXPECT_TRUE(lost(skip(released, "mine"), LostReason::finished));
  EXPECT_EQ(chunk("1").note, "not needed");
}

}  // namespace
}  // namespace leasehold::support
