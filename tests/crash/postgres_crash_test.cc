// PostgreSQL is killed in mid-work and comes back: no wrong answer, no token twice, and work goes on.
#include <gtest/gtest.h>

#include <algorithm>
#include <thread>

#include "support/lock_helpers.h"
#include "support/postgres_server.h"
#include "support/process.h"
#include "support/results.h"

namespace leasehold::support {
namespace {

using namespace std::chrono_literals;

/// One thread that takes and gives back its lock as fast as it can, and remembers the answers.
struct Worker {
  std::string lock;
  std::vector<std::int64_t> tokens;
  std::vector<std::string> surprises;

  void work(const Store& store, const std::stop_token& stop) {
    while (!stop.stop_requested()) {
      const auto grant = store.locks().acquire(lock, {.ttl = 300ms}, by(lock));
      if (!grant) {
        note(grant.error(), "acquire");
        continue;
      }
      tokens.push_back(grant->token.value);
      const auto released = store.locks().release(lock, grant->token);
      if (!released) note(released.error(), "release");
    }
  }

  /// After an act in doubt, its own earlier grant may stand in the way until it runs out.
  void note(const Error& error, const std::string& act) {
    const bool expected = error.code == Errc::unavailable || error.code == Errc::in_doubt || error.code == Errc::busy ||
                          (act == "acquire" && (error.code == Errc::held || error.code == Errc::reentry)) ||
                          (error.code == Errc::lost && error.lost_reason == LostReason::expired);
    if (!expected) surprises.push_back(act + ": " + describe(error));
    std::this_thread::sleep_for(5ms);
  }
};

class PostgresCrashTest : public ::testing::Test {
 protected:
  Store open() {
    auto store = Store::open(server_.url(), {.migrate = MigrateOnOpen::yes, .call_timeout = 2s});
    if (!store) throw std::runtime_error(describe(store.error()));
    return *store;
  }

  PostgresServer server_;
};

TEST_F(PostgresCrashTest, WorkGoesOnAfterACrashAndNoTokenRepeats) {
  const auto store = open();
  const auto keeper = take(store.locks(), "keeper", {.ttl = 1h}, by("keeper"));
  std::vector<Worker> workers(4);
  const auto grants = [&] { return status_of(store).events; };
  {
    std::vector<std::jthread> threads;
    for (std::size_t i = 0; i < workers.size(); ++i) {
      workers[i].lock = "lock-" + std::to_string(i);
      threads.emplace_back([&, i](const std::stop_token& stop) { workers[i].work(store, stop); });
    }
    for (int crash = 0; crash < 2; ++crash) {
      const auto before = grants();
      ASSERT_TRUE(eventually([&] { return grants() > before + 100; }));
      server_.kill9();
      EXPECT_FALSE(store.status().ok()) << "the server must be down";
      server_.restart();
      ASSERT_TRUE(eventually([&] { return store.status().ok(); }, 30s));
    }
    const auto before = grants();
    EXPECT_TRUE(eventually([&] { return grants() > before + 100; })) << "no worker works any more";
  }
  for (const auto& worker : workers) {
    EXPECT_GT(worker.tokens.size(), 10U);
    EXPECT_TRUE(std::is_sorted(worker.tokens.begin(), worker.tokens.end(), std::less_equal<>())) << worker.lock;
    EXPECT_EQ(worker.surprises, std::vector<std::string>{});
  }
  EXPECT_EQ(store.locks().show("keeper")->token, keeper.token) << "a grant that was reported is gone";
  EXPECT_TRUE(fails(store.locks().acquire("keeper", {}, by("thief")), Errc::held));
}

TEST_F(PostgresCrashTest, AHeldLeaseStopsInTimeWhenTheServerIsGone) {
  const auto store = open();
  auto held = store.locks().hold("deploy", {.ttl = 1s}, by("alice"));
  ASSERT_TRUE(ok(held));
  server_.kill9();
  const auto trusted = held->grant().trusted_until;
  ASSERT_TRUE(eventually([&] { return held->stop_token().stop_requested(); }));
  EXPECT_LT(BootClock::now(), trusted + 50ms) << "the margin of a lease of one second";
  EXPECT_TRUE(fails(store.locks().show("deploy"), Errc::unavailable));
}

TEST_F(PostgresCrashTest, AHeldLeaseSurvivesAShortRestart) {
  const auto store = open();
  auto held = store.locks().hold("deploy", {.ttl = 30s}, by("alice"));
  ASSERT_TRUE(ok(held));
  server_.kill9();
  server_.restart();
  EXPECT_TRUE(eventually([&] { return store.locks().heartbeat("deploy", held->token()).ok(); }, 20s));
  EXPECT_FALSE(held->stop_token().stop_requested());
}

}  // namespace
}  // namespace leasehold::support
