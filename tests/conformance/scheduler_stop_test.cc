// Schedulers that end, and runs that they lose. Heartbeats run in real time here, while the store's clock stands still
// unless the test moves it.
#include <gtest/gtest.h>

#include <atomic>

#include "support/process.h"
#include "support/running_scheduler.h"
#include "support/schedule_helpers.h"

namespace leasehold::support {
namespace {

class SchedulerStopTest : public ScheduleStoreTest {
 protected:
  bool ends_with(const std::string& name, const Words& outcomes_so_far) {
    return eventually([&] { return outcomes(name) == outcomes_so_far; });
  }
};
LEASEHOLD_ON_BOTH_STORES(SchedulerStopTest);

TEST_P(SchedulerStopTest, ARunningHandlerIsLetFinish) {
  set_schedule("refresh", every_ten_minutes());
  set_schedule("sweep", every_ten_minutes());
  Gate began;
  Gate stopping;
  RunningScheduler scheduler(store(), {.concurrency = 1, .grace = 10s},
                             {{"refresh",
                               [&](const ScheduleRun&, RunContext& context) {
                                 began.open();
                                 EXPECT_TRUE(stopping.wait());
                                 EXPECT_FALSE(context.stop_requested()) << "it has its grace";
                                 return RunVerdict::complete();
                               }},
                              {"sweep", succeed}});
  ASSERT_TRUE(began.wait());
  scheduler.ask_to_stop();
  stopping.open();
  const auto summary = must(scheduler.finish());
  EXPECT_EQ(summary.started, 1) << "nothing new is begun";
  EXPECT_EQ(summary.completed, 1);
  EXPECT_EQ(state("sweep"), ScheduleState::due);
}

TEST_P(SchedulerStopTest, AHandlerMustStopAfterItsGrace) {
  set_schedule("refresh", every_ten_minutes());
  Gate began;
  RunningScheduler scheduler(store(), {.grace = 1ms}, {{"refresh", [&](const ScheduleRun&, RunContext& context) {
                                                          began.open();
                                                          EXPECT_EQ(wait_for_stop(context), StopReason::draining);
                                                          return RunVerdict::release();
                                                        }}});
  ASSERT_TRUE(began.wait());
  EXPECT_EQ(must(scheduler.stop()).released, 1);
  EXPECT_EQ(state("refresh"), ScheduleState::due);
  EXPECT_EQ(outcomes("refresh"), Words{"released"});
  EXPECT_TRUE(must(store().leases()).empty());
}

TEST_P(SchedulerStopTest, OneThatIsStoppedBeforehandBeginsNothing) {
  set_schedule("refresh", every_ten_minutes());
  set_schedule("mails", into_a_queue(every_ten_minutes()));
  std::stop_source stop;
  stop.request_stop();
  const auto summary = must(Scheduler(store()).handle("refresh", succeed).run(stop.get_token()));
  EXPECT_EQ(summary.started + summary.enqueued, 0);
}

TEST_P(SchedulerStopTest, ASleepingSchedulerStopsAtOnce) {
  set_schedule("refresh", every_ten_minutes());
  RunningScheduler scheduler(store(), {}, {{"refresh", succeed}});
  ASSERT_TRUE(ends_with("refresh", {"completed"}));
  const auto before = BootClock::now();
  ASSERT_TRUE(ok(scheduler.stop()));
  EXPECT_LT(BootClock::now() - before, 3s);
}

TEST_P(SchedulerStopTest, Promise09_ALostLeaseStopsTheHandlerAndItsVerdictDoesNotCount) {
  auto options = every_ten_minutes();
  options.ttl = 600ms;
  set_schedule("refresh", options);
  Gate began;
  std::atomic<int> tries{0};
  std::atomic<int> troubles{0};
  RunningScheduler scheduler(store(),
                             {.on_trouble =
                                  [&](const Error& error) {
                                    EXPECT_EQ(error.code, Errc::lost) << error.message;
                                    ++troubles;
                                  }},
                             {{"refresh", [&](const ScheduleRun& run, RunContext& context) {
                                 if (++tries > 1) {
                                   EXPECT_TRUE(run.lost.has_value());
                                   return RunVerdict::complete();
                                 }
                                 began.open();
                                 EXPECT_EQ(wait_for_stop(context), StopReason::lost);
                                 return RunVerdict::complete(R"({"too": "late"})");
                               }}});
  ASSERT_TRUE(began.wait());
  advance(10s);
  ASSERT_TRUE(ends_with("refresh", {"completed", "lost"}));
  const auto summary = must(scheduler.stop());
  EXPECT_EQ(summary.started, 2);
  EXPECT_EQ(summary.completed, 1);
  EXPECT_EQ(summary.lost, 1);
  EXPECT_EQ(troubles, 1);
  EXPECT_EQ(history("refresh")[1].counts, "");
}

TEST_P(SchedulerStopTest, AHandlerThatLostItsLeaseIsNotJoinedByItself) {
  auto options = every_ten_minutes();
  options.ttl = 600ms;
  set_schedule("refresh", options);
  set_schedule("sweep", every_ten_minutes());
  std::atomic<int> running{0};
  std::atomic<int> tries{0};
  Gate began;
  Gate go_on;
  RunningScheduler scheduler(store(), {},
                             {{"refresh",
                               [&](const ScheduleRun&, RunContext& context) {
                                 EXPECT_EQ(++running, 1) << "two at once in one process";
                                 if (++tries == 1) {
                                   began.open();
                                   EXPECT_EQ(wait_for_stop(context), StopReason::lost);
                                   EXPECT_TRUE(go_on.wait());
                                 }
                                 --running;
                                 return RunVerdict::complete();
                               }},
                              {"sweep", succeed}});
  ASSERT_TRUE(began.wait());
  ASSERT_TRUE(ends_with("sweep", {"completed"}));
  advance(10min);
  // The look that finds this one finds the lost run, too.
  ASSERT_TRUE(eventually([&] { return outcomes("sweep").size() == 2; })) << "it looks again by itself";
  EXPECT_EQ(tries, 1);
  go_on.open();
  ASSERT_TRUE(ends_with("refresh", {"completed", "lost"}));
}

TEST_P(SchedulerStopTest, WorkLongerThanItsLeaseStaysSingle) {
  auto options = every_ten_minutes();
  options.ttl = 300ms;
  set_schedule("refresh", options);
  Gate began;
  Gate go_on;
  RunningScheduler one(store(), {}, {{"refresh", [&](const ScheduleRun&, RunContext&) {
                                        began.open();
                                        return go_on.wait() ? RunVerdict::complete() : RunVerdict::fail("forgotten");
                                      }}});
  ASSERT_TRUE(began.wait());
  const auto heartbeats = [&] { return info("refresh").held_by.value().heartbeat_at; };
  for (int i = 0; i < 4; ++i) {
    const auto before = heartbeats();
    advance(150ms);
    ASSERT_TRUE(eventually([&] { return heartbeats() > before; }));
  }
  EXPECT_EQ(must(Scheduler(store(), {.once = true}).handle("refresh", succeed).run()).started, 0);
  go_on.open();
  ASSERT_TRUE(ends_with("refresh", {"completed"}));
}

TEST_P(SchedulerStopTest, ASchedulerWithNothingToDoReportsIt) {
  EXPECT_TRUE(fails(Scheduler(store(), {.enqueue = false}).run(), Errc::invalid_argument));
  EXPECT_TRUE(fails(Scheduler(store()).handle("refresh", nullptr).run(), Errc::invalid_argument));
  EXPECT_TRUE(fails(Scheduler(store()).handle("", succeed).run(), Errc::invalid_argument));
  EXPECT_TRUE(fails(Scheduler(store(), {.concurrency = 0}).run(), Errc::invalid_argument));
  EXPECT_TRUE(fails(Scheduler(store(), {.concurrency = 1001}).run(), Errc::invalid_argument));
  EXPECT_TRUE(fails(Scheduler(store(), {.grace = -1s}).run(), Errc::invalid_argument));
}

}  // namespace
}  // namespace leasehold::support
