// Promise 9 for loaders: handlers know when to stop, and the loading goes on with the next lease.
#include <gtest/gtest.h>

#include <atomic>

#include "support/fake_chunk_source.h"
#include "support/running_loader.h"

namespace leasehold::support {
namespace {

using namespace std::chrono_literals;
using Call = FakeChunkSource::Call;

TEST(LoaderLeaseTest, OneLeaseIsExtendedForAllChunks) {
  FakeChunkSource source(400ms);
  for (const auto* key : {"a", "b", "c"}) source.add(key);
  Gate end;
  RunningLoader loader(source,
                       [&](const Chunk&, ChunkContext& context) {
                         return end.wait() && !context.stop_requested() ? ChunkVerdict::complete()
                                                                        : ChunkVerdict::fail("stopped");
                       },
                       {.concurrency = 3});
  ASSERT_TRUE(source.await([](const auto& seen) { return seen.beats >= 8; })) << "twice the ttl";
  end.open();
  const auto summary = loader.finish();
  ASSERT_TRUE(ok(summary));
  EXPECT_EQ(summary->completed, 3);
  EXPECT_EQ(source.seen().opened.size(), 1U);
  EXPECT_TRUE(source.seen().heartbeats.empty());
}

TEST(LoaderLeaseTest, ALostLeaseStopsItsChunksAndTheLoadingGoesOnWithAnother) {
  FakeChunkSource source(400ms);
  source.add("a");
  source.add("b");
  std::atomic<int> stopped{0};
  std::atomic<int> begun{0};
  RunningLoader loader(source,
                       [&](const Chunk& chunk, ChunkContext& context) {
                         ++begun;
                         if (chunk.key == "c") return ChunkVerdict::complete();
                         if (wait_for_stop(context) == StopReason::lost) ++stopped;
                         return ChunkVerdict::complete();
                       },
                       {.concurrency = 2});
  ASSERT_TRUE(source.await([&](const auto&) { return begun == 2; }));
  source.lose_lease(source.seen().opened.at(0));
  source.add("c");
  ASSERT_TRUE(source.await([](const auto& seen) { return seen.verdicts.contains("c"); }));
  const auto summary = loader.stop_and_finish();
  ASSERT_TRUE(ok(summary));
  EXPECT_EQ(stopped, 2);
  EXPECT_EQ(summary->lost, 2) << "their verdicts are not even sent";
  EXPECT_EQ(summary->completed, 1);
  EXPECT_EQ(source.seen().settle_calls, 1);
  EXPECT_EQ(source.seen().opened.size(), 2U);
}

TEST(LoaderLeaseTest, WithoutTheStoreHandlersGoOnUntilTheLeaseCannotBeTrusted) {
  FakeChunkSource source(400ms);
  source.add("a");
  Gate began;
  Gate stopped;
  RunningLoader loader(source,
                       [&](const Chunk&, ChunkContext& context) {
                         began.open();
                         EXPECT_EQ(wait_for_stop(context), StopReason::lost);
                         EXPECT_GE(BootClock::now(), context.trusted_until()) << "not earlier";
                         EXPECT_LT(BootClock::now(), context.trusted_until() + 5s);
                         const auto late = context.save({.cursor = "9"});
                         EXPECT_TRUE(fails(late, Errc::lost));
                         stopped.open();
                         return ChunkVerdict::complete();
                       },
                       {});
  ASSERT_TRUE(began.wait());
  source.fail_all_with(away);
  ASSERT_TRUE(stopped.wait());
  EXPECT_GE(source.seen().beats, 2) << "it kept asking";
  EXPECT_EQ(source.seen().save_calls, 0) << "what is lost is not asked for";
  loader.stop();
  const auto summary = loader.finish();
  ASSERT_TRUE(ok(summary));
  EXPECT_EQ(summary->lost, 1);
  EXPECT_FALSE(summary->set.has_value()) << "nobody could be asked";
}

TEST(LoaderLeaseTest, ASaveExtendsTheLease) {
  FakeChunkSource source(400ms);
  source.add("a");
  source.fail_with(Call::extend, away, 1'000'000);
  RunningLoader loader(
      source,
      [&](const Chunk&, ChunkContext& context) {
        // Heartbeats that fail are repeated every 40 ms: this takes longer than two ttls.
        for (int page = 1; page <= 6; ++page) {
          const auto cursor = std::to_string(page);
          if (!context.save({.cursor = cursor, .rows = page})) return ChunkVerdict::fail("lost");
          const auto beats = source.seen().beats;
          source.await([&](const auto& seen) { return seen.beats > beats + 3 || context.stop_requested(); });
        }
        return context.stop_requested() ? ChunkVerdict::fail("stopped") : ChunkVerdict::complete();
      },
      {});
  const auto summary = loader.finish();
  ASSERT_TRUE(ok(summary));
  EXPECT_EQ(summary->completed, 1);
}

TEST(LoaderLeaseTest, AChunkThatMustBeAloneHasALeaseOfItsOwn) {
  FakeChunkSource source(400ms);
  source.add("alone", true);
  source.add("other");
  Gate end;
  Gate lost;
  RunningLoader loader(source,
                       [&](const Chunk& chunk, ChunkContext& context) {
                         if (chunk.key == "alone") {
                           EXPECT_EQ(wait_for_stop(context), StopReason::lost);
                           lost.open();
                           return ChunkVerdict::complete();
                         }
                         return end.wait() && !context.stop_requested() ? ChunkVerdict::complete()
                                                                        : ChunkVerdict::fail("stopped");
                       },
                       {.concurrency = 2});
  ASSERT_TRUE(source.await([](const auto& seen) {
    return seen.heartbeats.contains("alone") && seen.heartbeats.at("alone") > 2 && seen.beats > 2;
  }));
  source.lose_chunk("alone");
  ASSERT_TRUE(lost.wait());
  end.open();
  ASSERT_TRUE(source.await([](const auto& seen) { return seen.verdicts.contains("other"); }));
  const auto summary = loader.stop_and_finish();
  ASSERT_TRUE(ok(summary));
  EXPECT_EQ(summary->lost, 1);
  EXPECT_EQ(source.seen().verdicts.at("other"), std::vector<std::string>{"complete -"})
      << "what is under the loader's own lease is left alone";
  EXPECT_FALSE(source.seen().heartbeats.contains("other"));
}

}  // namespace
}  // namespace leasehold::support
