// Schedulers do what is due, when it is due: jobs into queues, handlers, commands. The store's clock stands still
// unless the test moves it.
#include <gtest/gtest.h>

#include <atomic>
#include <mutex>
#include <vector>

#include "support/process.h"
#include "support/running_scheduler.h"
#include "support/schedule_helpers.h"

namespace leasehold::support {
namespace {

class SchedulerDueTest : public ScheduleStoreTest {
 protected:
  /// A sleeping scheduler looks again, as it would by itself after some seconds.
  void wake_schedulers() {
    auto options = with_cron("0 0 1 1 *");
    options.ttl += std::chrono::seconds(++wake_ups_);
    set_schedule("bell", options);
  }
  void pass_time(Duration by) {
    advance(by);
    wake_schedulers();
  }
  bool ends_with(const std::string& name, const Words& outcomes_so_far) {
    return eventually([&] { return outcomes(name) == outcomes_so_far; });
  }

 private:
  int wake_ups_ = 0;
};
LEASEHOLD_ON_BOTH_STORES(SchedulerDueTest);

TEST_P(SchedulerDueTest, AHandlerRunsAtEachOccurrence) {
  set_schedule("refresh", daily());
  std::mutex mutex;
  std::vector<std::string> causes;
  RunningScheduler scheduler(store(), {.holder = holder("ann")},
                             {{"refresh", [&](const ScheduleRun& run, RunContext& context) {
                                 const std::lock_guard lock(mutex);
                                 causes.push_back(leasehold::to_string(run.occurrence) + " " + run.cause);
                                 EXPECT_FALSE(context.stop_requested());
                                 EXPECT_GT(context.trusted_until(), BootClock::now());
                                 return RunVerdict::complete(R"({"rows": 3})");
                               }}});
  pass_time(24h);
  ASSERT_TRUE(ends_with("refresh", {"completed"}));
  pass_time(24h);
  ASSERT_TRUE(ends_with("refresh", {"completed", "completed"}));
  const auto summary = must(scheduler.stop());
  EXPECT_EQ(summary.started, 2);
  EXPECT_EQ(summary.completed, 2);
  EXPECT_EQ(causes, (std::vector<std::string>{"2026-03-02T09:00:00Z scheduled", "2026-03-03T09:00:00Z scheduled"}));
  EXPECT_EQ(history("refresh")[0].counts, R"({"rows": 3})");
  EXPECT_EQ(name_of(history("refresh")[0].holder), "ann");
  EXPECT_TRUE(must(store().leases()).empty());
}

TEST_P(SchedulerDueTest, AScheduleThatIsNotDueWaits) {
  set_schedule("refresh", every_ten_minutes());
  RunningScheduler scheduler(store(), {}, {{"refresh", succeed}});
  ASSERT_TRUE(ends_with("refresh", {"completed"}));
  pass_time(10min - 1us);
  set_schedule("urgent", every_ten_minutes());
  pass_time(1us);
  ASSERT_TRUE(ends_with("refresh", {"completed", "completed"}));
  EXPECT_EQ(history("refresh")[0].occurrence, now()) << "not a microsecond before its time";
}

TEST_P(SchedulerDueTest, AScheduleWithAQueueBecomesAJob) {
  set_schedule("mails", into_a_queue(daily(Misfire::all)));
  std::atomic<JobId> reported{0};
  RunningScheduler scheduler(store(),
                             {.on_fire =
                                  [&](std::string_view name, const Fired& fired) {
                                    EXPECT_EQ(name, "mails");
                                    reported = fired.job_id;
                                  }},
                             {});
  pass_time(3 * 24h);
  ASSERT_TRUE(ends_with("mails", {"enqueued", "enqueued", "enqueued"}));
  EXPECT_EQ(must(scheduler.stop()).enqueued, 3);
  const auto grant = must(jobs().claim("mail", {.max = 10}));
  ASSERT_EQ(grant.jobs.size(), 3U) << "one for each day";
  EXPECT_EQ(grant.jobs[0].payload, "news");
  EXPECT_EQ(reported, grant.jobs[2].id);
}

TEST_P(SchedulerDueTest, EnqueuingIsLeftToOthersWhereItIsSwitchedOff) {
  set_schedule("mails", into_a_queue(every_ten_minutes()));
  set_schedule("refresh", every_ten_minutes());
  const auto summary = must(Scheduler(store(), {.enqueue = false, .once = true}).handle("refresh", succeed).run());
  EXPECT_EQ(summary.enqueued, 0);
  EXPECT_EQ(summary.completed, 1);
  EXPECT_EQ(state("mails"), ScheduleState::due);
}

TEST_P(SchedulerDueTest, CommandsAreRunByThoseWhoRunCommands) {
  auto options = every_ten_minutes();
  options.command = {"make", "all of it"};
  set_schedule("build", options);
  set_schedule("own", options);
  set_schedule("neither", every_ten_minutes());
  must(Scheduler(store(), {.once = true}).run());
  EXPECT_EQ(state("build"), ScheduleState::due) << "not asked to run commands";
  std::atomic<int> own{0};
  auto scheduler = Scheduler(store(), {.once = true});
  scheduler.handle_commands([&](const ScheduleRun& run, const std::vector<std::string>& command, RunContext&) {
    EXPECT_EQ(run.grant.key, "build");
    EXPECT_EQ(command, (std::vector<std::string>{"make", "all of it"}));
    return RunVerdict::complete();
  });
  scheduler.handle("own", [&](const ScheduleRun&, RunContext&) {
    ++own;
    return RunVerdict::complete();
  });
  EXPECT_EQ(must(scheduler.run()).completed, 2);
  EXPECT_EQ(own, 1) << "a handler of its own comes first";
  EXPECT_EQ(state("neither"), ScheduleState::due);
}

TEST_P(SchedulerDueTest, OnceEndsWhenNothingIsDueAnyMore) {
  set_schedule("refresh", daily(Misfire::all));
  set_schedule("mails", into_a_queue(daily(Misfire::all)));
  set_schedule("later", daily());
  advance(5 * 24h);
  Scheduler scheduler(store(), {.once = true});
  scheduler.handle("refresh", succeed);
  const auto summary = must(scheduler.run());
  EXPECT_EQ(summary.completed, 5) << "one after the other";
  EXPECT_EQ(summary.enqueued, 5);
  EXPECT_EQ(must(scheduler.run()).started, 0);
}

TEST_P(SchedulerDueTest, OnceTakesWhatItsOwnRunsMakeDueNoSecondTime) {
  set_schedule("refresh", with_back_off(every_ten_minutes(), 0s));
  set_schedule("mails", into_a_queue(every_ten_minutes()));
  Scheduler scheduler(store(), {.once = true, .on_fire = [&](std::string_view name, const Fired&) {
                                  pass_time(1s);
                                  must(schedules().trigger(name));
                                }});
  scheduler.handle("refresh", [](const ScheduleRun&, RunContext&) { return RunVerdict::fail("no route"); });
  const auto summary = must(scheduler.run());
  EXPECT_EQ(summary.enqueued, 1);
  EXPECT_EQ(summary.failed, 1);
  EXPECT_EQ(state("mails"), ScheduleState::due) << "for the next one";
}

/// Without wake-ups each of these would take as long as a sleep.
TEST_P(SchedulerDueTest, AScheduleThatAnotherProcessTriggersOrSetsStartsAtOnce) {
  auto elsewhere = open();
  set_schedule("refresh", every_ten_minutes());
  RunningScheduler scheduler(store(), {}, {{"refresh", succeed}, {"new", succeed}});
  ASSERT_TRUE(ends_with("refresh", {"completed"}));
  const auto began = BootClock::now();
  Words expected{"completed"};
  for (int i = 0; i < 4; ++i) {
    advance(1s);
    must(elsewhere.schedules().trigger("refresh"));
    expected.emplace_back("completed");
    ASSERT_TRUE(ends_with("refresh", expected));
  }
  must(elsewhere.schedules().set("new", due_now(every_ten_minutes())));
  ASSERT_TRUE(ends_with("new", {"completed"}));
  EXPECT_LT(BootClock::now() - began, 10s);
  EXPECT_EQ(history("refresh")[0].cause, "triggered");
}

class SchedulerTimeTest : public ::testing::TestWithParam<StoreKind> {
 protected:
  TestStore store_{GetParam(), {.real_time = true}};
  Store opened_ = store_.open();
};
LEASEHOLD_ON_BOTH_STORES(SchedulerTimeTest);

TEST_P(SchedulerTimeTest, ASchedulerWakesUpByItselfWhenTheNextIsDue) {
  must(opened_.schedules().set("tick", {.rule = every(1s)}));
  must(opened_.schedules().set("mails", into_a_queue({.rule = every(1s)})));
  std::atomic<int> jobs{0};
  std::atomic<int> ticks{0};
  Gate enough;
  const auto count = [&] {
    if (jobs >= 3 && ticks >= 3) enough.open();
  };
  const auto began = BootClock::now();
  RunningScheduler scheduler(opened_,
                             {.on_fire =
                                  [&](std::string_view, const Fired&) {
                                    ++jobs;
                                    count();
                                  }},
                             {{"tick", [&](const ScheduleRun&, RunContext&) {
                                 ++ticks;
                                 count();
                                 return RunVerdict::complete();
                               }}});
  ASSERT_TRUE(enough.wait());
  EXPECT_GE(BootClock::now() - began, 2 * 1s);
  ASSERT_TRUE(ok(scheduler.stop()));
  const auto history = must(opened_.schedules().history("tick", {.max = 100}));
  for (std::size_t i = 1; i < history.size(); ++i) {
    EXPECT_GE(history[i - 1].started_at.value() - history[i].finished_at.value(), 1s) << "too early";
  }
}

}  // namespace
}  // namespace leasehold::support
