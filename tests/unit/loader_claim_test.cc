// What a loader claims, and when it ends.
#include <gtest/gtest.h>

#include <atomic>

#include "support/fake_chunk_source.h"
#include "support/running_loader.h"

namespace leasehold::support {
namespace {

using namespace std::chrono_literals;
using Call = FakeChunkSource::Call;

ChunkVerdict complete(const Chunk&, ChunkContext&) { return ChunkVerdict::complete(); }

TEST(LoaderClaimTest, EveryChunkIsLoadedOnceAndTheLoaderEndsWithTheSet) {
  FakeChunkSource source(10s);
  for (int i = 0; i < 20; ++i) source.add(std::to_string(i));
  RunningLoader loader(source, complete, {.concurrency = 3});
  const auto summary = loader.finish();
  ASSERT_TRUE(ok(summary));
  EXPECT_EQ(summary->claimed, 20);
  EXPECT_EQ(summary->completed, 20);
  ASSERT_TRUE(summary->refusal.has_value());
  EXPECT_EQ(summary->refusal->code, Errc::empty);
  ASSERT_TRUE(summary->set.has_value());
  EXPECT_EQ(summary->set->state, ChunkSetState::complete);
  const auto seen = source.seen();
  EXPECT_EQ(seen.verdicts.size(), 20U);
  for (const auto& [key, verdicts] : seen.verdicts) EXPECT_EQ(verdicts, std::vector<std::string>{"complete -"});
  EXPECT_EQ(seen.opened.size(), 1U);
  EXPECT_EQ(seen.closed, seen.opened);
}

TEST(LoaderClaimTest, AllThreadsWorkAtOnce) {
  FakeChunkSource source(10s);
  for (int i = 0; i < 3; ++i) source.add(std::to_string(i));
  std::atomic<int> running{0};
  Gate all;
  RunningLoader loader(source,
                       [&](const Chunk&, ChunkContext&) {
                         if (++running == 3) all.open();
                         return all.wait() ? ChunkVerdict::complete() : ChunkVerdict::fail("alone");
                       },
                       {.concurrency = 3});
  const auto summary = loader.finish();
  ASSERT_TRUE(ok(summary));
  EXPECT_EQ(summary->completed, 3);
}

TEST(LoaderClaimTest, ItWaitsForWhatOthersMayGiveBack) {
  FakeChunkSource source(10s);
  source.add_held("a");
  RunningLoader loader(source, complete, {.concurrency = 2});
  ASSERT_TRUE(source.await([](const auto& seen) { return seen.waits == 1; }));
  source.give_back("a");
  const auto summary = loader.finish();
  ASSERT_TRUE(ok(summary));
  EXPECT_EQ(summary->completed, 1);
}

TEST(LoaderClaimTest, AStopEndsTheWaitingOfAllThreads) {
  FakeChunkSource source(10s);
  source.add_held("a");
  RunningLoader loader(source, complete, {.concurrency = 4});
  ASSERT_TRUE(source.await([](const auto& seen) { return seen.waits == 1; }));
  const auto before = BootClock::now();
  const auto summary = loader.stop_and_finish();
  EXPECT_LT(BootClock::now() - before, 5s);
  ASSERT_TRUE(ok(summary));
  EXPECT_EQ(summary->claimed, 0);
  EXPECT_FALSE(summary->refusal.has_value());
  EXPECT_EQ(source.seen().closed, source.seen().opened);
}

TEST(LoaderClaimTest, OnceIsOneChunk) {
  FakeChunkSource source(10s);
  source.add("a");
  source.add("b");
  RunningLoader loader(source, complete, {.concurrency = 4, .once = true});
  const auto summary = loader.finish();
  ASSERT_TRUE(ok(summary));
  EXPECT_EQ(summary->claimed, 1);
  EXPECT_EQ(summary->completed, 1);
}

TEST(LoaderClaimTest, OnceDoesNotWait) {
  FakeChunkSource source(10s);
  source.add_held("a");
  RunningLoader loader(source, complete, {.once = true});
  const auto summary = loader.finish();
  ASSERT_TRUE(ok(summary));
  EXPECT_EQ(summary->claimed, 0);
  ASSERT_TRUE(summary->refusal.has_value());
  EXPECT_EQ(summary->refusal->code, Errc::held);
  EXPECT_EQ(source.seen().waits, 0);
}

TEST(LoaderClaimTest, ABusySetIsAskedAgain) {
  FakeChunkSource source(10s);
  source.add("a");
  source.fail_with(Call::claim, {.code = Errc::busy, .message = "others are at it"}, 2);
  RunningLoader loader(source, complete, {.once = true});
  const auto summary = loader.finish();
  ASSERT_TRUE(ok(summary));
  EXPECT_EQ(summary->completed, 1);
}

TEST(LoaderClaimTest, ClaimsAreAskedForAgainWhenTheStoreIsBack) {
  FakeChunkSource source(10s);
  source.add("a");
  source.fail_with(Call::claim, away, 3);
  std::atomic<int> troubles{0};
  RunningLoader loader(source, complete, {.on_trouble = [&](const Error&) { ++troubles; }});
  const auto summary = loader.finish();
  ASSERT_TRUE(ok(summary));
  EXPECT_EQ(summary->completed, 1);
  EXPECT_EQ(troubles, 3);
}

TEST(LoaderClaimTest, WhatAskingAgainDoesNotMendEndsTheLoader) {
  FakeChunkSource source(10s);
  source.add("a");
  source.fail_with(Call::claim, {.code = Errc::denied, .message = "not for you"}, 1);
  RunningLoader loader(source, complete, {.concurrency = 3});
  EXPECT_TRUE(fails(loader.finish(), Errc::denied));
  EXPECT_EQ(source.seen().closed, source.seen().opened);
}

TEST(LoaderClaimTest, AChunkThatWasClaimedWithoutAnAnswerComesBack) {
  FakeChunkSource source(10s);
  source.add("a");
  source.lose_next_claim();
  RunningLoader loader(source, complete, {});
  const auto summary = loader.finish();
  ASSERT_TRUE(ok(summary));
  EXPECT_EQ(summary->completed, 1);
  EXPECT_EQ(source.seen().opened.size(), 2U);
}

// The chunk that nobody knows of is all that is left, and somebody works under the lease that holds it.
TEST(LoaderClaimTest, TheLeaseOfAClaimInDoubtIsClosedWhenTheLastWhoWorksUnderItIsDone) {
  FakeChunkSource source(10s);
  source.add("known");
  Gate end;
  RunningLoader loader(source,
                       [&](const Chunk& chunk, ChunkContext&) {
                         return chunk.key != "known" || end.wait() ? ChunkVerdict::complete() : ChunkVerdict::release();
                       },
                       {.concurrency = 2});
  ASSERT_TRUE(source.await([](const auto& seen) { return seen.waits == 1; }));
  source.lose_next_claim();
  source.add("unknown");
  ASSERT_TRUE(source.await([](const auto& seen) { return seen.waits == 2; }))
      << "for its own loader, without knowing it";
  EXPECT_TRUE(source.seen().closed.empty());
  end.open();
  const auto summary = loader.finish();
  ASSERT_TRUE(ok(summary));
  EXPECT_EQ(summary->completed, 2);
}

TEST(LoaderClaimTest, HowTheSetIsIsAskedUntilTheStoreAnswers) {
  FakeChunkSource source(10s);
  source.fail_with(Call::progress, away, 2);
  RunningLoader loader(source, complete, {});
  const auto summary = loader.finish();
  ASSERT_TRUE(ok(summary));
  EXPECT_TRUE(summary->set.has_value());
}

}  // namespace
}  // namespace leasehold::support
