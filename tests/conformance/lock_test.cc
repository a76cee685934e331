// The states of a lock, and which clock decides them. Promises 1, 2 and 6.
#include <gtest/gtest.h>

#include "support/lock_helpers.h"
#include "support/store_fixture.h"

namespace leasehold::support {
namespace {

class LockTest : public StoreTest {};
LEASEHOLD_ON_BOTH_STORES(LockTest);

TEST_P(LockTest, AGrantHasTheRequestAndItsEnd) {
  const auto grant = locks().acquire("deploy", {.ttl = 30s}, by("alice"));
  ASSERT_TRUE(ok(grant));
  EXPECT_EQ(grant->key, "deploy");
  EXPECT_EQ(grant->holder.name, "alice");
  EXPECT_EQ(grant->ttl, Duration(30s));
  EXPECT_EQ(grant->acquired_at, now());
  EXPECT_EQ(grant->expires_at, now() + 30s);
  EXPECT_FALSE(grant->replayed);
}

TEST_P(LockTest, Promise01_StateIsDerivedFromTheLeaseAndTheClock) {
  EXPECT_TRUE(fails(locks().show("deploy"), Errc::not_found));
  const auto grant = take(locks(), "deploy", {.ttl = 30s}, by("alice"));
  EXPECT_EQ(state_of(locks(), "deploy"), LeaseState::running);
  const auto rows = dump();
  advance(30s - 1us);
  EXPECT_EQ(state_of(locks(), "deploy"), LeaseState::running);
  advance(1us);
  EXPECT_EQ(state_of(locks(), "deploy"), LeaseState::expired);
  EXPECT_EQ(dump(), rows) << "the passing of time wrote something";
  ASSERT_TRUE(ok(locks().release("deploy", grant.token)));
  EXPECT_EQ(state_of(locks(), "deploy"), LeaseState::free);
}

TEST_P(LockTest, Promise01_NoColumnSaysRunning) {
  take(locks(), "deploy", {}, by("alice"));
  EXPECT_EQ(dump().find("running"), std::string::npos);
}

TEST_P(LockTest, Promise02_TheStoresClockDecidesEveryTime) {
  advance(17h);
  take(locks(), "deploy", {.ttl = 30s}, by("alice"));
  advance(10s);
  const auto info = locks().show("deploy");
  ASSERT_TRUE(ok(info));
  EXPECT_EQ(info->acquired_at, test_start + 17h);
  EXPECT_EQ(info->heartbeat_age(), Duration(10s));
  EXPECT_EQ(info->retry_in(), Duration(20s));
  EXPECT_EQ(info->store_now, now());
}

TEST_P(LockTest, ShowHasTheWholeHolder) {
  take(locks(), "deploy", {.ttl = 45s}, by("alice"));
  const auto info = locks().show("deploy");
  ASSERT_TRUE(ok(info));
  const auto alice = holder("alice");
  EXPECT_EQ(info->kind, "lock");
  EXPECT_EQ(info->key, "deploy");
  EXPECT_EQ(info->holder.name, alice.name);
  EXPECT_EQ(info->holder.host, alice.host);
  EXPECT_EQ(info->holder.boot_id, alice.boot_id);
  EXPECT_EQ(info->holder.pid, alice.pid);
  EXPECT_EQ(info->holder.process_start, alice.process_start);
  EXPECT_EQ(info->holder.tty, alice.tty);
  EXPECT_EQ(info->holder.instance, alice.instance);
  EXPECT_EQ(info->ttl, Duration(45s));
  EXPECT_FALSE(info->ended_at.has_value());
  EXPECT_TRUE(info->end_reason.empty());
}

TEST_P(LockTest, ShowHasTheReasonWhyItIsFree) {
  const auto grant = take(locks(), "deploy", {}, by("alice"));
  advance(5s);
  ASSERT_TRUE(ok(locks().release("deploy", grant.token)));
  const auto info = locks().show("deploy");
  ASSERT_TRUE(ok(info));
  EXPECT_EQ(info->state, LeaseState::free);
  EXPECT_EQ(info->end_reason, "released");
  EXPECT_EQ(info->ended_at, test_start + 5s);
  EXPECT_EQ(info->token, grant.token);
  EXPECT_EQ(info->holder.name, "alice");
}

TEST_P(LockTest, Promise06_ExpiredWorkIsTakenOverWithoutASweep) {
  take(locks(), "deploy", {.ttl = 30s}, by("alice"));
  advance(30s);
  const auto grant = locks().acquire("deploy", {}, by("bob"));
  ASSERT_TRUE(ok(grant));
  EXPECT_EQ(grant->holder.name, "bob");
  EXPECT_EQ(under_test().scalar("SELECT count(*) FROM " + under_test().table("lease") +
                                " WHERE ended_at IS NOT NULL AND end_reason = 'expired'"),
            "1")
      << "the takeover must end the old lease";
}

TEST_P(LockTest, AMicrosecondBeforeExpiryItIsStillHeld) {
  take(locks(), "deploy", {.ttl = 30s}, by("alice"));
  advance(30s - 1us);
  EXPECT_TRUE(fails(locks().acquire("deploy", {}, by("bob")), Errc::held));
}

TEST_P(LockTest, HeartbeatExtendsFromNowWithTheLeasesOwnTtl) {
  const auto grant = take(locks(), "deploy", {.ttl = 30s}, by("alice"));
  advance(20s);
  const auto extended = locks().heartbeat("deploy", grant.token);
  ASSERT_TRUE(ok(extended));
  EXPECT_EQ(extended->token, grant.token);
  EXPECT_EQ(extended->expires_at, now() + 30s);
  advance(29s);
  EXPECT_EQ(state_of(locks(), "deploy"), LeaseState::running);
}

TEST_P(LockTest, HeartbeatMayChangeTheTtl) {
  const auto grant = take(locks(), "deploy", {.ttl = 30s}, by("alice"));
  ASSERT_TRUE(ok(locks().heartbeat("deploy", grant.token, 5min)));
  advance(60s);
  const auto again = locks().heartbeat("deploy", grant.token);
  ASSERT_TRUE(ok(again));
  EXPECT_EQ(again->ttl, Duration(5min));
  EXPECT_EQ(again->expires_at, now() + 5min);
}

TEST_P(LockTest, HeartbeatMayShortenTheLease) {
  const auto grant = take(locks(), "deploy", {.ttl = 1h}, by("alice"));
  ASSERT_TRUE(ok(locks().heartbeat("deploy", grant.token, 1s)));
  advance(2s);
  EXPECT_TRUE(ok(locks().acquire("deploy", {}, by("bob"))));
}

TEST_P(LockTest, LocksOfDifferentNamesDoNotMeet) {
  take(locks(), "deploy", {}, by("alice"));
  EXPECT_TRUE(ok(locks().acquire("Deploy", {}, by("bob"))));
  EXPECT_TRUE(ok(locks().acquire("deploy ", {}, by("bob"))));
  EXPECT_TRUE(ok(locks().acquire("d\xC3\xA9ploy", {}, by("bob"))));
}

TEST_P(LockTest, TheSameHolderNameIsNoProofOfHolding) {
  take(locks(), "deploy", {}, by("alice"));
  auto namesake = by("alice");
  namesake.holder->instance = "another process";
  EXPECT_TRUE(fails(locks().acquire("deploy", {}, namesake), Errc::held));
}

TEST_P(LockTest, ListIsInOrderOfNamesWithTheirStates) {
  take(locks(), "b", {.ttl = 30s}, by("alice"));
  ASSERT_TRUE(ok(locks().release("c", take(locks(), "c", {}, by("bob")).token)));
  take(locks(), "a", {.ttl = 1s}, by("carol"));
  take(locks(), "B", {.ttl = 30s}, by("dave"));
  advance(2s);
  const auto all = locks().list();
  ASSERT_TRUE(ok(all));
  std::string seen;
  for (const auto& info : *all) seen += info.key + "=" + leasehold::to_string(info.state) + " ";
  EXPECT_EQ(seen, "B=running a=expired b=running c=free ");
}

TEST_P(LockTest, ListFiltersByPrefixAndByHeldAndStopsAtItsLimit) {
  for (const auto* name : {"app/a", "app/b", "app/c", "app%", "other"}) take(locks(), name, {}, by("alice"));
  ASSERT_TRUE(ok(locks().release("app/b", locks().show("app/b")->token)));
  const auto keys = [this](const LockFilter& filter) {
    std::string text;
    const auto found = locks().list(filter);
    for (const auto& info : found.value()) text += info.key + " ";
    return text;
  };
  EXPECT_EQ(keys({.prefix = "app/"}), "app/a app/b app/c ");
  EXPECT_EQ(keys({.prefix = "app/", .only_held = true}), "app/a app/c ");
  EXPECT_EQ(keys({.prefix = "app%"}), "app% ") << "a prefix is no pattern";
  EXPECT_EQ(keys({.max = 2}), "app% app/a ");
  EXPECT_EQ(keys({.prefix = "nothing"}), "");
}

}  // namespace
}  // namespace leasehold::support
