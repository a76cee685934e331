// Promise 9 for loaders: handlers know when to stop, and the loading goes on with the next lease.
#include <gtest/gtest.h>

#include <atomic>

#include "support/loader_fixture.h"

namespace leasehold::support {
namespace {

class LoaderHeartbeatTest : public LoaderRuntimeTest {};

TEST_F(LoaderHeartbeatTest, OneLeaseIsExtendedForAllChunks) {
  plan({"a", "b", "c"}, 600ms);
  Gate end;
  RunningLoader loader(fragile(),
                       [&](const Chunk&, ChunkContext& context) {
                         return end.wait() && !context.stop_requested() ? Verdict::complete()
                                                                        : Verdict::fail("stopped");
                       },
                       {.concurrency = 3});
  ASSERT_TRUE(eventually([&] { return beats() >= 8; })) << "twice the ttl";
  end.open();
  const auto summary = loader.finish();
  ASSERT_TRUE(ok(summary));
  EXPECT_EQ(summary->completed, 3);
  EXPECT_EQ(leases("loader").size(), 1U);
  EXPECT_EQ(faults().calls("chunk_heartbeat"), 0);
}

TEST_F(LoaderHeartbeatTest, ALostLeaseStopsItsChunksAndTheLoadingGoesOnWithAnother) {
  plan({"a", "b"}, 600ms);
  std::atomic<int> stopped{0};
  std::atomic<int> begun{0};
  RunningLoader loader(fragile(),
                       [&](const Chunk&, ChunkContext& context) {
                         if (++begun > 2) return Verdict::complete().with_rows(7);
                         if (wait_for_stop(context) == StopReason::lost) ++stopped;
                         return Verdict::complete().with_rows(1);
                       },
                       {.concurrency = 2});
  ASSERT_TRUE(eventually([&] { return begun == 2; }));
  advance(1h);
  const auto summary = loader.finish();
  ASSERT_TRUE(ok(summary));
  EXPECT_EQ(stopped, 2);
  EXPECT_EQ(summary->lost, 2);
  EXPECT_EQ(summary->completed, 2) << "they came back";
  EXPECT_EQ(chunk("a").rows + chunk("b").rows, 14);
  EXPECT_EQ(faults().calls("chunk_settle"), 2) << "verdicts on what is lost are not even sent";
  EXPECT_EQ(leases("loader").size(), 2U);
}

TEST_F(LoaderHeartbeatTest, WithoutTheStoreHandlersGoOnUntilTheLeaseCannotBeTrusted) {
  plan({"a"}, 600ms);
  Gate began;
  Gate stopped;
  RunningLoader loader(fragile(),
                       [&](const Chunk&, ChunkContext& context) {
                         began.open();
                         EXPECT_EQ(wait_for_stop(context), StopReason::lost);
                         EXPECT_GE(BootClock::now(), context.trusted_until()) << "not earlier";
                         EXPECT_LT(BootClock::now(), context.trusted_until() + 5s);
                         EXPECT_TRUE(fails(context.save({.cursor = "9"}), Errc::lost));
                         stopped.open();
                         return Verdict::complete();
                       },
                       {});
  ASSERT_TRUE(began.wait());
  const auto before = beats();
  break_store();
  ASSERT_TRUE(stopped.wait());
  EXPECT_GE(beats(), before + 2) << "it kept trying";
  EXPECT_EQ(faults().calls("chunk_heartbeat"), 0) << "no heartbeat for a lost chunk";
  const auto summary = loader.stop_and_finish();
  ASSERT_TRUE(ok(summary));
  EXPECT_EQ(summary->lost, 1);
  EXPECT_FALSE(summary->set.has_value()) << "the store could not be asked";
}

TEST_F(LoaderHeartbeatTest, ASaveExtendsTheLease) {
  plan({"a"}, 1s);
  faults().fail_next(Fault::fail_before_send, 1'000'000, "loader_extend");
  RunningLoader loader(fragile(),
                       [&](const Chunk&, ChunkContext& context) {
                         // Heartbeats that fail are repeated every 100 ms: this takes longer than two ttls.
                         for (int page = 1; page <= 12; ++page) {
                           const auto cursor = std::to_string(page);
                           if (!context.save({.cursor = cursor, .rows = page})) return Verdict::fail("lost");
                           const auto before = beats();
                           eventually([&] { return beats() > before + 1 || context.stop_requested(); });
                         }
                         return context.stop_requested() ? Verdict::fail("stopped") : Verdict::complete();
                       },
                       {});
  const auto summary = loader.finish();
  ASSERT_TRUE(ok(summary));
  EXPECT_EQ(summary->completed, 1);
}

TEST_F(LoaderHeartbeatTest, ASoloChunkHasALeaseOfItsOwn) {
  plan({"solo", "also"}, 600ms);
  make_solo({"solo", "also"});
  ASSERT_TRUE(ok(chunks().plan("orders", std::vector<PlannedChunk>{{"solo", "{}"}, {"also", "{}"}, {"other", "{}"}})));
  hold("also");
  Gate end;
  Gate lost;
  std::atomic<int> tries{0};
  RunningLoader loader(fragile(),
                       [&](const Chunk& chunk, ChunkContext& context) {
                         if (chunk.key == "solo" && ++tries == 1) {
                           EXPECT_EQ(wait_for_stop(context), StopReason::lost);
                           lost.open();
                           return Verdict::complete();
                         }
                         return end.wait() && !context.stop_requested() ? Verdict::complete()
                                                                        : Verdict::fail("stopped");
                       },
                       {.concurrency = 2});
  ASSERT_TRUE(eventually([&] { return faults().calls("chunk_heartbeat") > 2 && beats() > 2; }));
  faults().refuse_next({.code = Errc::lost, .message = "gone", .lost_reason = LostReason::expired}, 1,
                       "chunk_heartbeat");
  ASSERT_TRUE(lost.wait());
  const auto heartbeats = faults().calls("chunk_heartbeat");
  const auto before = beats();
  ASSERT_TRUE(eventually([&] { return beats() > before + 1; }));
  EXPECT_EQ(faults().calls("chunk_heartbeat"), heartbeats) << "neither for the lost chunk nor for the other one";
  end.open();
  ASSERT_TRUE(eventually([&] { return chunk("other").state == ChunkState::completed; }))
      << "chunks under the loader's own lease go on";
  const auto summary = loader.stop_and_finish();
  ASSERT_TRUE(ok(summary));
  EXPECT_EQ(summary->lost, 1);
}

}  // namespace
}  // namespace leasehold::support
