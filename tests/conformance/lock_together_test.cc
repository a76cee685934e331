// Several locks in one step: all or none, one lease, one token; taken together, given back together.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>

#include "support/dead_holder.h"
#include "support/lock_family_fixture.h"

namespace leasehold::support {
namespace {

class LockTogetherTest : public LockFamilyTest {};
LEASEHOLD_ON_BOTH_STORES(LockTogetherTest);

TEST_P(LockTogetherTest, AllAreGrantedUnderOneTokenAndOneLease) {
  const auto grant = locks().acquire_all({"c", "a", "b"}, {.ttl = 30s}, by("ann"));
  ASSERT_TRUE(ok(grant));
  EXPECT_EQ(grant->key, "a") << "the first in the order of names";
  EXPECT_EQ(grant->expires_at, now() + 30s);
  for (const auto* name : {"a", "b", "c"}) {
    const auto shown = must(locks().show(name));
    EXPECT_EQ(shown.token, grant->token);
    EXPECT_EQ(shown.holder.name, "ann");
    EXPECT_EQ(holders_of(name), "ann");
  }
  EXPECT_EQ(under_test().scalar("SELECT count(*) FROM " + under_test().table("lease")), "1");
  EXPECT_EQ(must(store().leases()).size(), 3U) << "one row for each name";
  EXPECT_EQ(news(), "a acquired ann; b acquired ann; c acquired ann");
}

TEST_P(LockTogetherTest, Promise03_TheTokenIsGreaterThanTheLatestOfEveryName) {
  const auto a = take(locks(), "a", {}, by("ann"));
  Token latest = a.token;
  for (int i = 0; i < 5; ++i) {
    const auto b = take(locks(), "b", {}, by("ann"));
    latest = std::max(latest, b.token);
    ASSERT_TRUE(ok(locks().release("b", b.token)));
  }
  ASSERT_TRUE(ok(locks().release("a", a.token)));
  const auto both = take_all({"a", "b"}, {}, by("bob"));
  EXPECT_GT(both.token, latest);
  ASSERT_TRUE(ok(locks().release("a", both.token)));
  EXPECT_GT(take(locks(), "a", {}, by("cat")).token, both.token);
  EXPECT_GT(take(locks(), "b", {}, by("cat")).token, both.token);
}

TEST_P(LockTogetherTest, Promise11_ARefusalTakesNoneAndNamesTheFirstInTheWay) {
  take(locks(), "c", {}, by("ann"));
  take(locks(), "b", sharing(), by("bob"));
  const auto events = must(store().events()).size();
  const auto refused = locks().acquire_all({"a", "c", "b"}, {}, by("cat"));
  ASSERT_TRUE(fails(refused, Errc::held));
  EXPECT_EQ(refused.error().held_by->key, "b");
  EXPECT_EQ(refused.error().held_by->holder.name, "bob");
  EXPECT_TRUE(fails(locks().show("a"), Errc::not_found));
  EXPECT_EQ(must(store().events()).size(), events);
  EXPECT_EQ(status_of(store()).locks, 2);
}

TEST_P(LockTogetherTest, NamesAreInTheOrderOfTheirBytes) {
  for (const auto* name : {"B", "a", "\xC3\x84"}) take(locks(), name, {}, by("ann"));
  const auto refused = locks().acquire_all({"\xC3\x84", "a", "B"}, {}, by("bob"));
  ASSERT_TRUE(fails(refused, Errc::held));
  EXPECT_EQ(refused.error().held_by->key, "B") << "on every store, whatever its collation";
}

TEST_P(LockTogetherTest, AnyOfTheNamesExtendsThemAll) {
  const auto grant = take_all({"a", "b"}, {.ttl = 30s}, by("ann"));
  advance(20s);
  const auto extended = locks().heartbeat("b", grant.token);
  ASSERT_TRUE(ok(extended));
  EXPECT_EQ(extended->expires_at, now() + 30s);
  EXPECT_EQ(must(locks().show("a")).expires_at, now() + 30s);
}

TEST_P(LockTogetherTest, AnyOfTheNamesGivesThemAllBack) {
  const auto grant = take_all({"a", "b", "c"}, {}, by("ann"));
  news();
  ASSERT_TRUE(ok(locks().release("b", grant.token)));
  EXPECT_EQ(news(), "a released ann; b released ann; c released ann");
  for (const auto* name : {"a", "b", "c"}) {
    EXPECT_EQ(state_of(locks(), name), LeaseState::free) << name;
    EXPECT_TRUE(ok(locks().release(name, grant.token))) << "giving back twice is fine";
    EXPECT_TRUE(lost(locks().heartbeat(name, grant.token), LostReason::finished));
  }
}

TEST_P(LockTogetherTest, RevokingOneRevokesThemAll) {
  const auto grant = take_all({"c", "a", "b"}, {}, by("ann"));
  news();
  ASSERT_TRUE(ok(locks().revoke("c", "enough")));
  EXPECT_EQ(news(), "a revoked ann (enough); b revoked ann (enough); c revoked ann (enough)");
  EXPECT_TRUE(lost(locks().heartbeat("a", grant.token), LostReason::revoked));
  EXPECT_TRUE(ok(locks().acquire_all({"a", "b", "c"}, {}, by("bob"))));
}

TEST_P(LockTogetherTest, Promise06_TakingOverOneFreesTheOthers) {
  const auto grant = take_all({"a", "b", "c"}, {.ttl = 10s}, by("ann"));
  advance(10s);
  news();
  ASSERT_TRUE(ok(locks().acquire("b", {}, by("bob"))));
  EXPECT_EQ(news(), "a expired ann; c expired ann; b reclaimed bob from ann");
  EXPECT_EQ(state_of(locks(), "a"), LeaseState::free);
  EXPECT_TRUE(lost(locks().heartbeat("a", grant.token), LostReason::expired));
  EXPECT_TRUE(lost(locks().heartbeat("b", grant.token), LostReason::superseded));
  EXPECT_TRUE(lost(locks().release("c", grant.token), LostReason::expired));
}

TEST_P(LockTogetherTest, Promise06_TakingOverSeveralLocksWritesAnEventForEach) {
  take_all({"a", "b"}, {.ttl = 10s}, by("ann"));
  take(locks(), "c", sharing(10s), by("bob"));
  take(locks(), "d", {.ttl = 10s}, by("cat"));
  advance(10s);
  news();
  ASSERT_TRUE(ok(locks().acquire_all({"d", "c", "b"}, {}, by("dan"))));
  EXPECT_EQ(
      news(),
      "a expired ann; c expired bob (shared); b reclaimed dan from ann; c acquired dan; d reclaimed dan from cat");
  EXPECT_EQ(state_of(locks(), "a"), LeaseState::free);
}

TEST_P(LockTogetherTest, Promise06_TakingOverOneWakesTheLinesOfTheOthers) {
  take_all({"a", "b"}, {.ttl = 1h}, by("ann"));
  std::optional<Result<Grant>> answer;
  std::jthread waiter([&] { answer = locks().acquire("b", waiting(AcquireOptions{}), by("bob")); });
  ASSERT_TRUE(in_line(1));
  advance(1h);
  ASSERT_TRUE(ok(locks().acquire("a", {}, by("cat"))));
  waiter.join();
  ASSERT_TRUE(ok(*answer));
  EXPECT_EQ(holders_of("a"), "cat");
  EXPECT_EQ(holders_of("b"), "bob");
}

TEST_P(LockTogetherTest, GivingBackWakesTheLineOfEachName) {
  const auto grant = take_all({"a", "b", "c"}, {.ttl = 1h}, by("ann"));
  std::vector<std::optional<Result<Grant>>> answers(3);
  std::vector<std::jthread> waiters;
  for (std::size_t i = 0; i < 3; ++i) {
    waiters.emplace_back([&, i] {
      const auto name = std::string(1, static_cast<char>('a' + i));
      answers[i] = locks().acquire(name, waiting(AcquireOptions{}), by("waiter of " + name));
    });
  }
  ASSERT_TRUE(in_line(3));
  ASSERT_TRUE(ok(locks().release("a", grant.token)));
  waiters.clear();
  for (const auto& answer : answers) EXPECT_TRUE(ok(*answer));
}

TEST_P(LockTogetherTest, RecoverCountsEveryNameThatItFrees) {
  take_all({"a", "b", "c"}, {.ttl = 10s}, by("ann"));
  advance(10s);
  news();
  EXPECT_EQ(must(store().recovery_stats()).stale_now.locks, 3);
  EXPECT_EQ(must(store().recover()).locks, 3);
  EXPECT_EQ(news(), "a expired ann; b expired ann; c expired ann");
}

TEST_P(LockTogetherTest, TheLocksOfADeadProcessAreAllFree) {
  take_all({"a", "b"}, {.ttl = 1h}, {.holder = dead_holder("ann")});
  news();
  must(store().recover());
  EXPECT_EQ(news(), "a expired ann (process gone); b expired ann (process gone)");
  EXPECT_TRUE(ok(locks().acquire_all({"a", "b"}, {}, by("bob"))));
}

TEST_P(LockTogetherTest, Promise13_ARepeatedRequestGivesTheFirstAnswerAgain) {
  const auto first = take_all({"a", "b"}, asked_as(AcquireOptions{}, "r1"), by("ann"));
  advance(10s);
  const auto again = locks().acquire_all({"b", "a"}, asked_as(AcquireOptions{}, "r1"), by("ann"));
  ASSERT_TRUE(ok(again));
  EXPECT_TRUE(again->replayed);
  EXPECT_EQ(again->token, first.token);
  EXPECT_EQ(again->expires_at, first.expires_at);
  EXPECT_TRUE(
      lost(locks().acquire_all({"a", "c"}, asked_as(AcquireOptions{}, "r1"), by("ann")), LostReason::superseded))
      << "another request";
  ASSERT_TRUE(ok(locks().release("a", first.token)));
  EXPECT_TRUE(lost(locks().acquire_all({"a", "b"}, asked_as(AcquireOptions{}, "r1"), by("ann")), LostReason::finished));
  take(locks(), "b", {}, by("bob"));
  EXPECT_TRUE(
      lost(locks().acquire_all({"a", "b"}, asked_as(AcquireOptions{}, "r1"), by("ann")), LostReason::superseded));
}

TEST_P(LockTogetherTest, Promise13_ARequestForFewerOrMoreNamesIsAnother) {
  const auto first = take_all({"a", "b"}, asked_as(AcquireOptions{}, "r1"), by("ann"));
  for (const Names& other : {Names{"a"}, Names{"b"}, Names{"a", "b", "c"}}) {
    EXPECT_TRUE(lost(locks().acquire_all(other, asked_as(AcquireOptions{}, "r1"), by("ann")), LostReason::superseded))
        << other.size();
  }
  ASSERT_TRUE(ok(locks().release("b", first.token)));
  EXPECT_TRUE(lost(locks().acquire("a", asked_as(AcquireOptions{}, "r1"), by("ann")), LostReason::superseded));
  take(locks(), "d", asked_as(AcquireOptions{}, "r2"), by("ann"));
  EXPECT_TRUE(
      lost(locks().acquire_all({"d", "e"}, asked_as(AcquireOptions{}, "r2"), by("ann")), LostReason::superseded));
}

TEST_P(LockTogetherTest, ShowHasTheLocksThatEndWithIt) {
  const auto all = take_all({"c", "a", "b"}, {}, by("ann"));
  take(locks(), "d", {}, by("bob"));
  EXPECT_EQ(must(locks().show("b")).together, Names({"a", "c"}));
  EXPECT_EQ(must(locks().show("d")).together, Names());
  ASSERT_TRUE(ok(locks().release("c", all.token)));
  EXPECT_EQ(must(locks().show("b")).together, Names());
}

TEST_P(LockTogetherTest, ALaterGrantOfOneNameIsOnItsOwn) {
  const auto both = take_all({"a", "b"}, {}, by("ann"));
  ASSERT_TRUE(ok(locks().release("a", both.token)));
  const auto a = take(locks(), "a", {}, by("bob"));
  take(locks(), "b", {}, by("cat"));
  ASSERT_TRUE(ok(locks().release("a", a.token)));
  EXPECT_EQ(holders_of("b"), "cat") << "they are not together any more";
}

TEST_P(LockTogetherTest, MeaninglessArgumentsAreRefusedAndChangeNothing) {
  const auto before = dump();
  Names many;
  for (int i = 0; i < 101; ++i) many.push_back("lock-" + std::to_string(i));
  EXPECT_TRUE(fails(locks().acquire_all({}, {}, by("ann")), Errc::invalid_argument));
  EXPECT_TRUE(fails(locks().acquire_all(many, {}, by("ann")), Errc::invalid_argument));
  EXPECT_TRUE(fails(locks().acquire_all({"a", "b", "a"}, {}, by("ann")), Errc::invalid_argument));
  EXPECT_TRUE(fails(locks().acquire_all({"a", ""}, {}, by("ann")), Errc::invalid_argument));
  EXPECT_TRUE(fails(locks().acquire_all({"a", "b"}, sharing(), by("ann")), Errc::invalid_argument));
  EXPECT_EQ(dump(), before);
  many.pop_back();
  const auto hundred = locks().acquire_all(many, {}, by("ann"));
  ASSERT_TRUE(ok(hundred));
  EXPECT_TRUE(ok(locks().release("lock-99", hundred->token)));
}

TEST_P(LockTogetherTest, HoldAllKeepsThemAndGivesThemBack) {
  {
    auto held = locks().hold_all({"a", "b"}, {}, by("ann"));
    ASSERT_TRUE(ok(held));
    EXPECT_EQ(holders_of("a"), "ann");
    EXPECT_EQ(holders_of("b"), "ann");
  }
  EXPECT_EQ(state_of(locks(), "a"), LeaseState::free);
  EXPECT_EQ(state_of(locks(), "b"), LeaseState::free);
}

TEST_P(LockTogetherTest, ManyInOppositeOrderNeitherDeadlockNorMeet) {
  constexpr int threads = 8;
  constexpr int rounds = 5;
  std::array<std::atomic<int>, 4> inside{};
  std::atomic<int> through{0};
  race(threads, [&](int number, Store& store) {
    // A window of three of the four, forwards or backwards.
    Names names;
    for (int i = 0; i < 3; ++i) names.push_back(std::string(1, static_cast<char>('a' + (number / 2 + i) % 4)));
    if (number % 2 == 1) std::reverse(names.begin(), names.end());
    const auto each = [&](int by) {
      int max = 0;
      for (const auto& name : names) {
        max = std::max(max, inside.at(static_cast<std::size_t>(name[0] - 'a')).fetch_add(by) + by);
      }
      return max;
    };
    for (int round = 0; round < rounds; ++round) {
      const auto mine =
          store.locks().acquire_all(names, waiting(AcquireOptions{}, 60s), by("worker-" + std::to_string(number)));
      ASSERT_TRUE(ok(mine));
      EXPECT_EQ(each(1), 1) << "two have the same lock";
      ++through;
      each(-1);
      ASSERT_TRUE(ok(store.locks().release(names.front(), mine->token)));
    }
  });
  EXPECT_EQ(through.load(), threads * rounds);
  EXPECT_EQ(status_of(store()).waiters, 0);
}

}  // namespace
}  // namespace leasehold::support
