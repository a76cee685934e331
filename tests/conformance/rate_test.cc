// A rate that everybody keeps together.
#include <gtest/gtest.h>

#include <algorithm>
#include <mutex>
#include <thread>

#include "support/job_helpers.h"
#include "support/store_fixture.h"

namespace leasehold::support {
namespace {

class RateTest : public StoreTest {
 protected:
  Rates rates() { return store().rates(); }
};
LEASEHOLD_ON_BOTH_STORES(RateTest);

TEST_P(RateTest, TurnsAreGivenOneAfterTheOther) {
  const auto first = must(rates().take("api", {.every = 20ms}, by("ann")));
  EXPECT_EQ(first.at, now());
  const auto second = must(rates().take("api", {}, by("bob")));
  EXPECT_EQ(second.at, now() + 20ms);
  EXPECT_GE(second.waited, 20ms) << "it sleeps until its turn";
  const auto info = must(rates().show("api"));
  EXPECT_EQ(info.every, Duration(20ms));
  EXPECT_EQ(info.taken, 2);
  EXPECT_EQ(name_of(info.holder), "bob");
  EXPECT_EQ(info.next_at, now() + 40ms);
}

TEST_P(RateTest, ACallerThatWillNotWaitLearnsTheTimeAndTakesNothing) {
  must(rates().take("api", {.every = 1h}));
  const auto refused = rates().take("api", {.wait = 10s});
  ASSERT_TRUE(fails(refused, Errc::rate_limited));
  EXPECT_EQ(refused.error().retry_at, now() + 1h);
  EXPECT_EQ(must(rates().show("api")).taken, 1);
  advance(1h);
  EXPECT_EQ(must(rates().take("api", {.wait = 0s})).at, now());
}

TEST_P(RateTest, TurnsOfAQuietTimeAreSavedUp) {
  EXPECT_TRUE(must(rates().set("api", 1h, 3)));
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(ok(rates().take("api", {.wait = 0s}))) << i;
  EXPECT_TRUE(fails(rates().take("api", {.wait = 0s}), Errc::rate_limited));
  advance(1h);
  EXPECT_TRUE(ok(rates().take("api", {.wait = 0s}))) << "one has come back";
  EXPECT_TRUE(fails(rates().take("api", {.wait = 0s}), Errc::rate_limited));
}

TEST_P(RateTest, StopEndsASleep) {
  must(rates().take("api", {.every = 1h}));
  std::stop_source stop;
  stop.request_stop();
  EXPECT_TRUE(fails(rates().take("api", {}, {.stop = stop.get_token()}), Errc::busy));
}

TEST_P(RateTest, AnUnknownOneIsNotFound) {
  EXPECT_TRUE(fails(rates().take("api"), Errc::not_found));
  EXPECT_TRUE(fails(rates().show("api"), Errc::not_found));
  EXPECT_TRUE(fails(rates().remove("api"), Errc::not_found));
  EXPECT_TRUE(fails(rates().take("api", {.every = 0s}), Errc::invalid_argument));
  EXPECT_TRUE(fails(rates().take("api", {.every = 1s, .burst = 0}), Errc::invalid_argument));
  must(rates().set("api", 1s));
  EXPECT_EQ(must(rates().list()).size(), 1U);
  EXPECT_TRUE(ok(rates().remove("api")));
}

TEST_P(RateTest, TurnsDoNotDriftBehindThoseWhoComeLate) {
  EXPECT_EQ(must(rates().take("api", {.every = 10s})).at, now());
  advance(25s);
  EXPECT_EQ(must(rates().take("api", {.wait = 0s})).at, now()) << "unused turns are gone, not owed";
  const auto start = now();
  for (int i = 1; i <= 3; ++i) {
    advance(10s);
    EXPECT_EQ(must(rates().take("api", {.wait = 0s})).at, start + i * 10s) << "on time, so to the microsecond";
  }
}

TEST_P(RateTest, CallersGetTurnsInTheOrderOfTheirCalls) {
  must(rates().set("api", 2ms));
  for (int i = 0; i < 5; ++i) EXPECT_EQ(must(rates().take("api")).at, now() + i * 2ms);
  EXPECT_EQ(must(rates().show("api")).next_at, now() + 10ms);
}

TEST_P(RateTest, ABurstIsFollowedByOneTurnAtATime) {
  must(rates().set("api", 1ms, 3));
  for (int i = 0; i < 3; ++i) EXPECT_EQ(must(rates().take("api")).at, now());
  for (int i = 1; i <= 3; ++i) EXPECT_EQ(must(rates().take("api")).at, now() + i * 1ms);
  advance(1h);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(must(rates().take("api", {.wait = 0s})).at, now()) << "no more than were saved";
  EXPECT_TRUE(fails(rates().take("api", {.wait = 0s}), Errc::rate_limited));
}

TEST_P(RateTest, ARefusalSaysWhenATakeWithoutAWaitWouldSucceed) {
  must(rates().set("api", 10s, 2));
  for (int i = 0; i < 2; ++i) must(rates().take("api", {.wait = 0s}));
  const auto refused = rates().take("api", {.wait = 10s - 1us});
  ASSERT_TRUE(fails(refused, Errc::rate_limited));
  EXPECT_EQ(refused.error().retry_in, Duration(10s));
  EXPECT_EQ(rates().take("api", {.wait = 1s}).error().retry_at, refused.error().retry_at) << "nothing was reserved";
  advance(10s - 1us);
  EXPECT_TRUE(fails(rates().take("api", {.wait = 0s}), Errc::rate_limited));
  advance(1us);
  EXPECT_TRUE(ok(rates().take("api", {.wait = 0s})));
}

TEST_P(RateTest, AnIntervalGivenByOneCallerCountsForAll) {
  must(rates().take("api", {.every = 1h}));
  EXPECT_TRUE(fails(rates().take("api", {.every = 1min, .burst = 4, .wait = 0s}), Errc::rate_limited));
  const auto info = must(rates().show("api"));
  EXPECT_EQ(info.every, Duration(1min)) << "also where the caller gets no turn";
  EXPECT_EQ(info.burst, 4);
}

TEST_P(RateTest, TakenTurnsStillCountWhenTheRateChanges) {
  must(rates().take("api", {.every = 1h}));
  EXPECT_FALSE(must(rates().set("api", 1min)));
  EXPECT_EQ(rates().take("api", {.wait = 0s}).error().retry_in, Duration(1h)) << "that turn was given already";
  EXPECT_EQ(must(rates().show("api")).every, Duration(1min));
}

TEST_P(RateTest, RatesAreIndependent) {
  must(rates().take("api", {.every = 1h}));
  EXPECT_EQ(must(rates().take("other", {.every = 1h, .wait = 0s})).at, now());
  const auto all = must(rates().list());
  ASSERT_EQ(all.size(), 2U);
  EXPECT_EQ(all[0].name, "api");
}

TEST_P(RateTest, ThoseWhoLookSeeWhoTookLast) {
  must(rates().take("api", {.every = 1ms}, by("ann")));
  must(rates().take("api", {}, by("bob")));
  const auto info = must(rates().show("api"));
  EXPECT_EQ(name_of(info.holder), "bob");
  EXPECT_EQ(info.taken_at, now() + 1ms);
  EXPECT_EQ(info.taken, 2);
  EXPECT_FALSE(host_of(info.holder).empty());
}

TEST_P(RateTest, ManyTogetherAreNeverFasterThanTheRate) {
  constexpr int threads = 6;
  constexpr int turns = 5;
  must(rates().set("api", 1ms));
  std::mutex mutex;
  std::vector<Timestamp> taken;
  {
    std::vector<Store> stores;
    for (int i = 0; i < 3; ++i) stores.push_back(open());
    std::vector<std::jthread> takers;
    for (int i = 0; i < threads; ++i) {
      takers.emplace_back([&, i] {
        for (int turn = 0; turn < turns; ++turn) {
          const auto slot = stores[static_cast<std::size_t>(i) % stores.size()].rates().take("api");
          const std::lock_guard lock(mutex);
          EXPECT_TRUE(ok(slot));
          if (slot) taken.push_back(slot->at);
        }
      });
    }
  }
  std::sort(taken.begin(), taken.end());
  ASSERT_EQ(taken.size(), static_cast<std::size_t>(threads * turns));
  for (std::size_t i = 0; i < taken.size(); ++i) EXPECT_EQ(taken[i], now() + std::int64_t(i) * 1ms) << "each turn once";
}

}  // namespace
}  // namespace leasehold::support
