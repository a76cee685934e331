// Holders that come late or twice: which acts are accepted, which are lost, and that a lost act changes nothing.
// Promises 4, 5 and 15.
#include <gtest/gtest.h>

#include "support/chunk_fixture.h"

namespace leasehold::support {
namespace {

class ChunkLateTest : public ChunkStoreTest {
 protected:
  /// Every act of a holder, each with a change.
  void everything_is_lost(const Chunk& late, LostReason why) {
    const auto before = dump();
    const ChunkSave news{.cursor = "999", .rows = 999};
    EXPECT_TRUE(lost(save(late, news), why));
    EXPECT_TRUE(lost(save(late), why));
    EXPECT_TRUE(lost(complete(late, news), why));
    EXPECT_TRUE(
        lost(fail(late, {.kind = Verdict::Kind::fail, .text = "late", .cursor = news.cursor, .rows = news.rows}), why));
    EXPECT_TRUE(lost(release(late, news), why));
    EXPECT_TRUE(lost(skip(late, "late"), why));
    EXPECT_EQ(dump(), before) << "counters, cursor and lease stay as they were";
  }
};
LEASEHOLD_ON_BOTH_STORES(ChunkLateTest);

TEST_P(ChunkLateTest, Promise04_AfterATakeoverNothingOfTheFormerHolderCounts) {
  plan(1);
  const auto late = claim("ann");
  ASSERT_TRUE(ok(save(late, {.cursor = "1", .rows = 10})));
  advance(30s);
  const auto next = claim("bob");
  everything_is_lost(late, LostReason::superseded);
  ASSERT_TRUE(ok(save(next, {.cursor = "2", .rows = 20})));
  everything_is_lost(late, LostReason::superseded);
  ASSERT_TRUE(ok(complete(next, {.rows = 30})));
  everything_is_lost(late, LostReason::superseded);
  EXPECT_EQ(progress().rows, 30);
}

TEST_P(ChunkLateTest, Promise04_TheLossShowsThePresentHolder) {
  plan(1);
  const auto late = claim("ann");
  advance(30s);
  claim("bob");
  const auto loss = save(late, {.rows = 1});
  ASSERT_TRUE(fails(loss, Errc::lost));
  ASSERT_TRUE(loss.error().held_by);
  EXPECT_EQ(loss.error().held_by->holder.name, "bob");
  EXPECT_EQ(loss.error().held_by->key, "orders/1");
}

TEST_P(ChunkLateTest, Promise04_AfterARecoveryNothingCountsEither) {
  plan(1);
  const auto late = claim("ann");
  advance(30s);
  ASSERT_TRUE(ok(store().recover()));
  everything_is_lost(late, LostReason::expired);
}

TEST_P(ChunkLateTest, Promise04_AfterTheLoaderClosedNothingCountsEither) {
  plan(1);
  const auto lease = must(chunks().open_lease(30s, by("ann")));
  const auto late = must(chunks().claim("orders", {}, {.holder = holder("ann"), .lease = lease})).chunks.at(0);
  ASSERT_TRUE(ok(chunks().close(lease)));
  everything_is_lost(late, LostReason::expired);
}

TEST_P(ChunkLateTest, Promise04_ATokenThatNeverWas) {
  plan(1);
  auto made_up = claim("ann");
  made_up.token = Token{1};
  everything_is_lost(made_up, LostReason::superseded);
}

TEST_P(ChunkLateTest, UnknownChunksAreNotFound) {
  plan(1);
  auto nothing = claim("ann");
  nothing.key = "2";
  EXPECT_TRUE(fails(save(nothing), Errc::not_found));
  EXPECT_TRUE(fails(complete(nothing), Errc::not_found));
  nothing.set = "nothing";
  EXPECT_TRUE(fails(save(nothing), Errc::not_found));
  EXPECT_TRUE(fails(release(nothing), Errc::not_found));
}

TEST_P(ChunkLateTest, Promise05_AHeartbeatNeverRevivesAndSavesNothingThen) {
  plan(1);
  const auto held = claim("ann");
  for (int i = 1; i <= 3; ++i) {
    advance(30s - 1us);
    ASSERT_TRUE(ok(save(held, {.rows = i})));
  }
  advance(30s);
  const auto before = dump();
  EXPECT_TRUE(lost(save(held, {.cursor = "9", .rows = 9}), LostReason::expired));
  EXPECT_TRUE(lost(save(held), LostReason::expired));
  EXPECT_EQ(dump(), before);
  EXPECT_EQ(chunk("1").rows, 3);
}

TEST_P(ChunkLateTest, AHeartbeatSavesOnlyItsOwnValues) {
  plan(1);
  const auto held = claim("ann");
  ASSERT_TRUE(ok(save(held, {.cursor = "1", .rows = 10})));
  const auto saved_at = now();
  advance(5s);
  EXPECT_EQ(must(save(held)).rows, 10);
  EXPECT_EQ(chunk("1").saved_at, saved_at);
  EXPECT_EQ(chunk("1").expires_at, now() + 30s);
  EXPECT_EQ(must(save(held, {.rows = 12})).rows, 12);
  EXPECT_EQ(chunk("1").cursor, "1");
  ASSERT_TRUE(ok(save(held, {.cursor = "2"})));
  EXPECT_EQ(chunk("1").rows, 12);
  EXPECT_EQ(must(chunks().heartbeat("orders", "1", held.token, {}, 60s)).ttl, Duration(60s));
}

TEST_P(ChunkLateTest, Promise13_ASaveRepeatedCountsOnce) {
  plan(1);
  const auto held = claim("ann");
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(ok(save(held, {.cursor = "1", .rows = 10})));
  EXPECT_EQ(progress().rows, 10);
  EXPECT_EQ(must(save(held, {.rows = 4})).rows, 4) << "a total, not a difference: it may shrink";
}

TEST_P(ChunkLateTest, AVerdictAfterExpiryIsAcceptedUntilATakeover) {
  plan(4);
  const auto completed = claim("ann");
  const auto failed = claim("ann");
  const auto released = claim("ann");
  const auto skipped = claim("ann");
  advance(1h);
  EXPECT_EQ(must(complete(completed, {.rows = 7})).state, ChunkState::completed);
  EXPECT_EQ(must(fail(failed)).state, ChunkState::deferred);
  EXPECT_EQ(must(release(released)).state, ChunkState::available);
  EXPECT_EQ(must(skip(skipped, "empty")).state, ChunkState::skipped);
  for (const auto* key : {"1", "2", "3", "4"}) EXPECT_EQ(chunk(key).crashes, 0) << key;
}

TEST_P(ChunkLateTest, Promise15_TheSameVerdictAgainGetsTheFirstAnswer) {
  plan(4);
  const auto completed = claim("ann");
  const auto failed = claim("ann");
  const auto released = claim("ann");
  const auto skipped = claim("ann");
  must(complete(completed, {.rows = 7}));
  must(fail(failed, Verdict::fail("no route")));
  must(release(released));
  must(skip(skipped, "empty"));
  const auto before = dump();
  const auto again = must(complete(completed, {.rows = 8}));
  EXPECT_TRUE(again.replayed);
  EXPECT_EQ(again.state, ChunkState::completed);
  EXPECT_EQ(again.set_state, ChunkSetState::running);
  const auto failed_again = must(fail(failed, Verdict::fail("another")));
  EXPECT_TRUE(failed_again.replayed);
  EXPECT_EQ(failed_again.due_at, now() + 2s);
  EXPECT_TRUE(must(release(released)).replayed);
  EXPECT_TRUE(must(skip(skipped, "another")).replayed);
  EXPECT_EQ(dump(), before) << "charged once, counted once, reported once";
}

TEST_P(ChunkLateTest, Promise15_AnotherVerdictIsLost) {
  plan(1);
  const auto held = claim("ann");
  must(complete(held, {.rows = 7}));
  const auto before = dump();
  EXPECT_TRUE(lost(fail(held), LostReason::finished));
  EXPECT_TRUE(lost(release(held), LostReason::finished));
  EXPECT_TRUE(lost(skip(held, "late"), LostReason::finished));
  EXPECT_TRUE(lost(save(held, {.rows = 8}), LostReason::finished));
  EXPECT_EQ(dump(), before);
}

TEST_P(ChunkLateTest, Promise04_AfterAResetTheFormerHolderIsStillLost) {
  plan(1);
  const auto late = claim("ann");
  must(complete(late, {.rows = 7}));
  must(chunks().reset("orders", {.which = ChunkReset::Which::all}));
  EXPECT_TRUE(fails(save(late, {.rows = 8}), Errc::lost));
  EXPECT_EQ(chunk("1").rows, 0);
  claim("bob");
  everything_is_lost(late, LostReason::superseded);
}

}  // namespace
}  // namespace leasehold::support
