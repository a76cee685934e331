// Waiting for a lock: in order of arrival, woken by what happens, given up in time.
#include <gtest/gtest.h>

#include <atomic>
#include <mutex>
#include <thread>

#include "store/store.h"
#include "support/fault_backend.h"
#include "support/lock_helpers.h"
#include "support/process.h"
#include "support/store_fixture.h"

namespace leasehold::support {
namespace {

class WaitTest : public StoreTest {
 protected:
  bool in_line(std::int64_t count) {
    return eventually([&] { return status_of(store()).waiters == count; });
  }

  static AcquireOptions waiting(Duration wait = 30s) { return {.ttl = 30s, .wait = wait}; }
};
LEASEHOLD_ON_BOTH_STORES(WaitTest);

TEST_P(WaitTest, AFreeLockIsTakenWithoutWaiting) {
  EXPECT_TRUE(ok(locks().acquire("deploy", waiting(), by("alice"))));
  EXPECT_EQ(status_of(store()).waiters, 0);
}

// Waiters that write when they wake up wake each other: it was hundreds of commits a second.
TEST_P(WaitTest, WaitersOnlyLookWhileNothingHappens) {
  take(locks(), "deploy", {}, by("alice"));
  const auto counting = std::make_shared<FaultBackend>(under_test().open_backend());
  const auto store = store_over(counting, {});
  const auto waits = [&](const std::string& name) {
    EXPECT_TRUE(fails(store.locks().acquire("deploy", waiting(600ms), by(name)), Errc::held));
  };
  std::jthread bob([&] { waits("bob"); });
  std::jthread carol([&] { waits("carol"); });
  bob.join();
  carol.join();
  EXPECT_LE(counting->calls("lock_wait"), 6) << "to get in line, and to leave it";
}

TEST_P(WaitTest, AWaiterIsGrantedWhenTheHolderReleases) {
  const auto grant = take(locks(), "deploy", {}, by("alice"));
  std::optional<Result<Grant>> answer;
  std::jthread waiter([&] { answer = locks().acquire("deploy", waiting(), by("bob")); });
  ASSERT_TRUE(in_line(1));
  ASSERT_TRUE(ok(locks().release("deploy", grant.token)));
  waiter.join();
  ASSERT_TRUE(ok(*answer));
  EXPECT_EQ((*answer)->holder.name, "bob");
  EXPECT_GT((*answer)->token, grant.token);
  EXPECT_EQ(status_of(store()).waiters, 0);
}

TEST_P(WaitTest, AWaiterInAnotherStoreHandleIsGrantedToo) {
  const auto grant = take(locks(), "deploy", {}, by("alice"));
  auto other = open();
  std::optional<Result<Grant>> answer;
  std::jthread waiter([&] { answer = other.locks().acquire("deploy", waiting(), by("bob")); });
  ASSERT_TRUE(in_line(1));
  ASSERT_TRUE(ok(locks().release("deploy", grant.token)));
  waiter.join();
  EXPECT_TRUE(ok(*answer));
}

TEST_P(WaitTest, AWaiterIsGrantedWhenTheHolderIsRevoked) {
  take(locks(), "deploy", {}, by("alice"));
  std::optional<Result<Grant>> answer;
  std::jthread waiter([&] { answer = locks().acquire("deploy", waiting(), by("bob")); });
  ASSERT_TRUE(in_line(1));
  ASSERT_TRUE(ok(locks().revoke("deploy", "make way")));
  waiter.join();
  EXPECT_TRUE(ok(*answer));
}

TEST_P(WaitTest, AWaiterTakesOverWhenTheHolderDiesSilently) {
  const auto dead = take(locks(), "deploy", {.ttl = 30s}, by("alice"));
  std::optional<Result<Grant>> answer;
  std::jthread waiter([&] { answer = locks().acquire("deploy", waiting(), by("bob")); });
  ASSERT_TRUE(in_line(1));
  advance(31s);
  waiter.join();
  ASSERT_TRUE(ok(*answer));
  EXPECT_GT((*answer)->token, dead.token);
}

TEST_P(WaitTest, WaitersAreServedInOrderOfArrival) {
  const auto grant = take(locks(), "deploy", {.ttl = 1h}, by("alice"));
  std::mutex mutex;
  std::vector<std::string> served;
  std::vector<std::jthread> waiters;
  for (const auto* name : {"first", "second", "third"}) {
    waiters.emplace_back([&, name] {
      const auto mine = locks().acquire("deploy", waiting(), by(name));
      const std::lock_guard lock(mutex);
      served.emplace_back(mine.ok() ? name : describe(mine.error()));
      EXPECT_TRUE(mine.ok() && locks().release("deploy", mine->token).ok());
    });
    ASSERT_TRUE(in_line(static_cast<std::int64_t>(waiters.size())));
  }
  ASSERT_TRUE(ok(locks().release("deploy", grant.token)));
  waiters.clear();
  EXPECT_EQ(served, (std::vector<std::string>{"first", "second", "third"}));
}

TEST_P(WaitTest, WaitersOfDifferentStoreHandlesAreServedInOrderOfArrival) {
  const auto grant = take(locks(), "deploy", {.ttl = 1h}, by("alice"));
  std::mutex mutex;
  std::vector<std::string> served;
  std::vector<std::jthread> waiters;
  for (const auto* name : {"first", "second", "third"}) {
    waiters.emplace_back([&, name, own = open()] {
      const auto mine = own.locks().acquire("deploy", waiting(), by(name));
      const std::lock_guard lock(mutex);
      served.emplace_back(mine.ok() ? name : describe(mine.error()));
      EXPECT_TRUE(mine.ok() && own.locks().release("deploy", mine->token).ok());
    });
    ASSERT_TRUE(in_line(static_cast<std::int64_t>(waiters.size())));
  }
  ASSERT_TRUE(ok(locks().release("deploy", grant.token)));
  waiters.clear();
  EXPECT_EQ(served, (std::vector<std::string>{"first", "second", "third"}));
}

TEST_P(WaitTest, WhenTheWaitRunsOutTheRefusalIsHeldAndThePlaceIsGone) {
  take(locks(), "deploy", {.ttl = 1h}, by("alice"));
  const auto before = BootClock::now();
  const auto refused = locks().acquire("deploy", waiting(80ms), by("bob"));
  ASSERT_TRUE(fails(refused, Errc::held));
  EXPECT_GE(BootClock::now() - before, Duration(80ms));
  ASSERT_TRUE(refused.error().held_by.has_value());
  EXPECT_EQ(refused.error().held_by->holder.name, "alice");
  EXPECT_EQ(status_of(store()).waiters, 0) << "a caller that gave up must not block the line";
}

TEST_P(WaitTest, AWaiterWhoGivesUpLetsTheNextOneThrough) {
  const auto grant = take(locks(), "deploy", {.ttl = 1h}, by("alice"));
  std::stop_source enough;
  std::jthread impatient([&] {
    auto call = by("bob");
    call.stop = enough.get_token();
    EXPECT_FALSE(locks().acquire("deploy", waiting(), call).ok());
  });
  ASSERT_TRUE(in_line(1));
  std::optional<Result<Grant>> answer;
  std::jthread patient([&] { answer = locks().acquire("deploy", waiting(), by("carol")); });
  ASSERT_TRUE(in_line(2));
  enough.request_stop();
  impatient.join();
  ASSERT_TRUE(ok(locks().release("deploy", grant.token)));
  patient.join();
  EXPECT_TRUE(ok(*answer));
}

TEST_P(WaitTest, OneOfManyContendersHoldsAtATime) {
  constexpr int threads = 4;
  constexpr int rounds = 10;
  std::atomic<int> inside{0};
  std::atomic<int> done{0};
  std::vector<std::jthread> contenders;
  for (int i = 0; i < threads; ++i) {
    contenders.emplace_back([&, i] {
      for (int round = 0; round < rounds; ++round) {
        const auto mine = locks().acquire("counter", waiting(60s), by("worker-" + std::to_string(i)));
        ASSERT_TRUE(ok(mine));
        EXPECT_EQ(inside.fetch_add(1), 0) << "two holders at once";
        ++done;
        inside.fetch_sub(1);
        ASSERT_TRUE(ok(locks().release("counter", mine->token)));
      }
    });
  }
  contenders.clear();
  EXPECT_EQ(done.load(), threads * rounds);
  EXPECT_EQ(status_of(store()).waiters, 0);
}

}  // namespace
}  // namespace leasehold::support
