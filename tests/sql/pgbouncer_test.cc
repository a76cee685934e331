// Everything works behind pgbouncer in transaction mode, where session state does not hold.
#include <gtest/gtest.h>

#include <thread>

#include "support/lock_helpers.h"
#include "support/pgbouncer.h"
#include "support/process.h"
#include "support/store_fixture.h"

namespace leasehold::support {
namespace {

class PgBouncerTest : public ::testing::Test {
 protected:
  Store pooled(const std::string& options = {}) {
    auto store = Store::open(bouncer_.url() + "?schema=" + store_.schema() + options);
    if (!store) throw std::runtime_error(describe(store.error()));
    return *store;
  }

  TestStore store_{StoreKind::postgres, {.real_time = true}};
  PgBouncer bouncer_{store_.database_url()};
};

TEST_F(PgBouncerTest, EveryLockOperationWorks) {
  for (const auto* options : {"", "&prepare=off", "&prepare=auto"}) {
    SCOPED_TRACE(options);
    auto store = pooled(options);
    const auto locks = store.locks();
    for (int i = 0; i < 20; ++i) {
      const auto grant = locks.acquire("deploy", {}, by("alice"));
      ASSERT_TRUE(ok(grant));
      EXPECT_TRUE(fails(locks.acquire("deploy", {}, by("bob")), Errc::held));
      EXPECT_TRUE(ok(locks.heartbeat("deploy", grant->token)));
      EXPECT_TRUE(ok(locks.show("deploy")));
      EXPECT_TRUE(ok(locks.list()));
      EXPECT_TRUE(ok(locks.release("deploy", grant->token)));
    }
    take(locks, "deploy", {}, by("carol"));
    EXPECT_TRUE(ok(locks.revoke("deploy", "done")));
    EXPECT_TRUE(ok(store.events()));
    EXPECT_TRUE(ok(store.status()));
    EXPECT_TRUE(ok(store.doctor()));
    EXPECT_TRUE(ok(store.prune(1h)));
  }
}

TEST_F(PgBouncerTest, ManyThreadsOfTwoStoresShareTheServerConnections) {
  const std::vector<Store> stores{pooled(), pooled()};
  std::vector<std::jthread> threads;
  for (int i = 0; i < 6; ++i) {
    threads.emplace_back([&, i] {
      const auto locks = stores[static_cast<std::size_t>(i % 2)].locks();
      const auto name = "lock-" + std::to_string(i);
      for (int round = 0; round < 20; ++round) {
        const auto grant = locks.acquire(name, {}, by("worker"));
        ASSERT_TRUE(ok(grant));
        EXPECT_TRUE(ok(locks.heartbeat(name, grant->token)));
        EXPECT_TRUE(ok(locks.release(name, grant->token)));
      }
    });
  }
}

TEST_F(PgBouncerTest, WaitersAreServedWithoutNotifications) {
  auto store = pooled();
  const auto grant = take(store.locks(), "deploy", {}, by("alice"));
  AcquireOptions options{};
  options.wait = 20s;
  std::optional<Result<Grant>> answer;
  std::jthread waiter([&] { answer = store.locks().acquire("deploy", options, by("bob")); });
  ASSERT_TRUE(eventually([&] { return status_of(store).waiters == 1; }));
  ASSERT_TRUE(ok(store.locks().release("deploy", grant.token)));
  waiter.join();
  EXPECT_TRUE(ok(*answer));
}

TEST_F(PgBouncerTest, AHeldLeaseKeepsItselfAlive) {
  auto store = pooled();
  auto held = store.locks().hold("deploy", {.ttl = 600ms}, by("alice"));
  ASSERT_TRUE(ok(held));
  const auto first = held->grant().expires_at;
  EXPECT_TRUE(eventually([&] { return held->grant().expires_at > first + 600ms; }));
  EXPECT_FALSE(held->stop_token().stop_requested());
  EXPECT_TRUE(ok(held->release()));
}

}  // namespace
}  // namespace leasehold::support
