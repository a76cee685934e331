// The fate of saves and verdicts, and the end of a loader.
#include <gtest/gtest.h>

#include <atomic>
#include <map>
#include <utility>

#include "support/loader_fixture.h"

namespace leasehold::support {
namespace {

class LoaderVerdictTest : public LoaderRuntimeTest {};

TEST_F(LoaderVerdictTest, TheHandlersVerdictIsPassedOn) {
  const std::map<std::string, Verdict> verdicts{{"done", Verdict::complete().with_rows(7)},
                                                {"bad", Verdict::fail("oops")},
                                                {"hopeless", Verdict::fail_finally("never")},
                                                {"slow", Verdict::retry_in(1min, "wait")},
                                                {"needless", Verdict::skip("empty")}};
  std::vector<PlannedChunk> planned;
  for (const auto& [key, verdict] : verdicts) planned.push_back({key, "{}"});
  must(chunks().plan("orders", planned, {.settings = {.default_ttl = 10s}}));
  std::atomic<int> said{0};
  RunningLoader loader(fragile(),
                       [&](const Chunk& chunk, ChunkContext&) {
                         ++said;
                         return verdicts.at(chunk.key);
                       },
                       {.concurrency = 2});
  ASSERT_TRUE(eventually([&] { return said == 5 && faults().calls("chunk_settle") == 5 && waits() > 0; }));
  const auto summary = loader.stop_and_finish();
  ASSERT_TRUE(ok(summary));
  EXPECT_EQ(chunk("done").state, ChunkState::completed);
  EXPECT_EQ(chunk("done").rows, 7);
  EXPECT_EQ(chunk("bad").error, "oops");
  EXPECT_EQ(chunk("bad").failures, 1);
  EXPECT_NE(chunk("bad").state, ChunkState::exhausted);
  EXPECT_EQ(chunk("hopeless").error, "never");
  EXPECT_EQ(chunk("hopeless").state, ChunkState::exhausted);
  EXPECT_EQ(chunk("slow").error, "wait");
  EXPECT_EQ(chunk("slow").due_at, under_test().now() + 1min);
  EXPECT_EQ(chunk("needless").state, ChunkState::skipped);
  EXPECT_EQ(chunk("needless").note, "empty");
  EXPECT_EQ(summary->completed, 1);
  EXPECT_EQ(summary->failed, 3);
  EXPECT_EQ(summary->skipped, 1);
}

TEST_F(LoaderVerdictTest, AnExceptionIsAFailure) {
  plan({"a"});
  RunningLoader loader(fragile(),
                       [](const Chunk&, ChunkContext&) -> Verdict { throw std::runtime_error("the pump broke"); }, {});
  ASSERT_TRUE(ok(loader.finish()));
  EXPECT_EQ(chunk("a").error, "the pump broke");
  EXPECT_EQ(chunk("a").failures, 1);
}

TEST_F(LoaderVerdictTest, AVerdictThatIsNotAcceptedBecomesAFailure) {
  plan({"a"});
  RunningLoader loader(fragile(), [](const Chunk&, ChunkContext&) { return Verdict::skip(std::string(1U << 20, 'x')); },
                       {});
  const auto summary = loader.finish();
  ASSERT_TRUE(ok(summary));
  EXPECT_EQ(summary->failed, 1);
  EXPECT_TRUE(chunk("a").error.starts_with("the verdict was not accepted: the reason ")) << chunk("a").error;
}

TEST_F(LoaderVerdictTest, SavesAndVerdictsAreRepeatedWhileTheStoreIsAway) {
  plan({"a"});
  faults().then_fail(Fault::fail_before_send, 2, "chunk_heartbeat");
  faults().then_fail(Fault::fail_before_send, 2, "chunk_settle");
  std::atomic<int> troubles{0};
  RunningLoader loader(fragile(),
                       [](const Chunk&, ChunkContext& context) {
                         EXPECT_TRUE(ok(context.save({.cursor = R"({"page":2})", .rows = 19})));
                         return Verdict::complete().with_rows(20);
                       },
                       {.on_trouble = [&](const Error&) { ++troubles; }});
  const auto summary = loader.finish();
  ASSERT_TRUE(ok(summary));
  EXPECT_EQ(summary->completed, 1);
  EXPECT_EQ(troubles, 4);
  EXPECT_EQ(faults().calls("chunk_heartbeat"), 3);
  EXPECT_EQ(faults().calls("chunk_settle"), 3);
  EXPECT_EQ(chunk("a").rows, 20);
}

TEST_F(LoaderVerdictTest, ASaveThatIsRefusedStopsTheHandler) {
  plan({"a"});
  RunningLoader loader(fragile(),
                       [&](const Chunk&, ChunkContext& context) {
                         EXPECT_TRUE(ok(context.save({.cursor = "1", .rows = 1})));
                         advance(1h);
                         hold("a");
                         EXPECT_TRUE(fails(context.save({.cursor = "2", .rows = 2}), Errc::lost));
                         EXPECT_EQ(context.stop_reason(), StopReason::lost);
                         return Verdict::complete().with_rows(2);
                       },
                       {.once = true});
  const auto summary = loader.finish();
  ASSERT_TRUE(ok(summary));
  EXPECT_EQ(summary->lost, 1);
  EXPECT_EQ(chunk("a").cursor, "1");
  EXPECT_EQ(chunk("a").rows, 1);
}

TEST_F(LoaderVerdictTest, AStoppedLoaderLetsHandlersFinish) {
  plan({"a", "b"});
  Gate began;
  Gate end;
  RunningLoader loader(fragile(),
                       [&](const Chunk&, ChunkContext& context) {
                         began.open();
                         return end.wait() && !context.stop_requested() ? Verdict::complete()
                                                                        : Verdict::fail("stopped");
                       },
                       {});
  ASSERT_TRUE(began.wait());
  loader.stop();
  end.open();
  const auto summary = loader.finish();
  ASSERT_TRUE(ok(summary));
  EXPECT_EQ(summary->completed, 1);
  EXPECT_EQ(chunk("b").attempts, 0) << "nothing is claimed any more";
  EXPECT_EQ(leases("loader", true), leases("loader"));
}

TEST_F(LoaderVerdictTest, HandlersMustStopAfterTheGrace) {
  plan({"a"});
  Gate began;
  RunningLoader loader(fragile(),
                       [&](const Chunk&, ChunkContext& context) {
                         began.open();
                         const auto why = wait_for_stop(context);
                         EXPECT_TRUE(ok(context.save({.cursor = "5", .rows = 5}))) << "it may still save";
                         return why == StopReason::draining ? Verdict::release() : Verdict::fail("");
                       },
                       {.grace = 1ms});
  ASSERT_TRUE(began.wait());
  const auto summary = loader.stop_and_finish();
  ASSERT_TRUE(ok(summary));
  EXPECT_EQ(summary->released, 1);
  EXPECT_EQ(chunk("a").state, ChunkState::available);
  EXPECT_EQ(chunk("a").cursor, "5");
  EXPECT_EQ(chunk("a").rows, 5);
}

TEST_F(LoaderVerdictTest, AHandlerThatIgnoresItsStopTokenLosesItsChunk) {
  plan({"a"}, 600ms);
  Gate began;
  Gate end;
  RunningLoader loader(fragile(),
                       [&](const Chunk&, ChunkContext&) {
                         began.open();
                         end.wait();
                         return Verdict::complete();
                       },
                       {.grace = 1ms});
  ASSERT_TRUE(began.wait());
  loader.stop();
  ASSERT_TRUE(eventually([&] { return chunk("a").state == ChunkState::available; })) << "while it still runs";
  end.open();
  const auto summary = loader.finish();
  ASSERT_TRUE(ok(summary));
  EXPECT_EQ(summary->released, 1);
  EXPECT_EQ(faults().calls("chunk_settle"), 1) << "one verdict";
}

}  // namespace
}  // namespace leasehold::support
