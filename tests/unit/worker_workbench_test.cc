#include "runtime/worker/workbench.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

namespace leasehold::worker {
namespace {

using namespace std::chrono_literals;

class WorkbenchTest : public ::testing::Test {
 protected:
  void put(Workbench& bench, int jobs, std::optional<Duration> timeout = std::nullopt) {
    std::vector<AttemptPtr> attempts;
    for (int i = 0; i < jobs; ++i) {
      attempts.push_back(std::make_shared<Attempt>(Job{.id = ++last_id_, .timeout = timeout}, lease_));
    }
    bench.put(std::move(attempts));
  }
  /// Takes a job and is done with it.
  void work_off(Workbench& bench, Duration worked) {
    ASSERT_NE(bench.take(0), nullptr);
    bench.leave(0, worked);
    bench.settled(1);
  }
  static int room_of(Workbench& bench) { return bench.wait_for_room(BootClock::now()); }

 private:
  std::shared_ptr<LiveLease> lease_ = LiveLease::start(
      1h, BootClock::now() + 1h, [] { return Beat{BootClock::now() + 1h}; }, [](const LiveLease&) {});
  JobId last_id_ = 0;
};

TEST_F(WorkbenchTest, HasRoomForItsSeatsFirst) {
  Workbench bench({.seats = 3, .prefetch = 10});
  EXPECT_EQ(room_of(bench), 3);
  put(bench, 2);
  EXPECT_EQ(room_of(bench), 0) << "these start at once, then it asks again";
  ASSERT_NE(bench.take(0), nullptr);
  ASSERT_NE(bench.take(1), nullptr);
  EXPECT_EQ(room_of(bench), 1);
}

TEST_F(WorkbenchTest, ThePaceDecidesHowManyAreClaimedAhead) {
  Workbench bench({.seats = 1, .prefetch = 100, .lookahead = 1s});
  put(bench, 1);
  work_off(bench, 100ms);
  EXPECT_EQ(room_of(bench), 11) << "one, and ten for the next second";
  put(bench, 20);
  for (int i = 0; i < 20; ++i) work_off(bench, 1ms);
  EXPECT_GT(room_of(bench), 50);
  put(bench, 1);
  work_off(bench, 1h);
  EXPECT_EQ(room_of(bench), 1);
}

TEST_F(WorkbenchTest, JobsWithALimitAreNotClaimedAheadUntilEnoughOthersCame) {
  Workbench bench({.seats = 1, .prefetch = 10, .lookahead = 1s});
  put(bench, 1);
  work_off(bench, 1ms);
  EXPECT_EQ(room_of(bench), 11);
  put(bench, 1, 10min);
  work_off(bench, 1ms);
  EXPECT_EQ(room_of(bench), 1);
  for (int i = 0; i < 9; ++i) {
    put(bench, 1);
    work_off(bench, 1ms);
    EXPECT_EQ(room_of(bench), 1);
  }
  put(bench, 1);
  work_off(bench, 1ms);
  EXPECT_EQ(room_of(bench), 11);
}

TEST_F(WorkbenchTest, HalfOfWhatIsClaimedAheadIsUsedUpFirst) {
  Workbench bench({.seats = 1, .prefetch = 10, .lookahead = 1s});
  put(bench, 1);
  work_off(bench, 1ms);
  put(bench, 6);
  EXPECT_EQ(room_of(bench), 0);
  work_off(bench, 1ms);
  EXPECT_EQ(room_of(bench), 6);
}

TEST_F(WorkbenchTest, StartingAJobMakesRoomAndWakesTheFetcher) {
  // Often, because a test cannot see whether the fetcher sleeps before the job starts.
  for (int i = 0; i < 100; ++i) {
    Workbench bench({.seats = 2, .prefetch = 0});
    put(bench, 1);
    std::atomic<bool> there{false};
    std::atomic<int> room{0};
    std::thread fetcher([&] {
      there = true;
      room = bench.wait_for_room(BootClock::now() + 10s);
    });
    while (!there) std::this_thread::yield();
    const auto before = BootClock::now();
    EXPECT_NE(bench.take(0), nullptr);
    fetcher.join();
    EXPECT_EQ(room, 1);
    ASSERT_LT(BootClock::now() - before, 5s);
  }
}

TEST_F(WorkbenchTest, VerdictsThatPileUpHoldClaimsBack) {
  Workbench bench({.seats = 1, .prefetch = 1000, .lookahead = 1s});
  put(bench, 2000);
  for (int i = 0; i < 2000; ++i) {
    ASSERT_NE(bench.take(0), nullptr);
    bench.leave(0, 1us);
  }
  EXPECT_EQ(room_of(bench), 0);
  bench.settled(1000);
  EXPECT_EQ(room_of(bench), 1000);
}

TEST_F(WorkbenchTest, GivesBackTheOldestFirst) {
  Workbench bench({.seats = 1, .prefetch = 10});
  put(bench, 3);
  const auto between = BootClock::now();
  while (BootClock::now() == between) std::this_thread::yield();
  put(bench, 2);
  EXPECT_EQ(bench.take_back(between + 1us).size(), 3U);
  EXPECT_EQ(bench.take_back(BootTime::max()).size(), 2U);
  EXPECT_FALSE(bench.has_unstarted());
}

TEST_F(WorkbenchTest, GivesBackOneThatWasNotStarted) {
  Workbench bench({.seats = 1, .prefetch = 10});
  put(bench, 1);
  const auto started = bench.take(0);
  put(bench, 2);
  const auto waiting = bench.take_back(BootTime::max());
  EXPECT_FALSE(bench.take_back(started));
  EXPECT_FALSE(bench.take_back(waiting[0])) << "it has been given back";
  bench.put({waiting[1]});
  EXPECT_TRUE(bench.take_back(waiting[1]));
  EXPECT_FALSE(bench.has_unstarted());
}

TEST_F(WorkbenchTest, AWaitForRoomEndsWhenTheWorkerStops) {
  Workbench bench({.seats = 1});
  put(bench, 1);
  std::thread fetcher([&] { EXPECT_EQ(bench.wait_for_room(BootTime::max()), 0); });
  bench.stop();
  fetcher.join();
  EXPECT_FALSE(bench.sleep(BootTime::max()));
}

}  // namespace
}  // namespace leasehold::worker
