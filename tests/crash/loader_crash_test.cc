// Real loaders that die, freeze and wake up again: no chunk is lost, none is finished twice, and the sum of rows is
// exact.
//
// The loader below dies by its own hand, at the point that FAILPOINT names: nothing but kill -9 is as sudden, and only
// the loader itself can be killed exactly there.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <iostream>

#include "leasehold/loader.h"
#include "support/chunk_helpers.h"
#include "support/process.h"
#include "support/store_fixture.h"

namespace leasehold::support {
namespace {

constexpr int chunk_count = 3;
constexpr int pages = 4;
constexpr int rows_per_page = 10;

/// Dies here, if the test chose this place.
void failpoint(const std::string& name) {
  if (env("FAILPOINT") == name) ::kill(::getpid(), SIGKILL);
}

Verdict load(const Chunk& chunk, ChunkContext& context) {
  failpoint("after claim");
  auto rows = chunk.rows;
  for (int page = chunk.cursor ? std::stoi(*chunk.cursor) : 0; page < pages;) {
    rows += rows_per_page;
    const auto cursor = std::to_string(++page);
    failpoint("before save");
    if (!context.save({.cursor = cursor, .rows = rows})) return Verdict::release();
    if (page == 2) failpoint("after save");
  }
  failpoint("before complete");
  return Verdict::complete().with_rows(rows);
}

/// Counts as another host: only the lease shows that this loader has died.
LoaderOptions as_child(int concurrency) {
  return {.concurrency = concurrency, .ttl = 500ms, .holder = holder("child")};
}

LEASEHOLD_ROLE(doomed_loader) {
  const auto store = Store::open(env("STORE_URL"));
  if (!store) return 1;
  failpoint("before claim");
  std::atomic<int> handled{0};
  Loader loader(*store, "orders", as_child(std::stoi(env("CONCURRENCY"))));
  const auto summary = loader.run([&](const Chunk& chunk, ChunkContext& context) {
    if (++handled == 2) failpoint("after complete");
    return load(chunk, context);
  });
  return summary ? 0 : 1;
}

struct Death {
  const char* name;
  const char* failpoint;
  int concurrency;
  int done;   ///< what it had completed before
  int saved;  ///< and the rows it had saved
};

void PrintTo(const Death& death, std::ostream* out) { *out << death.name; }

class LoaderCrashTest : public ::testing::TestWithParam<std::tuple<StoreKind, Death>> {
 protected:
  static const Death& death() { return std::get<1>(GetParam()); }

  TestStore store_{std::get<0>(GetParam()), {.real_time = true}};
  Store opened_ = store_.open();
  Chunks chunks_ = opened_.chunks();
};

TEST_P(LoaderCrashTest, ChunksOfAKilledLoaderAreFinishedByOthersFromTheirCursors) {
  plan_numbers(chunks_, "orders", chunk_count);
  auto loader = Process::self("doomed_loader", {{"STORE_URL", store_.url()},
                                                {"FAILPOINT", death().failpoint},
                                                {"CONCURRENCY", std::to_string(death().concurrency)}});
  ASSERT_EQ(loader.finish(20s).signal, SIGKILL);
  const auto left = must(chunks_.progress("orders"));
  EXPECT_EQ(left.completed, death().done);
  if (death().concurrency == 1) {
    EXPECT_EQ(left.rows, death().saved);
  }

  std::int64_t resumed_from = 0;
  const auto summary =
      Loader(opened_, "orders", {.holder = holder("parent")}).run([&](const Chunk& chunk, ChunkContext& context) {
        resumed_from += chunk.rows;
        EXPECT_EQ(chunk.rows, chunk.cursor ? std::stoi(*chunk.cursor) * rows_per_page : 0);
        return load(chunk, context);
      });
  ASSERT_TRUE(ok(summary));
  EXPECT_EQ(summary->completed, chunk_count - death().done);
  const auto done = must(chunks_.progress("orders"));
  EXPECT_EQ(done.state, ChunkSetState::complete);
  EXPECT_EQ(done.rows, chunk_count * pages * rows_per_page);
  EXPECT_EQ(resumed_from, left.rows - death().done * pages * rows_per_page) << "nothing that was saved is loaded again";
  for (const auto& chunk : must(chunks_.list("orders"))) {
    const auto story = story_of(opened_, "orders", chunk.key);
    EXPECT_EQ(std::count(story.begin(), story.end(), "completed"), 1) << chunk.key;
  }
  EXPECT_EQ(store_.scalar("SELECT count(*) FROM " + store_.table("lease") + " WHERE ended_at IS NULL"), "0");
}

std::string death_name(const ::testing::TestParamInfo<std::tuple<StoreKind, Death>>& info) {
  return word_of(std::get<0>(info.param)) + std::get<1>(info.param).name;
}

INSTANTIATE_TEST_SUITE_P(Deaths, LoaderCrashTest,
                         ::testing::Combine(::testing::Values(StoreKind::sqlite, StoreKind::postgres),
                                            ::testing::Values(Death{"BeforeClaim", "before claim", 1, 0, 0},
                                                              Death{"AfterClaim", "after claim", 1, 0, 0},
                                                              Death{"BeforeSave", "before save", 1, 0, 0},
                                                              Death{"AfterSave", "after save", 1, 0, 20},
                                                              Death{"AfterSaveAmongSeveral", "after save", 3, 0, 0},
                                                              Death{"BeforeComplete", "before complete", 1, 0, 40},
                                                              Death{"AfterComplete", "after complete", 1, 1, 40})),
                         death_name);

/// Saves, reports it, and is stopped; once it continues, it tries every act of a late holder.
LEASEHOLD_ROLE(sleepy_loader) {
  const auto store = Store::open(env("STORE_URL"));
  if (!store) return 1;
  const auto chunks = store->chunks();
  const auto grant = chunks.claim("orders", {.ttl = 500ms}, {.holder = holder("child")});
  if (!grant) return 1;
  const auto& [set, key, token] =
      std::tie(grant->chunks.front().set, grant->chunks.front().key, grant->chunks.front().token);
  if (!chunks.heartbeat(set, key, token, {.cursor = "1", .rows = 10})) return 1;
  std::cout << "saved" << std::endl;
  ::raise(SIGSTOP);
  const auto word = [](const auto& result) {
    if (result) return std::string("accepted");
    const auto why = result.error().lost_reason;
    return std::string(to_string(result.error().code)) + (why ? std::string(" ") + to_string(*why) : "");
  };
  std::cout << word(chunks.heartbeat(set, key, token, {.cursor = "2", .rows = 20})) << std::endl;
  std::cout << word(chunks.complete(set, key, token, {.rows = 20})) << std::endl;
  std::cout << word(chunks.fail(set, key, token)) << std::endl;
  std::cout << word(chunks.release(set, key, token)) << std::endl;
  return 0;
}

class LoaderFreezeTest : public ::testing::TestWithParam<StoreKind> {
 protected:
  TestStore store_{GetParam(), {.real_time = true}};
  Store opened_ = store_.open();
  Chunks chunks_ = opened_.chunks();
};
LEASEHOLD_ON_BOTH_STORES(LoaderFreezeTest);

TEST_P(LoaderFreezeTest, AFrozenLoaderThatWakesUpLateChangesNothing) {
  plan_numbers(chunks_, "orders", 1);
  auto loader = Process::self("sleepy_loader", {{"STORE_URL", store_.url()}});
  ASSERT_EQ(loader.read_line(10s), "saved");
  const auto chunk =
      must(chunks_.claim("orders", {.ttl = 30s, .wait = 20s}, {.holder = holder("parent")})).chunks.at(0);
  EXPECT_EQ(chunk.cursor, "1");
  EXPECT_EQ(chunk.rows, 10);
  EXPECT_EQ(chunk.attempt, 2);
  loader.signal(SIGCONT);
  for (int i = 0; i < 4; ++i) {
    const auto answer = loader.read_line(10s);
    EXPECT_TRUE(answer && answer->starts_with("lost")) << answer.value_or("nothing");
  }
  EXPECT_EQ(loader.finish(10s).exit_code, 0);
  EXPECT_EQ(show(chunks_, "orders", "1").rows, 10) << "the counters did not move";
  EXPECT_EQ(show(chunks_, "orders", "1").cursor, "1");
  EXPECT_TRUE(ok(chunks_.complete("orders", "1", chunk.token, {.rows = 40}))) << "the new holder noticed nothing";
}

/// Loads until it is killed.
LEASEHOLD_ROLE(tireless_loader) {
  const auto store = Store::open(env("STORE_URL"));
  if (!store) return 1;
  std::cout << "loading" << std::endl;
  auto options = as_child(2);
  options.keep_waiting = true;
  static_cast<void>(Loader(*store, "orders", options).run(load));
  return 0;
}

TEST_P(LoaderFreezeTest, KillingLoadersAtAnyMomentLosesNothing) {
  constexpr int count = 60;
  // A kill with one chunk in hand is charged to that chunk; none may become exhausted here.
  plan_numbers(chunks_, "orders", count, {.settings = {.max_crashes = 1000}});
  const auto completed = [&] { return must(chunks_.progress("orders")).completed; };
  for (int round = 1; round <= 3; ++round) {
    std::vector<Process> loaders;
    for (int i = 0; i < 2; ++i) loaders.push_back(Process::self("tireless_loader", {{"STORE_URL", store_.url()}}));
    for (auto& loader : loaders) ASSERT_EQ(loader.read_line(10s), "loading");
    ASSERT_TRUE(eventually([&] { return completed() >= round * 10; }, 30s));
    for (auto& loader : loaders) loader.signal(SIGKILL);
  }
  const auto summary = Loader(opened_, "orders", {.concurrency = 4, .holder = holder("parent")}).run(load);
  ASSERT_TRUE(ok(summary));
  const auto done = must(chunks_.progress("orders"));
  EXPECT_EQ(done.state, ChunkSetState::complete);
  EXPECT_EQ(done.rows, count * pages * rows_per_page);
}

}  // namespace
}  // namespace leasehold::support
