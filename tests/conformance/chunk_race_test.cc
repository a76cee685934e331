// Many at once: one winner, no chunk twice, no row twice; and waiting for a chunk. Threads of several stores.
#include <gtest/gtest.h>

#include <atomic>
#include <barrier>
#include <future>
#include <thread>

#include "support/chunk_fixture.h"

namespace leasehold::support {
namespace {

class ChunkRaceTest : public ChunkStoreTest {
 protected:
  /// `act(number, its own store)` in so many threads at once.
  void race(int threads, const std::function<void(int, Store&)>& act) {
    std::vector<Store> stores;
    for (int i = 0; i < 4; ++i) stores.push_back(open());
    std::barrier start(threads);
    std::vector<std::jthread> racers;
    for (int i = 0; i < threads; ++i) {
      racers.emplace_back([&, i] {
        start.arrive_and_wait();
        act(i, stores[static_cast<std::size_t>(i) % stores.size()]);
      });
    }
  }
  /// The result of a claim that waits, on a store of its own, while `meanwhile` happens.
  Result<ChunkGrant> waited(const std::function<void()>& meanwhile, ChunkClaimOptions options = loading(),
                            const Call& call = by("bob")) {
    auto other = open();
    options.wait = 20s;
    auto answer = std::async(std::launch::async, [&] { return other.chunks().claim("orders", options, call); });
    meanwhile();
    return answer.get();
  }
};
LEASEHOLD_ON_BOTH_STORES(ChunkRaceTest);

TEST_P(ChunkRaceTest, AHundredClaimersOnOneChunkOneWinner) {
  plan(1);
  std::atomic<int> winners = 0;
  std::atomic<int> wrong = 0;
  race(20, [&](int number, Store& store) {
    for (int i = 0; i < 5; ++i) {
      const auto grant = store.chunks().claim("orders", loading(), by("loader-" + std::to_string(number)));
      if (grant) ++winners;
      if (!grant && grant.error().code != Errc::held && grant.error().code != Errc::busy) ++wrong;
    }
  });
  EXPECT_EQ(winners, 1);
  EXPECT_EQ(wrong, 0) << "never empty: there is something open";
}

TEST_P(ChunkRaceTest, EveryChunkIsLoadedOnceAndTheRowsAddUp) {
  constexpr int count = 100;
  plan(count);
  std::atomic<int> loaded = 0;
  race(6, [&](int number, Store& store) {
    const auto chunks = store.chunks();
    for (int asked = 0; asked < 50 * count; ++asked) {
      const auto grant = chunks.claim("orders", loading(1 + number % 3), by("loader-" + std::to_string(number)));
      if (!grant && grant.error().code == Errc::empty) return;
      if (!grant) continue;
      for (const auto& each : grant->chunks) {
        EXPECT_TRUE(ok(chunks.heartbeat("orders", each.key, each.token, {.cursor = "1", .rows = 5})));
        EXPECT_TRUE(ok(chunks.complete("orders", each.key, each.token, {.rows = 10})));
        ++loaded;
      }
    }
  });
  EXPECT_EQ(loaded, count);
  EXPECT_EQ(progress().state, ChunkSetState::complete);
  EXPECT_EQ(progress().rows, 10 * count);
  EXPECT_EQ(progress().attempts, count);
}

TEST_P(ChunkRaceTest, ConcurrentPlannersMakeOneSet) {
  std::atomic<int> created = 0;
  std::atomic<std::int64_t> added = 0;
  const auto planned = must(plan_range(1, 200, 10));
  race(8, [&](int, Store& store) {
    const auto outcome = must(store.chunks().plan("orders", planned));
    created += outcome.created ? 1 : 0;
    added += outcome.added;
  });
  EXPECT_EQ(created, 1);
  EXPECT_EQ(added, 20);
  EXPECT_EQ(progress().total, 20);
}

TEST_P(ChunkRaceTest, PlanningDoesNotDisturbLoaders) {
  constexpr int count = 30;
  plan(count);
  race(4, [&](int number, Store& store) {
    const auto chunks = store.chunks();
    for (int i = 0; number == 0 && i < 10; ++i) {
      plan_numbers(chunks, "orders", count, {.planner = std::to_string(i)});
    }
    for (int asked = 0; number > 0 && asked < 50 * count; ++asked) {
      const auto grant = chunks.claim("orders", loading(), by("loader-" + std::to_string(number)));
      if (!grant && grant.error().code == Errc::empty) return;
      if (!grant) continue;
      EXPECT_TRUE(ok(chunks.complete("orders", grant->chunks[0].key, grant->chunks[0].token, {.rows = 1})));
    }
  });
  EXPECT_EQ(progress().completed, count);
  EXPECT_EQ(progress().rows, count);
}

TEST_P(ChunkRaceTest, ConcurrentRecoveryReturnsEveryChunkOnce) {
  plan(30);
  for (int i = 0; i < 30; ++i) claim("dead-" + std::to_string(i));
  advance(31s);
  std::atomic<std::int64_t> recovered = 0;
  race(6, [&](int, Store& store) { recovered += must(store.recover()).chunks; });
  EXPECT_EQ(recovered, 30);
  EXPECT_EQ(progress().available, 30);
}

TEST_P(ChunkRaceTest, TheLastTwoVerdictsSettleTheJobOnce) {
  const auto id = add(jobs(), "sync");
  plan(8);
  must(chunks().tie_job("orders", id));
  std::vector<Chunk> held;
  for (int i = 0; i < 8; ++i) held.push_back(claim("ann"));
  race(8, [&](int number, Store& store) {
    const auto& each = held[static_cast<std::size_t>(number)];
    EXPECT_TRUE(ok(store.chunks().complete("orders", each.key, each.token, {.rows = 1})));
  });
  EXPECT_EQ(must(jobs().result(id)), R"({"set":"orders","chunks":8,"completed":8,"skipped":0,"rows":8})");
  EXPECT_EQ(outcomes_of(jobs(), id), std::vector<std::string>{"completed"});
}

TEST_P(ChunkRaceTest, AWaitingClaimWakesWhenAChunkIsReleased) {
  plan(1);
  const auto held = claim("ann");
  EXPECT_TRUE(ok(waited([&] { must(release(held)); })));
}

TEST_P(ChunkRaceTest, AWaitingClaimWakesWhenTheSetIsFinal) {
  plan(1);
  const auto held = claim("ann");
  EXPECT_TRUE(fails(waited([&] { must(complete(held)); }), Errc::empty)) << "long before 20 seconds";
}

TEST_P(ChunkRaceTest, AWaitingClaimWakesWhenABackoffIsOver) {
  plan(1);
  must(fail(claim("ann"), Verdict::retry_in(1h)));
  EXPECT_TRUE(ok(waited([&] { advance(1h); })));
}

TEST_P(ChunkRaceTest, AWaitingClaimTakesOverFromTheDead) {
  plan(1);
  claim("ann");
  EXPECT_TRUE(ok(waited([&] { advance(30s); })));
}

TEST_P(ChunkRaceTest, AWaitingClaimIsWokenByAReset) {
  plan(1);
  load("1");
  auto options = loading();
  options.keep_waiting = true;
  EXPECT_TRUE(ok(waited([&] { must(chunks().reset("orders", {.which = ChunkReset::Which::all})); }, options)));
}

TEST_P(ChunkRaceTest, StopEndsAWait) {
  plan(1);
  claim("ann");
  std::stop_source stop;
  auto call = by("bob");
  call.stop = stop.get_token();
  EXPECT_TRUE(fails(waited([&] { stop.request_stop(); }, loading(), call), Errc::held));
}

}  // namespace
}  // namespace leasehold::support
