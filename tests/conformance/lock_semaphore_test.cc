// Semaphores: so many permits of a capacity. Never more than the capacity, and no waiter is forgotten.
#include <gtest/gtest.h>

#include <atomic>

#include "support/lock_family_fixture.h"

namespace leasehold::support {
namespace {

class LockSemaphoreTest : public LockFamilyTest {};
LEASEHOLD_ON_BOTH_STORES(LockSemaphoreTest);

TEST_P(LockSemaphoreTest, PermitsAreGivenUpToTheCapacityAndNotBeyond) {
  const auto ann = take(locks(), "gpu", permits(2, 5), by("ann"));
  take(locks(), "gpu", permits(2, 5), by("bob"));
  const auto refused = locks().acquire("gpu", permits(2, 5), by("cat"));
  ASSERT_TRUE(fails(refused, Errc::held));
  EXPECT_FALSE(refused.error().retry_at.has_value()) << "heartbeats may still come";
  ASSERT_TRUE(ok(locks().acquire("gpu", permits(1, 5), by("cat")))) << "there is room for one";
  EXPECT_TRUE(fails(locks().acquire("gpu", permits(1, 5), by("dan")), Errc::held));
  ASSERT_TRUE(ok(locks().release("gpu", ann.token)));
  EXPECT_TRUE(fails(locks().acquire("gpu", permits(3, 5), by("dan")), Errc::held));
  EXPECT_TRUE(ok(locks().acquire("gpu", permits(2, 5), by("dan"))));
}

TEST_P(LockSemaphoreTest, ShowHasPermitsAndCapacity) {
  take(locks(), "gpu", permits(2, 5), by("ann"));
  take(locks(), "gpu", permits(1, 5), by("bob"));
  const auto shown = must(locks().show("gpu"));
  EXPECT_EQ(shown.holders, 2);
  EXPECT_EQ(shown.permits, 3);
  EXPECT_EQ(shown.capacity, 5);
  const auto all = must(locks().holders("gpu"));
  EXPECT_EQ(all.at(0).permits, 2);
  EXPECT_EQ(all.at(0).capacity, 5);
  EXPECT_EQ(all.at(1).permits, 1);
}

TEST_P(LockSemaphoreTest, Promise06_ExpiredPermitsAreGivenToOthers) {
  take(locks(), "gpu", permits(3, 5, 10s), by("ann"));
  take(locks(), "gpu", permits(2, 5, 60s), by("bob"));
  advance(10s - 1us);
  EXPECT_TRUE(fails(locks().acquire("gpu", permits(3, 5), by("cat")), Errc::held));
  advance(1us);
  news();
  ASSERT_TRUE(ok(locks().acquire("gpu", permits(3, 5), by("cat"))));
  EXPECT_EQ(news(), "gpu expired ann (3 of 5 permits); gpu acquired cat (3 of 5 permits)");
  EXPECT_EQ(holders_of("gpu"), "bob cat");
}

TEST_P(LockSemaphoreTest, Promise05_ExpiredPermitsCannotBeRevivedEvenIfThereIsRoom) {
  const auto ann = take(locks(), "gpu", permits(1, 5, 10s), by("ann"));
  advance(10s);
  EXPECT_TRUE(lost(locks().heartbeat("gpu", ann.token), LostReason::expired));
}

TEST_P(LockSemaphoreTest, ARequestForTheWholeLockWaitsForTheLastPermit) {
  const auto ann = take(locks(), "gpu", permits(1, 5), by("ann"));
  EXPECT_TRUE(fails(locks().acquire("gpu", {}, by("bob")), Errc::held));
  ASSERT_TRUE(ok(locks().release("gpu", ann.token)));
  take(locks(), "gpu", {}, by("bob"));
  EXPECT_TRUE(fails(locks().acquire("gpu", permits(1, 5), by("ann")), Errc::held));
}

TEST_P(LockSemaphoreTest, AnotherCapacityIsAMismatchWhileAnybodyHasAShare) {
  const auto ann = take(locks(), "gpu", permits(1, 5), by("ann"));
  const auto before = dump();
  const auto refused = locks().acquire("gpu", permits(1, 6), by("bob"));
  ASSERT_TRUE(fails(refused, Errc::mismatch));
  EXPECT_NE(refused.error().message.find("capacity of 5"), std::string::npos) << refused.error().message;
  ASSERT_TRUE(refused.error().held_by.has_value());
  EXPECT_EQ(refused.error().held_by->holder.name, "ann");
  EXPECT_TRUE(fails(locks().acquire("gpu", sharing(), by("bob")), Errc::mismatch)) << "no capacity is another one";
  EXPECT_EQ(dump(), before);
  ASSERT_TRUE(ok(locks().release("gpu", ann.token)));
  ASSERT_TRUE(ok(locks().acquire("gpu", permits(6, 6), by("bob")))) << "no share is held: the new capacity counts";
  EXPECT_EQ(must(locks().show("gpu")).capacity, 6);
}

TEST_P(LockSemaphoreTest, AMismatchIsRefusedAtOnceEvenWithAWait) {
  take(locks(), "gpu", sharing(), by("ann"));
  const auto before = BootClock::now();
  const auto refused = locks().acquire("gpu", waiting(permits(1, 5)), by("bob"));
  ASSERT_TRUE(fails(refused, Errc::mismatch));
  EXPECT_LT(BootClock::now() - before, Duration(10s));
  EXPECT_NE(refused.error().message.find("without a capacity"), std::string::npos) << refused.error().message;
}

TEST_P(LockSemaphoreTest, AnExpiredShareOfAnotherCapacityIsNoMismatch) {
  take(locks(), "gpu", permits(1, 5, 10s), by("ann"));
  advance(10s);
  EXPECT_TRUE(ok(locks().acquire("gpu", permits(2, 2), by("bob"))));
}

TEST_P(LockSemaphoreTest, MeaninglessArgumentsAreRefusedAndChangeNothing) {
  const auto before = dump();
  for (const auto& share :
       {Share{.permits = 0, .capacity = 5}, Share{.permits = -1, .capacity = 5}, Share{.permits = 6, .capacity = 5},
        Share{.permits = 1, .capacity = 0}, Share{.permits = 1, .capacity = 1'000'000'001}, Share{.permits = 2}}) {
    AcquireOptions options{};
    options.share = share;
    EXPECT_TRUE(fails(locks().acquire("gpu", options, by("ann")), Errc::invalid_argument)) << share.permits;
  }
  EXPECT_EQ(dump(), before);
  EXPECT_TRUE(ok(locks().acquire("gpu", permits(1'000'000'000, 1'000'000'000), by("ann"))));
}

constexpr int capacity = 5;
constexpr int turns_each = 6;

/// Takes some permits again and again. `inside` counts the permits of all threads that do this.
void come_and_go(const Locks& locks, int number, std::atomic<int>& inside, std::atomic<int>& through) {
  const int wanted = 1 + number % 3;
  for (int round = 0; round < turns_each; ++round) {
    const auto mine =
        locks.acquire("gpu", waiting(permits(wanted, capacity), 60s), by("worker-" + std::to_string(number)));
    ASSERT_TRUE(ok(mine));
    EXPECT_LE(inside.fetch_add(wanted) + wanted, capacity) << "more permits than there are";
    ++through;
    inside.fetch_sub(wanted);
    ASSERT_TRUE(ok(locks.release("gpu", mine->token)));
  }
}

TEST_P(LockSemaphoreTest, SixteenThreadsNeverHaveMoreThanTheCapacityAndAllGetThrough) {
  std::atomic<int> inside{0};
  std::atomic<int> through{0};
  race(16, [&](int number, Store& store) { come_and_go(store.locks(), number, inside, through); });
  EXPECT_EQ(through.load(), 16 * turns_each);
  EXPECT_EQ(status_of(store()).waiters, 0);
  EXPECT_EQ(must(locks().show("gpu")).permits, 0);
}

LEASEHOLD_ROLE(uses_permits) {
  auto store = Store::open(env("URL"));
  if (!store) return 1;
  for (int round = 0; round < turns_each; ++round) {
    const auto mine = store->locks().acquire("gpu", waiting(permits(3, capacity), 60s), by(env("NAME")));
    if (!mine || !store->locks().release("gpu", mine->token)) return 2;
  }
  return 0;
}

TEST_P(LockSemaphoreTest, TwoProcessesGetThroughToo) {
  TestStore real(GetParam(), {.real_time = true});
  auto first = Process::self("uses_permits", {{"URL", real.url()}, {"NAME", "first"}});
  auto second = Process::self("uses_permits", {{"URL", real.url()}, {"NAME", "second"}});
  EXPECT_EQ(first.finish(60s).exit_code, 0);
  EXPECT_EQ(second.finish(60s).exit_code, 0);
  // The events are in the commits: three of five twice at once would show as two grants in a row.
  int inside = 0;
  for (const auto& event : must(real.open().events({.max = 1000}))) {
    inside += event.what == "acquired" ? 1 : -1;
    EXPECT_TRUE(inside == 0 || inside == 1) << name_of(event.holder) << " " << event.what;
  }
}

}  // namespace
}  // namespace leasehold::support
