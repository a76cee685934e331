// Watching a lock: how it stands, and again whenever it changes hands.
#include <gtest/gtest.h>

#include "store/store.h"
#include "support/fault_backend.h"
#include "support/lock_family_fixture.h"
#include "support/pictures.h"

namespace leasehold::support {
namespace {

class LockWatchTest : public LockFamilyTest {
 protected:
  static Pictures::Watch watch(const Locks& locks, const std::string& name) {
    return [locks, name](std::stop_token stop, const Locks::Seen& seen) { return locks.watch(name, stop, seen); };
  }
};
LEASEHOLD_ON_BOTH_STORES(LockWatchTest);

TEST_P(LockWatchTest, ReportsTheStateAndEveryChangeOfHolder) {
  Pictures pictures(watch(locks(), "deploy"));
  EXPECT_EQ(pictures.after(1), Names({"not_found"}));
  auto other = open();
  const auto ann = take(other.locks(), "deploy", {}, by("ann"));
  EXPECT_EQ(pictures.after(2).back(), "running ann");
  ASSERT_TRUE(ok(other.locks().release("deploy", ann.token)));
  EXPECT_EQ(pictures.after(3).back(), "free ann");
  take(other.locks(), "deploy", {}, by("bob"));
  EXPECT_EQ(pictures.after(4), Names({"not_found", "running ann", "free ann", "running bob"}));
}

TEST_P(LockWatchTest, ReportsALockThatWasHeldBefore) {
  take(locks(), "deploy", {}, by("ann"));
  Pictures pictures(watch(locks(), "deploy"));
  EXPECT_EQ(pictures.after(1), Names({"running ann"}));
}

TEST_P(LockWatchTest, ReportsAnExpiryAndTheNewHolder) {
  take(locks(), "deploy", {.ttl = 10s}, by("ann"));
  Pictures pictures(watch(locks(), "deploy"));
  pictures.after(1);
  advance(10s);
  EXPECT_EQ(pictures.after(2).back(), "expired ann");
  take(locks(), "deploy", {}, by("bob"));
  EXPECT_EQ(pictures.after(3).back(), "running bob");
}

TEST_P(LockWatchTest, ReportsSharesThatComeAndGo) {
  const auto ann = take(locks(), "report", sharing(1h), by("ann"));
  Pictures pictures(watch(locks(), "report"));
  pictures.after(1);
  const auto bob = take(locks(), "report", sharing(1min), by("bob"));
  EXPECT_EQ(pictures.after(2).back(), "running ann and 1 more");
  ASSERT_TRUE(ok(locks().release("report", bob.token)));
  EXPECT_EQ(pictures.after(3).back(), "running ann");
  ASSERT_TRUE(ok(locks().release("report", ann.token)));
  EXPECT_EQ(pictures.after(4).size(), 4U);
}

TEST_P(LockWatchTest, ReportsAnExpiredShareBesideALongerOne) {
  take(locks(), "gpu", permits(2, 5, 1h), by("ann"));
  take(locks(), "gpu", permits(1, 5, 10s), by("bob"));
  Pictures pictures(watch(locks(), "gpu"));
  pictures.after(1);
  advance(10s);
  EXPECT_EQ(pictures.after(2).size(), 2U) << "its permit is free";
}

TEST_P(LockWatchTest, HeartbeatsRefusalsAndWaitersAreNoNews) {
  const auto ann = take(locks(), "deploy", {}, by("ann"));
  Pictures pictures(watch(locks(), "deploy"));
  pictures.after(1);
  advance(1s);
  ASSERT_TRUE(ok(locks().heartbeat("deploy", ann.token)));
  EXPECT_TRUE(fails(locks().acquire("deploy", {}, by("bob")), Errc::held));
  stand("deploy", "cat");
  ASSERT_TRUE(ok(locks().release("deploy", ann.token)));
  EXPECT_EQ(pictures.after(2), Names({"running ann", "free ann"}));
}

TEST_P(LockWatchTest, TroubleWithTheStoreIsReportedOnceAndTheWatchContinues) {
  take(locks(), "deploy", {}, by("ann"));
  const auto faults = std::make_shared<FaultBackend>(under_test().open_backend());
  const auto broken = store_over(faults, {});
  Pictures pictures(watch(broken.locks(), "deploy"));
  pictures.after(1);
  faults->fail_always(Fault::fail_before_send);
  EXPECT_EQ(pictures.after(2).back(), "unavailable");
  const auto failures = faults->failures();
  ASSERT_TRUE(eventually([&] { return faults->failures() > failures + 1; })) << "it keeps trying";
  faults->heal();
  EXPECT_EQ(pictures.after(3), Names({"running ann", "unavailable", "running ann"}));
}

TEST_P(LockWatchTest, StopEndsIt) {
  std::stop_source stop;
  int reported = 0;
  std::jthread watcher([&] {
    EXPECT_TRUE(ok(locks().watch("deploy", stop.get_token(), [&](const Result<LockInfo>&) { ++reported; })));
  });
  stop.request_stop();
  watcher.join();
  EXPECT_EQ(reported, 1) << "how it stands is reported in any case";
}

TEST_P(LockWatchTest, MeaninglessArgumentsAreRefused) {
  EXPECT_TRUE(fails(locks().watch("", {}, [](const Result<LockInfo>&) {}), Errc::invalid_argument));
  EXPECT_TRUE(fails(locks().watch("deploy", {}, nullptr), Errc::invalid_argument)) << "no callback";
}

}  // namespace
}  // namespace leasehold::support
