// Many callers at once, on several connections: exactly one caller gets each occurrence.
#include <gtest/gtest.h>

#include <atomic>
#include <barrier>
#include <functional>
#include <mutex>
#include <set>
#include <thread>

#include "support/schedule_helpers.h"

namespace leasehold::support {
namespace {

class ScheduleRaceTest : public ScheduleStoreTest {
 protected:
  /// `act(number, its own store)` in so many threads at once.
  void race(int threads, const std::function<void(int, Schedules)>& act) {
    std::vector<Store> stores;
    for (int i = 0; i < 4; ++i) stores.push_back(open());
    std::barrier start(threads);
    std::vector<std::jthread> racers;
    for (int i = 0; i < threads; ++i) {
      racers.emplace_back([&, i] {
        start.arrive_and_wait();
        act(i, stores[static_cast<std::size_t>(i) % stores.size()].schedules());
      });
    }
  }
  static ::testing::AssertionResult is_a_skip(const Error& error) {
    const bool one = error.code == Errc::held || error.code == Errc::not_due || error.code == Errc::busy;
    return one ? ::testing::AssertionSuccess() : ::testing::AssertionFailure() << describe(error);
  }
  /// How many of so many callers get to run it.
  int winners(const std::string& name, int callers) {
    std::atomic<int> granted = 0;
    race(callers, [&](int number, const Schedules& schedules) {
      const auto run = schedules.acquire(name, {}, by("caller " + std::to_string(number)));
      granted += run ? 1 : 0;
      EXPECT_TRUE(run || is_a_skip(run.error()));
    });
    return granted;
  }
};
LEASEHOLD_ON_BOTH_STORES(ScheduleRaceTest);

TEST_P(ScheduleRaceTest, OfTwoToFiftyCallersExactlyOneRuns) {
  for (const int callers : {2, 3, 10, 50}) {
    const auto name = std::to_string(callers) + " callers";
    set_schedule(name, {.rule = every(10min, 15min)});
    EXPECT_EQ(winners(name, callers), 1) << name;
    EXPECT_EQ(outcomes(name), Words{"running"}) << name;
  }
}

TEST_P(ScheduleRaceTest, OfTwentyCallersOfACronScheduleExactlyOneRuns) {
  set_schedule("report", daily());
  go_to("2026-03-05T12:00:00Z");
  EXPECT_EQ(winners("report", 20), 1);
  EXPECT_EQ(outcomes("report"), (Words{"running", "skipped"})) << "missed occurrences are recorded once";
}

TEST_P(ScheduleRaceTest, OfTwentyWhoTakeOverFromTheDeadOneWins) {
  set_schedule("refresh", every_ten_minutes());
  acquire("refresh", "dead");
  advance(30s);
  EXPECT_EQ(winners("refresh", 20), 1);
  EXPECT_EQ(outcomes("refresh"), (Words{"running", "lost"}));
  EXPECT_EQ(recovered("claim").runs, 1) << "lost once";
}

TEST_P(ScheduleRaceTest, EveryMissedOccurrenceIsTakenByExactlyOne) {
  constexpr int missed = 24;
  set_schedule("report", with_cron("0 * * * *"));
  auto all = with_cron("0 * * * *");
  all.misfire = Misfire::all;
  set_schedule("report", all);
  advance(missed * 1h);
  std::mutex mutex;
  std::multiset<Timestamp> taken;
  std::atomic<int> at_it = 0;
  race(6, [&](int, const Schedules& schedules) {
    for (int tries = 0; tries < 100'000; ++tries) {
      const auto run = schedules.acquire("report");
      if (!run && run.error().code == Errc::not_due) return;
      if (!run) continue;
      EXPECT_EQ(++at_it, 1) << "two at once";
      --at_it;
      EXPECT_TRUE(ok(schedules.settle("report", run->grant.token)));
      const std::lock_guard lock(mutex);
      taken.insert(run->occurrence);
    }
    FAIL() << "it never came to its end";
  });
  EXPECT_EQ(taken.size(), static_cast<std::size_t>(missed));
  EXPECT_EQ(std::set(taken.begin(), taken.end()).size(), taken.size()) << "one was taken twice";
  EXPECT_EQ(history("report").size(), taken.size());
}

TEST_P(ScheduleRaceTest, OfManyWhoFireOneMakesTheJob) {
  set_schedule("report", into_a_queue(daily()));
  go_to("2026-03-05T12:00:00Z");
  std::atomic<int> fired = 0;
  race(16, [&](int, const Schedules& schedules) {
    const auto answer = schedules.fire("report");
    fired += answer ? 1 : 0;
    EXPECT_TRUE(answer || is_a_skip(answer.error()));
  });
  EXPECT_EQ(fired, 1);
  EXPECT_EQ(must(queues().show("mail")).available, 1);
  EXPECT_EQ(outcomes("report"), (Words{"enqueued", "skipped"}));
}

TEST_P(ScheduleRaceTest, AVerdictGivenByManyCountsOnce) {
  set_schedule("refresh", {.rule = every(10min, 15min)});
  const auto run = acquire("refresh");
  std::atomic<int> first = 0;
  race(16, [&](int, const Schedules& schedules) {
    const auto done = schedules.settle("refresh", run.grant.token);
    ASSERT_TRUE(ok(done));
    first += done->replayed ? 0 : 1;
  });
  EXPECT_EQ(first, 1);
  EXPECT_EQ(story("refresh"), (Words{"set", "acquired", "completed"}));
}

TEST_P(ScheduleRaceTest, ManyCallersThatSetItAtOnceCreateItOnce) {
  std::atomic<int> created = 0;
  race(12, [&](int, const Schedules& schedules) {
    created += must(schedules.set("refresh", every_ten_minutes())).created ? 1 : 0;
    created += must(schedules.set("report", daily())).created ? 1 : 0;
  });
  EXPECT_EQ(created, 2);
  EXPECT_EQ(story("report"), Words{"set"});
}

TEST_P(ScheduleRaceTest, ConcurrentActsAllGetAnAnswer) {
  const auto answered = [](const auto& result) {
    if (result) return;
    const auto code = result.error().code;
    EXPECT_TRUE(code != Errc::unavailable && code != Errc::in_doubt && code != Errc::internal)
        << describe(result.error());
  };
  set_schedule("a", into_a_queue(every_ten_minutes()));
  set_schedule("b", into_a_queue(daily()));
  race(8, [&](int number, const Schedules& schedules) {
    for (int i = 0; i < 20; ++i) {
      const std::string name = (number + i) % 2 == 0 ? "a" : "b";
      const auto run = schedules.acquire(name, {.now = true}, by("caller " + std::to_string(number)));
      answered(run);
      if (number == 1) answered(schedules.set(name, into_a_queue(i % 2 == 0 ? daily() : every_ten_minutes())));
      if (number == 2) answered(i % 2 == 0 ? schedules.pause(name) : Result<void>());
      if (number >= 2) answered(schedules.resume(name));
      answered(schedules.trigger(name));
      answered(schedules.fire(name));
      answered(schedules.due());
      if (run) answered(schedules.heartbeat(name, run->grant.token));
      if (run) answered(schedules.settle(name, run->grant.token, {.ok = i % 3 != 0}));
    }
  });
  for (const auto* name : {"a", "b"}) EXPECT_FALSE(info(name).held_by) << "every run has come to its end";
}

}  // namespace
}  // namespace leasehold::support
