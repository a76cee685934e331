// Promise 12: the event is in the same commit as the change that it records.
#include <gtest/gtest.h>

#include "support/lock_helpers.h"
#include "support/store_fixture.h"

namespace leasehold::support {
namespace {

class EventsTest : public StoreTest {
 protected:
  std::vector<Event> events(const EventFilter& filter = {}) {
    auto found = store().events(filter);
    EXPECT_TRUE(ok(found));
    return found ? found->items : std::vector<Event>{};
  }
  std::string words(const EventFilter& filter = {}) {
    std::string text;
    for (const auto& event : events(filter)) text += event.key + ":" + event.what + " ";
    return text;
  }
};
LEASEHOLD_ON_BOTH_STORES(EventsTest);

TEST_P(EventsTest, Promise12_AcquireAndReleaseAreEvents) {
  const auto grant = take(locks(), "deploy", {}, by("alice"));
  advance(3s);
  ASSERT_TRUE(ok(locks().release("deploy", grant.token)));
  const auto all = events();
  ASSERT_EQ(all.size(), 2U);
  EXPECT_EQ(all[0].what, "acquired");
  EXPECT_EQ(all[0].kind, "lock");
  EXPECT_EQ(all[0].key, "deploy");
  EXPECT_EQ(all[0].at, test_start);
  EXPECT_EQ(all[0].token, grant.token);
  EXPECT_EQ(name_of(all[0].holder), "alice");
  EXPECT_EQ(host_of(all[0].holder), "host-of-alice");
  EXPECT_FALSE(all[0].previous_holder);
  EXPECT_EQ(all[1].what, "released");
  EXPECT_EQ(all[1].at, test_start + 3s);
  EXPECT_EQ(all[1].token, grant.token);
  EXPECT_EQ(name_of(all[1].holder), "alice");
  EXPECT_GT(all[1].id, all[0].id);
}

TEST_P(EventsTest, Promise12_ATakeoverSaysFromWhom) {
  take(locks(), "deploy", {.ttl = 30s}, by("alice"));
  advance(31s);
  const auto grant = take(locks(), "deploy", {}, by("bob"));
  const auto all = events();
  ASSERT_EQ(all.size(), 2U);
  EXPECT_EQ(all[1].what, "reclaimed");
  EXPECT_EQ(name_of(all[1].holder), "bob");
  EXPECT_EQ(name_of(all[1].previous_holder), "alice");
  EXPECT_EQ(all[1].token, grant.token);
  EXPECT_EQ(all[1].at, now());
}

TEST_P(EventsTest, Promise12_AGrantAfterAReleaseIsNoTakeover) {
  ASSERT_TRUE(ok(locks().release("deploy", take(locks(), "deploy", {}, by("alice")).token)));
  take(locks(), "deploy", {}, by("bob"));
  EXPECT_EQ(words(), "deploy:acquired deploy:released deploy:acquired ");
  EXPECT_FALSE(events().back().previous_holder);
}

TEST_P(EventsTest, Promise12_ARevokeIsAnEventWithItsReason) {
  const auto grant = take(locks(), "deploy", {}, by("alice"));
  ASSERT_TRUE(ok(locks().revoke("deploy", "the host is on fire")));
  const auto event = events().back();
  EXPECT_EQ(event.what, "revoked");
  EXPECT_EQ(event.detail, "the host is on fire");
  EXPECT_EQ(name_of(event.holder), "alice");
  EXPECT_EQ(event.token, grant.token);
}

TEST_P(EventsTest, Promise12_RefusalsHeartbeatsAndLostActsAreNoEvents) {
  const auto grant = take(locks(), "deploy", {}, by("alice"));
  EXPECT_FALSE(locks().acquire("deploy", {}, by("bob")).ok());
  EXPECT_TRUE(locks().heartbeat("deploy", grant.token).ok());
  EXPECT_FALSE(locks().release("deploy", Token{1}).ok());
  EXPECT_EQ(words(), "deploy:acquired ");
}

TEST_P(EventsTest, TheNewestComeOldestFirst) {
  for (const auto* name : {"a", "b", "c", "d"}) take(locks(), name, {}, by("alice"));
  EXPECT_EQ(words({.max = 2}), "c:acquired d:acquired ");
}

TEST_P(EventsTest, FollowingAsksForWhatCameAfter) {
  take(locks(), "a", {}, by("alice"));
  const auto last = events().back().id;
  EXPECT_EQ(words({.after_id = last}), "");
  take(locks(), "b", {}, by("alice"));
  EXPECT_EQ(words({.after_id = last}), "b:acquired ");
}

TEST_P(EventsTest, OneKeyCanBeAskedFor) {
  take(locks(), "a", {}, by("alice"));
  take(locks(), "b", {}, by("alice"));
  EXPECT_EQ(words({.key = "a"}), "a:acquired ");
  EXPECT_EQ(words({.key = "nothing"}), "");
}

TEST_P(EventsTest, WaitForChangeReturnsAtItsTimeoutWhenNothingHappens) {
  const auto before = BootClock::now();
  store().wait_for_change(50ms);
  EXPECT_LT(BootClock::now() - before, Duration(5s));
}

}  // namespace
}  // namespace leasehold::support
