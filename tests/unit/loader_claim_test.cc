// The claims of a loader, and its end.
#include <gtest/gtest.h>

#include <atomic>

#include "support/loader_fixture.h"

namespace leasehold::support {
namespace {

Verdict complete(const Chunk&, ChunkContext&) { return Verdict::complete(); }

class LoaderClaimTest : public LoaderRuntimeTest {};

TEST_F(LoaderClaimTest, EveryChunkIsLoadedOnceAndTheLoaderEndsWithTheSet) {
  Keys keys;
  for (int i = 0; i < 20; ++i) keys.push_back(std::to_string(i));
  plan(keys);
  RunningLoader loader(fragile(), complete, {.concurrency = 3});
  const auto summary = loader.finish();
  ASSERT_TRUE(ok(summary));
  EXPECT_EQ(summary->claimed, 20);
  EXPECT_EQ(summary->completed, 20);
  ASSERT_TRUE(summary->refusal.has_value());
  EXPECT_EQ(summary->refusal->code, Errc::empty);
  ASSERT_TRUE(summary->set.has_value());
  EXPECT_EQ(summary->set->state, ChunkSetState::complete);
  for (const auto& key : keys) {
    EXPECT_EQ(chunk(key).state, ChunkState::completed);
    EXPECT_EQ(chunk(key).attempts, 1);
  }
  EXPECT_EQ(leases("loader").size(), 1U);
  EXPECT_EQ(leases("loader", true), leases("loader"));
}

TEST_F(LoaderClaimTest, AllThreadsWorkAtOnce) {
  plan({"1", "2", "3"});
  std::atomic<int> running{0};
  Gate all;
  RunningLoader loader(fragile(),
                       [&](const Chunk&, ChunkContext&) {
                         if (++running == 3) all.open();
                         return all.wait() ? Verdict::complete() : Verdict::fail("alone");
                       },
                       {.concurrency = 3});
  const auto summary = loader.finish();
  ASSERT_TRUE(ok(summary));
  EXPECT_EQ(summary->completed, 3);
}

TEST_F(LoaderClaimTest, ItWaitsForWhatOthersMayGiveBack) {
  plan({"a"});
  hold("a");
  RunningLoader loader(fragile(), complete, {.concurrency = 2});
  ASSERT_TRUE(eventually([&] { return waits() >= 1; }));
  give_back();
  const auto summary = loader.finish();
  ASSERT_TRUE(ok(summary));
  EXPECT_EQ(summary->completed, 1);
}

TEST_F(LoaderClaimTest, AStopEndsTheWaitingOfAllThreads) {
  plan({"a"});
  hold("a");
  RunningLoader loader(fragile(), complete, {.concurrency = 4});
  ASSERT_TRUE(eventually([&] { return waits() >= 1; }));
  const auto before = BootClock::now();
  const auto summary = loader.stop_and_finish();
  EXPECT_LT(BootClock::now() - before, 5s);
  ASSERT_TRUE(ok(summary));
  EXPECT_EQ(summary->claimed, 0);
  EXPECT_FALSE(summary->refusal.has_value());
  EXPECT_EQ(leases("loader", true), leases("loader"));
}

TEST_F(LoaderClaimTest, OnceIsOneChunk) {
  plan({"a", "b"});
  RunningLoader loader(fragile(), complete, {.concurrency = 4, .once = true});
  const auto summary = loader.finish();
  ASSERT_TRUE(ok(summary));
  EXPECT_EQ(summary->claimed, 1);
  EXPECT_EQ(summary->completed, 1);
}

TEST_F(LoaderClaimTest, OnceDoesNotWait) {
  plan({"a"});
  hold("a");
  RunningLoader loader(fragile(), complete, {.once = true});
  const auto summary = loader.finish();
  ASSERT_TRUE(ok(summary));
  EXPECT_EQ(summary->claimed, 0);
  ASSERT_TRUE(summary->refusal.has_value());
  EXPECT_EQ(summary->refusal->code, Errc::held);
  EXPECT_EQ(waits(), 0);
}

// A call asks five times by itself before it says `busy`.
TEST_F(LoaderClaimTest, ABusySetIsAskedAgain) {
  plan({"a"});
  faults().refuse_next({.code = Errc::busy, .message = "others are claiming"}, 6, "chunk_claim");
  RunningLoader loader(fragile(), complete, {.once = true});
  const auto summary = loader.finish();
  ASSERT_TRUE(ok(summary));
  EXPECT_EQ(summary->completed, 1);
}

TEST_F(LoaderClaimTest, ClaimsAreAskedForAgainWhenTheStoreIsBack) {
  plan({"a"});
  faults().fail_next(Fault::fail_before_send, 3, "chunk_claim");
  std::atomic<int> troubles{0};
  RunningLoader loader(fragile(), complete, {.on_trouble = [&](const Error&) { ++troubles; }});
  const auto summary = loader.finish();
  ASSERT_TRUE(ok(summary));
  EXPECT_EQ(summary->completed, 1);
  EXPECT_EQ(troubles, 3);
}

TEST_F(LoaderClaimTest, AnErrorThatARetryCannotFixEndsTheLoader) {
  plan({"a"});
  faults().refuse_next({.code = Errc::denied, .message = "not for you"}, 1, "chunk_claim");
  RunningLoader loader(fragile(), complete, {.concurrency = 3});
  EXPECT_TRUE(fails(loader.finish(), Errc::denied));
  EXPECT_EQ(leases("loader", true), leases("loader"));
}

TEST_F(LoaderClaimTest, AChunkThatWasClaimedWithoutAnAnswerComesBack) {
  plan({"a"});
  leave_in_doubt("chunk_claim");
  RunningLoader loader(fragile(), complete, {});
  const auto summary = loader.finish();
  ASSERT_TRUE(ok(summary));
  EXPECT_EQ(summary->completed, 1);
  EXPECT_EQ(leases("loader").size(), 2U);
}

// Only the chunk of the claim in doubt is left, and a handler still works under the lease that holds it.
TEST_F(LoaderClaimTest, TheLeaseOfAClaimInDoubtIsClosedWhenItsLastHandlerIsDone) {
  plan({"known"});
  Gate end;
  RunningLoader loader(fragile(),
                       [&](const Chunk& chunk, ChunkContext&) {
                         return chunk.key != "known" || end.wait() ? Verdict::complete() : Verdict::release();
                       },
                       {.concurrency = 2});
  ASSERT_TRUE(eventually([&] { return waits() >= 1; }));
  leave_in_doubt("chunk_claim");
  plan({"known", "unknown"});
  ASSERT_TRUE(eventually([&] { return leases("loader").size() == 2; })) << "one for what comes next";
  const auto before = waits();
  ASSERT_TRUE(eventually([&] { return waits() > before; })) << "for its own loader, without knowing it";
  EXPECT_EQ(chunk("unknown").state, ChunkState::running);
  EXPECT_TRUE(leases("loader", true).empty());
  end.open();
  const auto summary = loader.finish();
  ASSERT_TRUE(ok(summary));
  EXPECT_EQ(summary->completed, 2);
}

TEST_F(LoaderClaimTest, HowTheSetIsIsAskedUntilTheStoreAnswers) {
  plan({"a"});
  std::atomic<int> troubles{0};
  RunningLoader loader(fragile(),
                       [&](const Chunk&, ChunkContext&) {
                         faults().fail_next(Fault::fail_before_send, 2, "chunk_set_list");
                         return Verdict::complete();
                       },
                       {.on_trouble = [&](const Error&) { ++troubles; }});
  const auto summary = loader.finish();
  ASSERT_TRUE(ok(summary));
  EXPECT_TRUE(summary->set.has_value());
  EXPECT_EQ(troubles, 2);
}

}  // namespace
}  // namespace leasehold::support
