// What becomes of saves and verdicts, and how a loader comes to its end.
#include <gtest/gtest.h>

#include <atomic>

#include "support/fake_chunk_source.h"
#include "support/running_loader.h"

namespace leasehold::support {
namespace {

using namespace std::chrono_literals;
using Call = FakeChunkSource::Call;
using Words = std::vector<std::string>;

TEST(LoaderVerdictTest, WhatTheHandlerSaysIsPassedOn) {
  FakeChunkSource source(10s);
  const std::map<std::string, std::pair<ChunkVerdict, std::string>> sayings{
      {"done", {ChunkVerdict::complete(7), "complete 7"}},
      {"bad", {ChunkVerdict::fail("oops"), "fail oops"}},
      {"hopeless", {ChunkVerdict::fail_for_good("never"), "fail never (for good)"}},
      {"slow", {ChunkVerdict::retry_in(1min, "wait"), "fail wait (later)"}},
      {"needless", {ChunkVerdict::skip("empty"), "skip empty"}}};
  for (const auto& [key, saying] : sayings) source.add(key);
  RunningLoader loader(source, [&](const Chunk& chunk, ChunkContext&) { return sayings.at(chunk.key).first; },
                       {.concurrency = 2});
  const auto summary = loader.finish();
  ASSERT_TRUE(ok(summary));
  for (const auto& [key, saying] : sayings) EXPECT_EQ(source.seen().verdicts.at(key), Words{saying.second});
  EXPECT_EQ(summary->completed, 1);
  EXPECT_EQ(summary->failed, 3);
  EXPECT_EQ(summary->skipped, 1);
}

TEST(LoaderVerdictTest, AnExceptionIsAFailure) {
  FakeChunkSource source(10s);
  source.add("a");
  RunningLoader loader(
      source, [](const Chunk&, ChunkContext&) -> ChunkVerdict { throw std::runtime_error("the pump broke"); }, {});
  ASSERT_TRUE(ok(loader.finish()));
  EXPECT_EQ(source.seen().verdicts.at("a"), Words{"fail the pump broke"});
}

TEST(LoaderVerdictTest, AVerdictThatIsNotAcceptedBecomesAFailure) {
  FakeChunkSource source(10s);
  source.add("a");
  RunningLoader loader(source, [](const Chunk&, ChunkContext&) { return ChunkVerdict::skip(std::string(2000, 'x')); },
                       {});
  const auto summary = loader.finish();
  ASSERT_TRUE(ok(summary));
  EXPECT_EQ(summary->failed, 1);
  EXPECT_EQ(source.seen().verdicts.at("a"), Words{"fail the verdict was not accepted: the text is too long"});
}

TEST(LoaderVerdictTest, SavesAndVerdictsAreRepeatedWhileTheStoreIsAway) {
  FakeChunkSource source(10s);
  source.add("a");
  source.fail_with(Call::save, away, 2);
  source.fail_with(Call::settle, away, 2);
  std::atomic<int> troubles{0};
  RunningLoader loader(source,
                       [](const Chunk&, ChunkContext& context) {
                         EXPECT_TRUE(ok(context.save({.cursor = R"({"page":2})", .rows = 20})));
                         return ChunkVerdict::complete(20);
                       },
                       {.on_trouble = [&](const Error&) { ++troubles; }});
  const auto summary = loader.finish();
  ASSERT_TRUE(ok(summary));
  EXPECT_EQ(summary->completed, 1);
  EXPECT_EQ(troubles, 4);
  EXPECT_EQ(source.seen().saves.at("a"), Words{R"({"page":2} 20)"});
  EXPECT_EQ(source.seen().settle_calls, 3);
}

TEST(LoaderVerdictTest, ASaveThatIsRefusedStopsTheHandler) {
  FakeChunkSource source(10s);
  source.add("a");
  RunningLoader loader(source,
                       [&](const Chunk&, ChunkContext& context) {
                         EXPECT_TRUE(ok(context.save({.cursor = "1", .rows = 1})));
                         source.lose_chunk("a");
                         EXPECT_TRUE(fails(context.save({.cursor = "2", .rows = 2}), Errc::lost));
                         EXPECT_EQ(context.stop_reason(), StopReason::lost);
                         return ChunkVerdict::complete(2);
                       },
                       {.once = true});
  const auto summary = loader.finish();
  ASSERT_TRUE(ok(summary));
  EXPECT_EQ(summary->lost, 1);
  EXPECT_EQ(source.seen().saves.at("a"), Words{"1 1"});
}

TEST(LoaderVerdictTest, AStoppedLoaderLetsHandlersFinish) {
  FakeChunkSource source(10s);
  source.add("a");
  source.add("b");
  Gate began;
  Gate end;
  RunningLoader loader(source,
                       [&](const Chunk&, ChunkContext& context) {
                         began.open();
                         return end.wait() && !context.stop_requested() ? ChunkVerdict::complete()
                                                                        : ChunkVerdict::fail("stopped");
                       },
                       {});
  ASSERT_TRUE(began.wait());
  loader.stop();
  end.open();
  const auto summary = loader.finish();
  ASSERT_TRUE(ok(summary));
  EXPECT_EQ(summary->completed, 1);
  EXPECT_EQ(source.seen().claimed, Words{"a"}) << "nothing is claimed any more";
  EXPECT_EQ(source.seen().closed, source.seen().opened);
}

TEST(LoaderVerdictTest, WhenTheGraceIsOverHandlersAreToldToStop) {
  FakeChunkSource source(10s);
  source.add("a");
  Gate began;
  RunningLoader loader(source,
                       [&](const Chunk&, ChunkContext& context) {
                         began.open();
                         const auto why = wait_for_stop(context);
                         EXPECT_TRUE(ok(context.save({.cursor = "5", .rows = 5}))) << "it may still save";
                         return why == StopReason::draining ? ChunkVerdict::release() : ChunkVerdict::fail("");
                       },
                       {.grace = 1ms});
  ASSERT_TRUE(began.wait());
  const auto summary = loader.stop_and_finish();
  ASSERT_TRUE(ok(summary));
  EXPECT_EQ(summary->released, 1);
  EXPECT_EQ(source.seen().verdicts.at("a"), Words{"release"});
  EXPECT_EQ(source.seen().saves.at("a"), Words{"5 5"});
}

TEST(LoaderVerdictTest, AHandlerThatIgnoresItsStopTokenLosesItsChunk) {
  FakeChunkSource source(600ms);
  source.add("a");
  Gate began;
  Gate end;
  RunningLoader loader(source,
                       [&](const Chunk&, ChunkContext&) {
                         began.open();
                         end.wait();
                         return ChunkVerdict::complete();
                       },
                       {.grace = 1ms});
  ASSERT_TRUE(began.wait());
  loader.stop();
  ASSERT_TRUE(source.await([](const auto& seen) { return seen.verdicts.contains("a"); })) << "while it still runs";
  end.open();
  const auto summary = loader.finish();
  ASSERT_TRUE(ok(summary));
  EXPECT_EQ(summary->released, 1);
  EXPECT_EQ(source.seen().verdicts.at("a"), Words{"release"}) << "one verdict";
}

}  // namespace
}  // namespace leasehold::support
