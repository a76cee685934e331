// The answers about a set, and the separation of sets.
#include <gtest/gtest.h>

#include "support/chunk_fixture.h"

namespace leasehold::support {
namespace {

class ChunkSetTest : public ChunkStoreTest {};
LEASEHOLD_ON_BOTH_STORES(ChunkSetTest);

TEST_P(ChunkSetTest, TheStateIsNeverCompleteWithAChunkOpenOrExhausted) {
  plan(3);
  EXPECT_EQ(progress().state, ChunkSetState::planned);
  const auto first = claim("ann");
  EXPECT_EQ(progress().state, ChunkSetState::running);
  EXPECT_EQ(must(complete(first)).set_state, ChunkSetState::running);
  must(chunks().skip("orders", "2", "not needed"));
  const auto last = claim("ann");
  advance(1h);
  EXPECT_EQ(progress().state, ChunkSetState::running) << "an expired one is open";
  must(fail(last, Verdict::fail_finally()));
  EXPECT_EQ(progress().state, ChunkSetState::partial);
  EXPECT_EQ(progress().summary(), "partial 2/3 (1 exhausted)");
  must(chunks().reset("orders", {}));
  EXPECT_EQ(progress().state, ChunkSetState::running);
  ASSERT_TRUE(ok(complete(claim("ann"))));
  EXPECT_EQ(progress().state, ChunkSetState::complete);
  EXPECT_EQ(progress().summary(), "complete");
}

TEST_P(ChunkSetTest, ASetThatWasGivenBackUntouchedIsStillRunning) {
  plan(1);
  must(release(claim("ann")));
  EXPECT_EQ(progress().state, ChunkSetState::running);
}

TEST_P(ChunkSetTest, EveryChunkIsInOneOfTheCounts) {
  plan(8);
  load("1", 10);
  must(chunks().skip("orders", "2", "not needed"));
  must(fail(claim_key("ann", "3"), Verdict::fail_finally().with_rows(3)));
  must(fail(claim_key("ann", "4"), Verdict::retry_in(1h)));
  must(chunks().claim("orders", {.key = "5", .ttl = 1s}, {.holder = holder("ann")}));
  advance(2s);
  ASSERT_TRUE(ok(save(claim_key("bob", "6"), {.rows = 6})));
  must(release(claim_key("bob", "7"), {.rows = 7}));
  const auto set = progress();
  EXPECT_EQ(set.total, 8);
  EXPECT_EQ(set.completed, 1);
  EXPECT_EQ(set.skipped, 1);
  EXPECT_EQ(set.exhausted, 1);
  EXPECT_EQ(set.deferred, 1);
  EXPECT_EQ(set.available, 3) << "the expired one was taken back by the claims after it";
  EXPECT_EQ(set.running, 1);
  EXPECT_EQ(set.rows, 10 + 3 + 6 + 7) << "saved ones count, finished or not";
  EXPECT_EQ(set.attempts, 6);
  EXPECT_EQ(set.final_chunks(), 3);
  EXPECT_EQ(set.store_now, now());
  EXPECT_FALSE(set.finished_at);
}

TEST_P(ChunkSetTest, TheTimesOfASet) {
  const auto planned = now();
  plan(2);
  advance(1min);
  const auto started = now();
  load("1");
  advance(1min);
  load("2");
  const auto set = progress();
  EXPECT_EQ(set.planned_at, planned);
  EXPECT_EQ(set.started_at, started);
  EXPECT_EQ(set.finished_at, now());
  EXPECT_EQ(set.oldest_sync, started);
}

TEST_P(ChunkSetTest, EqualChunksInTwoSetsHaveNothingToDoWithEachOther) {
  plan(1);
  plan_numbers(chunks(), "orders-2", 1);
  const auto other = [&] { return show(chunks(), "orders-2", "1"); };
  EXPECT_EQ(other().hash, chunk("1").hash);
  const auto held = claim("ann");
  ASSERT_TRUE(ok(save(held, {.cursor = "1", .rows = 10})));
  EXPECT_EQ(other().state, ChunkState::available);
  EXPECT_TRUE(fails(chunks().complete("orders-2", "1", held.token), Errc::lost)) << "a token is of one chunk";
  ASSERT_TRUE(ok(complete(held)));
  EXPECT_EQ(other().rows, 0);
  EXPECT_EQ(must(chunks().progress("orders-2")).state, ChunkSetState::planned);
  must(chunks().reset("orders-2", {.which = ChunkReset::Which::all, .from_start = true}));
  must(chunks().remove("orders-2"));
  EXPECT_EQ(chunk("1").rows, 10);
  EXPECT_EQ(progress().state, ChunkSetState::complete);
}

TEST_P(ChunkSetTest, SetsAreListedByName) {
  plan_numbers(chunks(), "b", 1);
  plan_numbers(chunks(), "a", 2);
  const auto sets = must(chunks().sets());
  ASSERT_EQ(sets.size(), 2U);
  EXPECT_EQ(sets[0].name + sets[1].name, "ab");
  EXPECT_EQ(sets[0].total, 2);
}

TEST_P(ChunkSetTest, ChunksAreListedInThePlansOrderByStateAndInPages) {
  plan(12);
  load("11");
  load("2");
  const auto completed = must(chunks().list("orders", {.state = ChunkState::completed}));
  ASSERT_EQ(completed.size(), 2U);
  EXPECT_EQ(completed[0].key, "2");
  EXPECT_EQ(completed[1].key, "11");
  const auto first = must(chunks().list("orders", {.max = 4}));
  const auto page = must(chunks().list("orders", {.max = 2, .page = first.next.value()}));
  ASSERT_EQ(page.size(), 2U);
  EXPECT_EQ(page[0].key, "5");
  EXPECT_EQ(page[1].key, "6");
  EXPECT_EQ(must(chunks().list("orders", {.state = ChunkState::exhausted})).size(), 0U);
  EXPECT_TRUE(fails(chunks().list("nothing"), Errc::not_found));
  EXPECT_TRUE(fails(chunks().progress("nothing"), Errc::not_found));
}

TEST_P(ChunkSetTest, AChunkShowsItsHolder) {
  plan(1);
  claim("ann");
  const auto held = chunk("1");
  EXPECT_EQ(name_of(held.holder) + " " + host_of(held.holder) + " " + held.holder->tty, "ann host-of-ann pts/7");
  EXPECT_EQ(held.holder->pid, 4711);
  EXPECT_EQ(held.expires_at, now() + 30s);
  EXPECT_EQ(held.heartbeat_at, now());
}

TEST_P(ChunkSetTest, TheViewOfLeasesShowsChunks) {
  plan(2);
  claim_many("ann", 2);
  EXPECT_EQ(under_test().scalar("SELECT count(*) FROM " + under_test().view("leases") +
                                " WHERE kind = 'chunk' AND key IN ('orders/1', 'orders/2') AND holder = 'ann'"),
            "2");
  EXPECT_EQ(status_of(store()).held_leases, 2);
}

TEST_P(ChunkSetTest, AnIdleSetIsRemoved) {
  plan(3);
  const auto held = claim("ann");
  EXPECT_TRUE(fails(chunks().remove("orders"), Errc::held));
  advance(1h);
  EXPECT_TRUE(fails(chunks().remove("orders"), Errc::held)) << "also while its holder may still come with a verdict";
  ASSERT_TRUE(ok(complete(held)));
  EXPECT_EQ(must(chunks().remove("orders")), 3);
  EXPECT_TRUE(fails(chunks().progress("orders"), Errc::not_found));
  EXPECT_TRUE(fails(chunks().remove("orders"), Errc::not_found));
  EXPECT_TRUE(fails(complete(held), Errc::not_found));
  EXPECT_EQ(under_test().scalar("SELECT count(*) FROM " + under_test().table("chunk")), "0");
}

TEST_P(ChunkSetTest, PruneForgetsEndedLeasesAndNoChunk) {
  plan(3);
  load("1", 10);
  const auto held = claim("ann", 240h);
  const auto lease = must(chunks().open_lease(1s, by("bob")));
  const auto expired = must(chunks().claim("orders", {}, {.holder = holder("bob"), .lease = lease})).chunks.at(0);
  advance(48h);
  EXPECT_EQ(must(store().prune(1h)).leases, 1) << "that of the completed chunk";
  EXPECT_EQ(chunk("1").rows, 10);
  EXPECT_TRUE(ok(save(held)));
  EXPECT_TRUE(ok(complete(expired))) << "no loader took it over";
  EXPECT_EQ(progress().total, 3);
}

}  // namespace
}  // namespace leasehold::support
