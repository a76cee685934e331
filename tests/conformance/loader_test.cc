// The loader runtime over real stores. Heartbeats run in real time here, while the store's clock stands still unless
// the test moves it.
#include "leasehold/loader.h"

#include <gtest/gtest.h>

#include <atomic>
#include <map>
#include <mutex>
#include <thread>

#include "store/store.h"
#include "support/chunk_helpers.h"
#include "support/fault_backend.h"
#include "support/gate.h"
#include "support/process.h"
#include "support/store_fixture.h"

namespace leasehold::support {
namespace {

constexpr int pages = 5;
constexpr int rows_per_page = 10;

/// Loads what is left of a chunk, page by page.
Verdict load(const Chunk& chunk, ChunkContext& context) {
  auto rows = chunk.rows;
  for (int page = chunk.cursor ? std::stoi(*chunk.cursor) : 0; page < pages;) {
    rows += rows_per_page;
    const auto cursor = std::to_string(++page);
    if (!context.save({.cursor = cursor, .rows = rows})) return Verdict::release();
  }
  return Verdict::complete().with_rows(rows);
}

/// A loader on a thread of its own, stopped at the end.
class Loading {
 public:
  Loading(const Store& store, const LoaderOptions& options, ChunkHandler handler)
      : loader_(store, "orders", options), handler_(std::move(handler)) {
    thread_ = std::thread([this] {
      result_ = loader_.run(handler_, stop_.get_token());
      ended_.open();
    });
  }
  Loading(const Loading&) = delete;
  Loading& operator=(const Loading&) = delete;
  ~Loading() {
    if (thread_.joinable()) static_cast<void>(stop());
  }

  Result<LoadSummary> stop() {
    stop_.request_stop();
    return finish();
  }
  /// Waits for it to end by itself. If it does not, it is stopped and the test fails.
  Result<LoadSummary> finish() {
    if (!ended_.wait()) {
      ADD_FAILURE() << "the loader does not end";
      stop_.request_stop();
    }
    thread_.join();
    return result_;
  }

 private:
  Loader loader_;
  const ChunkHandler handler_;
  std::stop_source stop_;
  Gate ended_;
  Result<LoadSummary> result_ = Error{.code = Errc::internal, .message = "it did not run"};
  std::thread thread_;
};

class LoaderTest : public StoreTest {
 protected:
  Chunks chunks() { return store().chunks(); }
  void plan(int count, const ChunkSetSettings& settings = {}) {
    plan_numbers(chunks(), "orders", count, {.settings = settings});
  }
  ChunkInfo show(const std::string& key) { return support::show(chunks(), "orders", key); }
  ChunkSetInfo progress() { return must(chunks().progress("orders")); }
  bool becomes(const std::string& key, ChunkState state) {
    return eventually([&] { return show(key).state == state; });
  }
  std::string open_leases() {
    return under_test().scalar("SELECT count(*) FROM " + under_test().table("lease") + " WHERE ended_at IS NULL");
  }
};
LEASEHOLD_ON_BOTH_STORES(LoaderTest);

TEST_P(LoaderTest, Promise15_EveryChunkIsLoadedOnce) {
  plan(40);
  std::mutex mutex;
  std::map<std::string, int> handled;
  const auto summary =
      Loader(store(), "orders", {.concurrency = 4}).run([&](const Chunk& chunk, ChunkContext& context) {
        {
          const std::lock_guard lock(mutex);
          ++handled[chunk.key];
        }
        EXPECT_EQ(chunk.spec, chunk.key);
        return load(chunk, context);
      });
  ASSERT_TRUE(ok(summary));
  EXPECT_EQ(summary->completed, 40);
  ASSERT_TRUE(summary->set.has_value());
  EXPECT_EQ(summary->set->state, ChunkSetState::complete);
  EXPECT_EQ(summary->set->rows, 40 * pages * rows_per_page);
  EXPECT_EQ(handled.size(), 40U);
  for (const auto& [key, times] : handled) EXPECT_EQ(times, 1) << key;
  EXPECT_EQ(open_leases(), "0");
}

TEST_P(LoaderTest, LoadersShareASet) {
  plan(30);
  auto other_store = open();
  Loading one(store(), {.concurrency = 2}, load);
  Loading other(other_store, {.concurrency = 2}, load);
  const auto first = one.finish();
  const auto second = other.finish();
  ASSERT_TRUE(ok(first));
  ASSERT_TRUE(ok(second));
  EXPECT_EQ(first->completed + second->completed, 30) << "neither ends before the set is final";
  EXPECT_EQ(progress().rows, 30 * pages * rows_per_page);
}

TEST_P(LoaderTest, AFailedChunkGoesOnFromItsCursorAfterItsBackoff) {
  plan(1);
  std::atomic<int> tries{0};
  Loading loader(store(), {}, [&](const Chunk& chunk, ChunkContext& context) {
    if (++tries == 1) {
      EXPECT_TRUE(ok(context.save({.cursor = "3", .rows = 30})));
      return Verdict::fail("page 4 is broken");
    }
    EXPECT_EQ(chunk.cursor, "3");
    EXPECT_EQ(chunk.rows, 30);
    EXPECT_EQ(chunk.attempt, 2);
    return load(chunk, context);
  });
  ASSERT_TRUE(becomes("1", ChunkState::deferred));
  EXPECT_EQ(show("1").error, "page 4 is broken");
  advance(3s);
  const auto summary = loader.finish();
  ASSERT_TRUE(ok(summary));
  EXPECT_EQ(summary->failed, 1);
  EXPECT_EQ(summary->completed, 1);
  EXPECT_EQ(progress().rows, pages * rows_per_page);
}

TEST_P(LoaderTest, AnExhaustedChunkMakesTheSetPartial) {
  plan(2);
  const auto summary = Loader(store(), "orders").run([](const Chunk& chunk, ChunkContext& context) {
    return chunk.key == "1" ? Verdict::fail_finally("gone") : load(chunk, context);
  });
  ASSERT_TRUE(ok(summary));
  ASSERT_TRUE(summary->set.has_value());
  EXPECT_EQ(summary->set->summary(), "partial 1/2 (1 exhausted)");
}

TEST_P(LoaderTest, Promise09_ALostLeaseStopsTheHandlerAndTheChunkGoesOnFromItsCursor) {
  plan(1);
  Gate began;
  std::atomic<int> tries{0};
  Loading loader(store(), {.ttl = 600ms}, [&](const Chunk& chunk, ChunkContext& context) {
    if (++tries > 1) return load(chunk, context);
    EXPECT_TRUE(ok(context.save({.cursor = "2", .rows = 20})));
    began.open();
    EXPECT_EQ(wait_for_stop(context), StopReason::lost);
    EXPECT_TRUE(fails(context.save({.cursor = "4", .rows = 40}), Errc::lost));
    return Verdict::complete().with_rows(50);
  });
  ASSERT_TRUE(began.wait());
  advance(10s);
  const auto summary = loader.finish();
  ASSERT_TRUE(ok(summary));
  EXPECT_EQ(summary->lost, 1);
  EXPECT_EQ(summary->completed, 1);
  EXPECT_EQ(show("1").crashes, 1);
  EXPECT_EQ(progress().rows, pages * rows_per_page);
}

TEST_P(LoaderTest, Promise07_ChunksOfADeadLoaderAreLoadedUnderLeasesOfTheirOwn) {
  plan(3);
  const auto ghost = Holder{.name = "ghost", .instance = "g"};
  const auto lease = must(chunks().open_lease(30s, {.holder = ghost}));
  for (int i = 0; i < 3; ++i) must(chunks().claim("orders", {}, {.holder = ghost, .lease = lease}));
  advance(31s);
  const auto summary = Loader(store(), "orders", {.concurrency = 3}).run(load);
  ASSERT_TRUE(ok(summary));
  EXPECT_EQ(summary->completed, 3);
  for (const auto* key : {"1", "2", "3"}) EXPECT_EQ(show(key).crashes, 0) << "it is unknown which of them it was";
  EXPECT_EQ(open_leases(), "0");
}

TEST_P(LoaderTest, ASoleChunkUnderALeaseOfItsOwnIsKeptAlive) {
  plan(2);
  const auto ghost = Holder{.name = "ghost", .instance = "g"};
  must(chunks().claim("orders", {.max = 2, .ttl = 30s}, {.holder = ghost}));
  advance(31s);
  Gate end;
  Loading loader(store(), {.concurrency = 2, .ttl = 600ms}, [&](const Chunk& chunk, ChunkContext& context) {
    if (!end.wait() || context.stop_requested()) return Verdict::fail("stopped");
    return load(chunk, context);
  });
  ASSERT_TRUE(becomes("1", ChunkState::running) && becomes("2", ChunkState::running));
  const auto began = show("1").expires_at.value();
  // Heartbeats come in real time: without them either would have run out after the second step.
  for (int i = 0; i < 4; ++i) {
    const auto before = std::pair(show("1").expires_at.value(), show("2").expires_at.value());
    advance(300ms);
    ASSERT_TRUE(eventually(
        [&] { return show("1").expires_at.value() > before.first && show("2").expires_at.value() > before.second; }));
  }
  EXPECT_GT(show("1").expires_at.value(), began);
  end.open();
  const auto summary = loader.finish();
  ASSERT_TRUE(ok(summary));
  EXPECT_EQ(summary->completed, 2);
  EXPECT_EQ(summary->lost, 0);
}

TEST_P(LoaderTest, AStoppedLoaderGivesBackWithTheCursorAndLeavesNothingBehind) {
  plan(1);
  Gate began;
  Loading loader(store(), {.grace = 1ms}, [&](const Chunk&, ChunkContext& context) {
    EXPECT_TRUE(ok(context.save({.cursor = "4", .rows = 40})));
    began.open();
    EXPECT_EQ(wait_for_stop(context), StopReason::draining);
    return Verdict::release();
  });
  ASSERT_TRUE(began.wait());
  const auto summary = loader.stop();
  ASSERT_TRUE(ok(summary));
  EXPECT_EQ(summary->released, 1);
  const auto chunk = show("1");
  EXPECT_EQ(chunk.state, ChunkState::available);
  EXPECT_EQ(chunk.cursor, "4");
  EXPECT_EQ(chunk.rows, 40);
  EXPECT_EQ(chunk.failures + chunk.crashes, 0);
  EXPECT_EQ(open_leases(), "0");
}

TEST_P(LoaderTest, AStopIsNoticedWhileOthersHoldEverything) {
  plan(1);
  must(chunks().claim("orders", {.ttl = 30s}, {.holder = holder("somebody")}));
  Loading loader(store(), {.concurrency = 3}, load);
  ASSERT_TRUE(eventually([&] { return open_leases() == "2"; })) << "it is there, and waits";
  const auto before = BootClock::now();
  ASSERT_TRUE(ok(loader.stop()));
  EXPECT_LT(BootClock::now() - before, 5s);
}

TEST_P(LoaderTest, KeepWaitingGoesOnAfterAReset) {
  plan(1);
  Loading loader(store(), {.keep_waiting = true}, load);
  ASSERT_TRUE(becomes("1", ChunkState::completed));
  must(chunks().reset("orders", {.which = ChunkReset::Which::all}));
  ASSERT_TRUE(eventually([&] { return show("1").state == ChunkState::completed; }));
  const auto summary = loader.stop();
  ASSERT_TRUE(ok(summary));
  EXPECT_EQ(summary->completed, 2);
  EXPECT_EQ(progress().rows, pages * rows_per_page);
}

TEST_P(LoaderTest, AChunkCompletedLongAgoIsLoadedAgainFromItsBeginning) {
  plan(2);
  ASSERT_TRUE(ok(Loader(store(), "orders").run(load)));
  advance(24h);
  ASSERT_TRUE(ok(Loader(store(), "orders").run([](const Chunk&, ChunkContext&) {
    ADD_FAILURE() << "it was not to be loaded";
    return Verdict::release();
  })));
  const auto again = Loader(store(), "orders", {.older_than = 1h}).run([](const Chunk& chunk, ChunkContext& context) {
    EXPECT_FALSE(chunk.cursor.has_value());
    EXPECT_TRUE(chunk.synced_at.has_value());
    return load(chunk, context);
  });
  ASSERT_TRUE(ok(again));
  EXPECT_EQ(again->completed, 2);
  EXPECT_EQ(progress().rows, 2 * pages * rows_per_page);
}

TEST_P(LoaderTest, Promise10_AnOutageIsWaitedFor) {
  plan(3);
  auto faults = std::make_shared<FaultBackend>(under_test().open_backend());
  const auto fragile = store_over(faults, {.call_timeout = 500ms});
  Gate began;
  Gate end;
  std::atomic<int> troubles{0};
  Loading loader(fragile, {.concurrency = 2, .on_trouble = [&](const Error&) { ++troubles; }},
                 [&](const Chunk& chunk, ChunkContext& context) {
                   began.open();
                   return end.wait() ? load(chunk, context) : Verdict::fail("the gate stayed closed");
                 });
  ASSERT_TRUE(began.wait());
  faults->fail_always(Fault::fail_before_send);
  end.open();
  ASSERT_TRUE(eventually([&] { return troubles > 2; }));
  faults->heal();
  const auto summary = loader.finish();
  ASSERT_TRUE(ok(summary));
  EXPECT_EQ(summary->completed, 3);
  EXPECT_EQ(summary->lost, 0);
  EXPECT_EQ(progress().rows, 3 * pages * rows_per_page);
}

TEST_P(LoaderTest, Promise13_AnswersThatGetLostChangeNothing) {
  for (const auto* statement : {"chunk_claim", "chunk_heartbeat", "chunk_settle", "loader_open"}) {
    plan(3);
    auto faults = std::make_shared<FaultBackend>(under_test().open_backend());
    const auto fragile = store_over(faults, {.call_timeout = 500ms});
    faults->fail_next(Fault::lose_reply, 1, statement);
    const auto summary = Loader(fragile, "orders").run(load);
    ASSERT_TRUE(ok(summary)) << statement;
    EXPECT_EQ(faults->failures(), 1) << statement;
    EXPECT_EQ(progress().rows, 3 * pages * rows_per_page) << statement;
    for (const auto* key : {"1", "2", "3"}) EXPECT_EQ(show(key).crashes + show(key).failures, 0) << statement;
    must(chunks().remove("orders"));
  }
}

TEST_P(LoaderTest, TheSetsOwnTtlCounts) {
  plan(1, {.default_ttl = 90s});
  const auto summary = Loader(store(), "orders").run([&](const Chunk& chunk, ChunkContext& context) {
    EXPECT_EQ(show(chunk.key).expires_at.value() - now(), 90s);
    return load(chunk, context);
  });
  ASSERT_TRUE(ok(summary));
  EXPECT_EQ(summary->completed, 1);
}

TEST_P(LoaderTest, WrongOptionsAreRefusedAtOnce) {
  plan(1);
  const auto run = [&](const std::string& set, const LoaderOptions& options) {
    return Loader(store(), set, options).run(load);
  };
  EXPECT_TRUE(fails(run("orders", {.concurrency = 0}), Errc::invalid_argument));
  EXPECT_TRUE(fails(run("orders", {.ttl = 1ms}), Errc::invalid_argument));
  EXPECT_TRUE(fails(run("orders", {.grace = -1s}), Errc::invalid_argument));
  EXPECT_TRUE(fails(run("orders", {.older_than = -1s}), Errc::invalid_argument));
  EXPECT_TRUE(fails(run("orders", {.keep_waiting = true, .once = true}), Errc::invalid_argument));
  EXPECT_TRUE(fails(run("", {}), Errc::invalid_argument));
  EXPECT_TRUE(fails(Loader(store(), "orders").run(nullptr), Errc::invalid_argument));
  EXPECT_TRUE(fails(run("unknown", {}), Errc::not_found));
  EXPECT_TRUE(fails(run("unknown", {.ttl = 30s}), Errc::not_found));
  EXPECT_EQ(open_leases(), "0");
}

}  // namespace
}  // namespace leasehold::support
