// Promise 9: the holder knows when to stop. Heartbeats run in real time here, while the store's clock
// stands still unless the test moves it.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>

#include "store/store.h"
#include "support/fault_backend.h"
#include "support/job_helpers.h"
#include "support/process.h"
#include "support/store_fixture.h"

namespace leasehold::support {
namespace {

class HeldLeaseTest : public StoreTest {
 protected:
  /// A store whose network the test can break.
  Store fragile() {
    faults_ = std::make_shared<FaultBackend>(under_test().open_backend());
    return store_over(faults_, {.call_timeout = 200ms});
  }

  std::shared_ptr<FaultBackend> faults_;
};
LEASEHOLD_ON_BOTH_STORES(HeldLeaseTest);

TEST_P(HeldLeaseTest, Promise09_TrustIsCountedFromBeforeTheRequest) {
  const auto before = BootClock::now();
  const auto grant = locks().acquire("deploy", {.ttl = 10s}, by("alice"));
  ASSERT_TRUE(ok(grant));
  EXPECT_LT(grant->trusted_until, BootClock::now() + 10s);
  EXPECT_GT(grant->trusted_until, before + 8s) << "a margin, not more";
  const auto again = BootClock::now();
  const auto extended = locks().heartbeat("deploy", grant->token, 20s);
  ASSERT_TRUE(ok(extended));
  EXPECT_LT(extended->trusted_until, BootClock::now() + 20s);
  EXPECT_GT(extended->trusted_until, again + 18s);
}

TEST_P(HeldLeaseTest, HeartbeatsByItself) {
  auto held = locks().hold("deploy", {.ttl = 300ms}, by("alice"));
  ASSERT_TRUE(ok(held));
  std::atomic<int> beats{0};
  held->on_extended([&](const Grant&) { ++beats; });
  for (int i = 0; i < 5; ++i) {
    const int seen = beats;
    ASSERT_TRUE(eventually([&] { return beats > seen; }));
    advance(100ms);
  }
  EXPECT_FALSE(held->stop_token().stop_requested());
  EXPECT_FALSE(held->lost().has_value());
  EXPECT_EQ(state_of(locks(), "deploy"), LeaseState::running) << "500 ms of a lease of 300";
  EXPECT_TRUE(ok(held->release()));
}

TEST_P(HeldLeaseTest, AForkedChildDoesNotGiveBackWhatItsParentHolds) {
  auto held = locks().hold("deploy", {.ttl = 30s}, by("alice"));
  ASSERT_TRUE(ok(held));
  const auto child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    const bool refused = !held->release();
    { const auto gone = std::move(*held); }
    ::_exit(refused ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
  EXPECT_EQ(state_of(locks(), "deploy"), LeaseState::running);
  EXPECT_TRUE(ok(held->release()));
}

TEST_P(HeldLeaseTest, TheGrantItShowsMovesOnWithTheHeartbeats) {
  auto held = locks().hold("deploy", {.ttl = 300ms}, by("alice"));
  ASSERT_TRUE(ok(held));
  const auto first = held->grant();
  EXPECT_TRUE(eventually([&] { return held->grant().trusted_until > first.trusted_until; }));
  EXPECT_EQ(held->grant().token, first.token);
  EXPECT_EQ(held->token(), first.token);
}

TEST_P(HeldLeaseTest, TheDestructorReleases) {
  {
    auto held = locks().hold("deploy", {.ttl = 10s}, by("alice"));
    ASSERT_TRUE(ok(held));
    EXPECT_EQ(state_of(locks(), "deploy"), LeaseState::running);
  }
  EXPECT_EQ(state_of(locks(), "deploy"), LeaseState::free);
  EXPECT_EQ(locks().show("deploy")->end_reason, "released");
}

TEST_P(HeldLeaseTest, ReleaseEndsItOnceAndMovingKeepsIt) {
  Token others;
  {
    auto held = locks().hold("deploy", {.ttl = 10s}, by("alice"));
    ASSERT_TRUE(ok(held));
    HeldLease moved = std::move(*held);
    EXPECT_EQ(state_of(locks(), "deploy"), LeaseState::running);
    EXPECT_TRUE(ok(moved.release()));
    EXPECT_EQ(state_of(locks(), "deploy"), LeaseState::free);
    others = take(locks(), "deploy", {}, by("bob")).token;
  }
  EXPECT_TRUE(ok(locks().heartbeat("deploy", others))) << "the old object must not touch the new grant";
}

TEST_P(HeldLeaseTest, ASecondReleaseGivesTheFirstAnswerAgain) {
  auto revoked = must(locks().hold("deploy", {.ttl = 10s}, by("alice")));
  ASSERT_TRUE(ok(locks().revoke("deploy", "stop now")));
  EXPECT_TRUE(lost(revoked.release(), LostReason::revoked));
  EXPECT_TRUE(lost(revoked.release(), LostReason::revoked));

  auto released = must(locks().hold("deploy", {.ttl = 10s}, by("alice")));
  EXPECT_TRUE(ok(released.release()));
  const auto bobs = take(locks(), "deploy", {}, by("bob"));
  EXPECT_TRUE(ok(released.release())) << "it was released, even if another holder has it now";
  EXPECT_TRUE(ok(locks().heartbeat("deploy", bobs.token)));
}

TEST_P(HeldLeaseTest, AReleaseThatDidNotReachTheStoreCanBeRepeated) {
  auto store = fragile();
  auto held = must(store.locks().hold("deploy", {.ttl = 10s}, by("alice")));
  faults_->fail_always(Fault::fail_before_send);
  EXPECT_TRUE(fails(held.release(), Errc::unavailable));
  EXPECT_TRUE(fails(held.release(), Errc::unavailable));
  faults_->heal();
  EXPECT_EQ(state_of(locks(), "deploy"), LeaseState::running);
  EXPECT_TRUE(ok(held.release()));
  EXPECT_EQ(state_of(locks(), "deploy"), LeaseState::free);
}

// The next heartbeat comes in more than three minutes.
TEST_P(HeldLeaseTest, Promise09_TheStopTokenFiresLongBeforeTheNextHeartbeatWhenTheLeaseIsRevoked) {
  auto held = must(locks().hold("deploy", {.ttl = 10min}, by("alice")));
  auto other = must(locks().hold("other", {.ttl = 10min}, by("alice")));
  ASSERT_TRUE(ok(locks().revoke("deploy", "stop now")));
  const auto asked = BootClock::now();
  ASSERT_TRUE(eventually([&] { return held.stop_token().stop_requested(); }));
  EXPECT_LT(BootClock::now() - asked, 5s);
  EXPECT_EQ(held.lost().value().lost_reason, LostReason::revoked);
  EXPECT_FALSE(other.stop_token().stop_requested());
}

TEST_P(HeldLeaseTest, Promise09_AShareOfALockHearsOfItsRevokeAsSoon) {
  AcquireOptions options{.ttl = 10min};
  options.share = Share{};
  auto held = must(locks().hold("deploy", options, by("alice")));
  ASSERT_TRUE(ok(locks().revoke("deploy", "stop now")));
  EXPECT_TRUE(eventually([&] { return held.stop_token().stop_requested(); }));
}

TEST_P(HeldLeaseTest, Promise09_ASessionHearsOfItsRevokeAsSoon) {
  auto held = must(store().sessions().hold({.id = "ann", .ttl = 10min}));
  ASSERT_TRUE(ok(store().sessions().revoke("ann", "stop now")));
  EXPECT_TRUE(eventually([&] { return held.stop_token().stop_requested(); }));
}

// A callback may destroy the lease that it is called for, and the store.
TEST_P(HeldLeaseTest, TheNewsOfARevokeMayDestroyTheLease) {
  std::optional<Store> store = under_test().open();
  std::optional<HeldLease> held = must(store->locks().hold("deploy", {.ttl = 10min}, by("alice")));
  store.reset();
  std::atomic<bool> destroyed = false;
  const std::stop_callback on_lost(held->stop_token(), [&] {
    held.reset();
    destroyed = true;
  });
  ASSERT_TRUE(ok(locks().revoke("deploy", "stop now")));
  EXPECT_TRUE(eventually([&] { return destroyed.load(); }));
}

TEST_P(HeldLeaseTest, Promise09_TheStopTokenFiresWhenTheLeaseIsRevoked) {
  auto held = locks().hold("deploy", {.ttl = 300ms}, by("alice"));
  ASSERT_TRUE(ok(held));
  ASSERT_TRUE(ok(locks().revoke("deploy", "stop now")));
  ASSERT_TRUE(eventually([&] { return held->stop_token().stop_requested(); }));
  ASSERT_TRUE(eventually([&] { return held->lost().has_value(); }));
  EXPECT_EQ(held->lost()->code, Errc::lost);
  EXPECT_EQ(held->lost()->lost_reason, LostReason::revoked);
}

TEST_P(HeldLeaseTest, Promise09_TheStopTokenFiresWhenAnotherTookOver) {
  auto held = locks().hold("deploy", {.ttl = 300ms}, by("alice"));
  ASSERT_TRUE(ok(held));
  advance(1s);
  const auto bob = locks().acquire("deploy", {.ttl = 30s}, by("bob"));
  ASSERT_TRUE(ok(bob));
  ASSERT_TRUE(eventually([&] { return held->stop_token().stop_requested(); }));
  EXPECT_FALSE(held->release().ok());
  EXPECT_TRUE(ok(locks().heartbeat("deploy", bob->token)));
}

TEST_P(HeldLeaseTest, Promise09_WithoutAnAnswerTheStopTokenFiresBeforeTheLeaseEnds) {
  auto store = fragile();
  auto held = store.locks().hold("deploy", {.ttl = 600ms}, by("alice"));
  ASSERT_TRUE(ok(held));
  std::atomic<std::int64_t> stopped_at{0};
  const std::stop_callback note(held->stop_token(), [&] { stopped_at = BootClock::now().time_since_epoch().count(); });
  faults_->fail_always(Fault::fail_before_send);
  const auto trusted = held->grant().trusted_until;
  ASSERT_TRUE(eventually([&] { return held->stop_token().stop_requested(); }));
  ASSERT_TRUE(eventually([&] { return stopped_at != 0; }));
  // The margin of trust (30 ms of 600) is for what lies between the clock and the callback.
  EXPECT_LT(stopped_at.load(), (trusted + 30ms).time_since_epoch().count());
  EXPECT_GT(stopped_at.load(), (trusted - 200ms).time_since_epoch().count()) << "not at the first hiccup";
  ASSERT_TRUE(held->lost().has_value());
  EXPECT_NE(held->lost()->code, Errc::lost) << "the store did not say that it was lost";
}

TEST_P(HeldLeaseTest, AnOutageShorterThanTheLeaseIsSurvived) {
  auto store = fragile();
  auto held = store.locks().hold("deploy", {.ttl = 900ms}, by("alice"));
  ASSERT_TRUE(ok(held));
  faults_->fail_next(Fault::fail_before_send, 1, "lock_heartbeat");
  ASSERT_TRUE(eventually([&] { return faults_->failures() == 1; }));
  const auto trusted = held->grant().trusted_until;
  EXPECT_TRUE(eventually([&] { return held->grant().trusted_until > trusted; }));
  EXPECT_FALSE(held->stop_token().stop_requested());
}

TEST_P(HeldLeaseTest, HoldIsRefusedLikeAcquire) {
  take(locks(), "deploy", {}, by("alice"));
  EXPECT_TRUE(fails(locks().hold("deploy", {}, by("bob")), Errc::held));
  EXPECT_TRUE(fails(locks().hold("", {}, by("bob")), Errc::invalid_argument));
}

}  // namespace
}  // namespace leasehold::support
