// Many schedulers, many schedules: each occurrence is taken by one of them, and none stands in another's way.
#include <gtest/gtest.h>

#include <atomic>
#include <deque>
#include <map>

#include "store/store.h"
#include "support/dead_holder.h"
#include "support/fault_backend.h"
#include "support/running_scheduler.h"
#include "support/schedule_helpers.h"

namespace leasehold::support {
namespace {

class SchedulerShareTest : public ScheduleStoreTest {};
LEASEHOLD_ON_BOTH_STORES(SchedulerShareTest);

/// Counts the runs of each occurrence, and sees two of a schedule at once.
class Witness {
 public:
  RunVerdict operator()(const ScheduleRun& run) {
    begin(run);
    std::this_thread::yield();
    const std::lock_guard lock(mutex_);
    --running_[run.grant.key];
    return RunVerdict::complete();
  }
  [[nodiscard]] std::map<std::string, int> runs() const {
    const std::lock_guard lock(mutex_);
    return runs_;
  }

 private:
  void begin(const ScheduleRun& run) {
    const std::lock_guard lock(mutex_);
    ++runs_[run.grant.key + " " + leasehold::to_string(run.occurrence)];
    EXPECT_EQ(++running_[run.grant.key], 1) << run.grant.key << " runs twice at once";
  }

  mutable std::mutex mutex_;
  std::map<std::string, int> running_;
  std::map<std::string, int> runs_;
};

TEST_P(SchedulerShareTest, Promise15_TenSchedulersTakeEachOccurrenceOnce) {
  constexpr int days = 4;
  RunHandlers handlers;
  Witness witness;
  for (const auto* name : {"a", "b", "c", "d", "e"}) {
    set_schedule(name, daily(Misfire::all));
    handlers[name] = [&](const ScheduleRun& run, RunContext&) { return witness(run); };
  }
  for (const auto* name : {"mail 1", "mail 2", "mail 3"}) set_schedule(name, into_a_queue(daily(Misfire::all)));
  advance(days * 24h);
  std::vector<Store> stores;
  std::deque<RunningScheduler> schedulers;
  for (int i = 0; i < 5; ++i) stores.push_back(open());
  for (int i = 0; i < 10; ++i) schedulers.emplace_back(stores[i % 5], SchedulerOptions{.once = true}, handlers);
  ScheduleSummary all;
  for (auto& scheduler : schedulers) {
    const auto one = must(scheduler.finish());
    all.completed += one.completed;
    all.enqueued += one.enqueued;
    EXPECT_EQ(one.started, one.completed);
  }
  // One that ends leaves to the others what they have in hand, so nothing is due any more.
  EXPECT_EQ(all.completed, 5 * days);
  EXPECT_EQ(all.enqueued, 3 * days);
  EXPECT_EQ(witness.runs().size(), 5U * days);
  for (const auto& [occurrence, times] : witness.runs()) EXPECT_EQ(times, 1) << occurrence;
  EXPECT_EQ(must(jobs().claim("mail", {.max = 100})).jobs.size(), 3U * days);
}

TEST_P(SchedulerShareTest, MoreDueThanRoomWaitForIt) {
  RunHandlers handlers;
  std::atomic<int> running{0};
  std::atomic<int> max{0};
  Gate both;
  for (int i = 0; i < 7; ++i) {
    const auto name = "s" + std::to_string(i);
    set_schedule(name, every_ten_minutes());
    handlers[name] = [&](const ScheduleRun&, RunContext&) {
      max = std::max<int>(max, ++running);
      if (running == 2) both.open();
      EXPECT_TRUE(both.wait()) << "there is room for two";
      --running;
      return RunVerdict::complete();
    };
  }
  set_schedule("mails", into_a_queue(every_ten_minutes()));
  Gate fired;
  RunningScheduler scheduler(
      store(), {.concurrency = 2, .once = true, .on_fire = [&](std::string_view, const Fired&) { fired.open(); }},
      handlers);
  EXPECT_TRUE(fired.wait());
  const auto summary = must(scheduler.finish());
  EXPECT_EQ(summary.completed, 7);
  EXPECT_EQ(max, 2);
}

TEST_P(SchedulerShareTest, AJobIsEnqueuedWhileEveryHandlerIsBusy) {
  set_schedule("slow", every_ten_minutes());
  set_schedule("slow too", every_ten_minutes());
  Gate enqueued;
  const auto wait = [&](const ScheduleRun&, RunContext&) {
    return enqueued.wait() ? RunVerdict::complete() : RunVerdict::fail("nothing was enqueued meanwhile");
  };
  Gate began;
  RunningScheduler scheduler(store(),
                             {.concurrency = 1,
                              .on_fire = [&](std::string_view, const Fired&) { enqueued.open(); },
                              .on_start = [&](const ScheduleRun&) { began.open(); }},
                             {{"slow", wait}, {"slow too", wait}});
  ASSERT_TRUE(began.wait());
  set_schedule("mails", into_a_queue(every_ten_minutes()));
  EXPECT_TRUE(
      eventually([&] { return outcomes("slow") == Words{"completed"} && outcomes("slow too") == Words{"completed"}; }));
}

TEST_P(SchedulerShareTest, PagesOfUnhandledSchedulesDoNotHideAHandledOne) {
  for (int i = 0; i < 230; ++i) set_schedule("other " + std::to_string(i), every_ten_minutes());
  advance(1s);
  set_schedule("refresh", every_ten_minutes());
  EXPECT_EQ(must(Scheduler(store(), {.once = true}).handle("refresh", succeed).run()).completed, 1);
}

TEST_P(SchedulerShareTest, ASchedulersForeignSchedulesDoNotKeepItBusy) {
  auto faults = std::make_shared<FaultBackend>(under_test().open_backend());
  const auto watched = store_over(faults, {});
  set_schedule("not ours", every_ten_minutes());
  set_schedule("lost in space", with_cron("0 9 * * *", "Europe/Berlin"));
  advance(24h);
  under_test().run("UPDATE " + under_test().table("schedule") +
                   " SET zone = 'Mars/Phobos' WHERE name = 'lost in space'");
  std::atomic<int> troubles{0};
  RunningScheduler scheduler(watched,
                             {.on_trouble =
                                  [&](const Error& error) {
                                    EXPECT_NE(error.message.find("lost in space"), std::string::npos) << error.message;
                                    EXPECT_EQ(error.code, Errc::invalid_argument) << error.message;
                                    ++troubles;
                                  }},
                             {{"lost in space", succeed}, {"refresh", succeed}});
  ASSERT_TRUE(eventually([&] { return troubles >= 4; }));
  set_schedule("refresh", every_ten_minutes());
  ASSERT_TRUE(eventually([&] { return outcomes("refresh") == Words{"completed"}; }));
  // Four reports take at least 50 + 100 + 200 ms; a busy loop would have looked hundreds of times.
  EXPECT_LE(faults->calls("schedule_due"), 30);
  EXPECT_TRUE(ok(scheduler.stop()));
  EXPECT_TRUE(outcomes("lost in space").empty());
}

TEST_P(SchedulerShareTest, AHandlerThatAlwaysReleasesDoesNotKeepTheSchedulerBusy) {
  set_schedule("refresh", every_ten_minutes());
  std::atomic<int> tries{0};
  const auto give_back = [&](const ScheduleRun&, RunContext&) {
    ++tries;
    return RunVerdict::release();
  };
  RunningScheduler once(store(), {.once = true}, {{"refresh", give_back}});
  // Twice or more on a machine so slow that the first pause is over before the next look.
  EXPECT_GE(must(once.finish()).released, 1);
  EXPECT_EQ(state("refresh"), ScheduleState::due);
  const int before = tries;
  const auto began = BootClock::now();
  RunningScheduler scheduler(store(), {}, {{"refresh", give_back}});
  ASSERT_TRUE(eventually([&] { return tries >= before + 4; }));
  EXPECT_GE(BootClock::now() - began, 50ms + 100ms + 200ms) << "longer each time";
  EXPECT_EQ(must(scheduler.stop()).lost, 0);
}

TEST_P(SchedulerShareTest, Promise06_ARunOfADeadProcessOfThisHostIsDueAtOnce) {
  set_schedule("refresh", every_ten_minutes());
  must(schedules().acquire("refresh", {.ttl = 24h}, {.holder = dead_holder("ghost")}));
  std::string lost_holder;
  Scheduler scheduler(store(), {.once = true});
  scheduler.handle("refresh", [&](const ScheduleRun& run, RunContext&) {
    lost_holder = name_of(run.lost_holder);
    return RunVerdict::complete();
  });
  EXPECT_EQ(must(scheduler.run()).completed, 1);
  EXPECT_EQ(lost_holder, "ghost");
  EXPECT_EQ(outcomes("refresh"), (Words{"completed", "lost"}));
}

TEST_P(SchedulerShareTest, ARunThatExpiredElsewhereIsTakenOver) {
  set_schedule("refresh", every_ten_minutes());
  acquire("refresh", "ann");
  advance(30s);
  EXPECT_EQ(must(Scheduler(store(), {.once = true}).handle("refresh", succeed).run()).completed, 1);
  EXPECT_EQ(outcomes("refresh"), (Words{"completed", "lost"}));
}

}  // namespace
}  // namespace leasehold::support
