// The verdict of a handler is stored, whatever it is and whatever happens to the store meanwhile.
#include <gtest/gtest.h>

#include <atomic>
#include <stdexcept>

#include "model/bounds.h"
#include "store/store.h"
#include "support/fault_backend.h"
#include "support/process.h"
#include "support/running_scheduler.h"
#include "support/schedule_helpers.h"

namespace leasehold::support {
namespace {

class SchedulerVerdictTest : public ScheduleStoreTest {
 protected:
  /// The line that one run with this handler leaves in the history.
  RunInfo after(RunHandler handler) {
    set_schedule("refresh", with_back_off(every_ten_minutes(), 20min));
    must(Scheduler(store(), {.once = true}).handle("refresh", std::move(handler)).run());
    return history("refresh").at(0);
  }
  RunInfo after(const RunVerdict& verdict) {
    return after([verdict](const ScheduleRun&, RunContext&) { return verdict; });
  }
  bool ends_with(const std::string& name, const Words& outcomes_so_far) {
    return eventually([&] { return outcomes(name) == outcomes_so_far; });
  }
};
LEASEHOLD_ON_BOTH_STORES(SchedulerVerdictTest);

TEST_P(SchedulerVerdictTest, AFailureBacksOff) {
  const auto run = after(RunVerdict::fail("no answer", R"({"tried": 3})"));
  EXPECT_EQ(run.outcome, RunOutcome::failed);
  EXPECT_EQ(run.error, "no answer");
  EXPECT_EQ(run.counts, R"({"tried": 3})");
  EXPECT_EQ(next_run("refresh"), now() + 20min);
}

TEST_P(SchedulerVerdictTest, AnExceptionIsAFailure) {
  const auto run = after([](const ScheduleRun&, RunContext&) -> RunVerdict { throw std::runtime_error("it burns"); });
  EXPECT_EQ(run.outcome, RunOutcome::failed);
  EXPECT_EQ(run.error, "it burns");
}

TEST_P(SchedulerVerdictTest, AnythingElseThrownIsAFailureToo) {
  const auto run = after([](const ScheduleRun&, RunContext&) -> RunVerdict { throw 42; });
  EXPECT_EQ(run.outcome, RunOutcome::failed);
}

TEST_P(SchedulerVerdictTest, AnErrorThatIsNoTextIsCleaned) {
  const auto run = after(RunVerdict::fail(std::string("nul \0 and \xff", 11)));
  EXPECT_EQ(run.outcome, RunOutcome::failed);
  EXPECT_EQ(run.error, "nul \xef\xbf\xbd and \xef\xbf\xbd");
}

TEST_P(SchedulerVerdictTest, AnErrorThatIsTooLongIsCut) {
  const auto run = after(RunVerdict::fail(std::string(1 << 20, 'x')));
  EXPECT_EQ(run.error.size(), bounds::error_bytes);
}

TEST_P(SchedulerVerdictTest, CountsThatAreNoJsonMakeTheRunFail) {
  const auto run = after(RunVerdict::complete("{rows: 3"));
  EXPECT_EQ(run.outcome, RunOutcome::failed);
  EXPECT_EQ(run.error, "the verdict was not accepted: the counts must be JSON: \"{rows: 3\"");
  EXPECT_EQ(run.counts, "");
}

TEST_P(SchedulerVerdictTest, CountsThatAreTooLargeMakeTheRunFail) {
  const auto run = after(RunVerdict::fail("no answer", "\"" + std::string(2 << 20, 'x') + "\""));
  EXPECT_EQ(run.outcome, RunOutcome::failed);
  EXPECT_TRUE(run.error.starts_with("no answer (the verdict was not accepted: ")) << run.error;
}

TEST_P(SchedulerVerdictTest, EveryActIsAnEvent) {
  set_schedule("refresh", every_ten_minutes());
  std::atomic<int> began{0};
  std::atomic<int> ended{0};
  Scheduler scheduler(
      store(),
      {.once = true,
       .on_start = [&](const ScheduleRun& run) { began += run.grant.key == "refresh" ? 1 : 0; },
       .on_settle =
           [&](const ScheduleRun& run, const RunVerdict& verdict, const Result<leasehold::RunSettled>& finished) {
             EXPECT_EQ(run.grant.key, "refresh");
             EXPECT_EQ(verdict.counts, "[1]");
             ASSERT_TRUE(ok(finished));
             EXPECT_EQ(finished->next_in, 10min);
             ++ended;
           }});
  scheduler.handle("refresh", [](const ScheduleRun&, RunContext&) { return RunVerdict::complete("[1]"); });
  must(scheduler.run());
  EXPECT_EQ(began, 1);
  EXPECT_EQ(ended, 1);
}

/// A scheduler over a store that the test can take away.
class SchedulerOutageTest : public SchedulerVerdictTest {
 protected:
  void SetUp() override {
    SchedulerVerdictTest::SetUp();
    faults_ = std::make_shared<FaultBackend>(under_test().open_backend());
    shaky_ = store_over(faults_, {});
  }
  FaultBackend& faults() { return *faults_; }
  Store& shaky() { return *shaky_; }
  void limit_calls_to(Duration timeout) { shaky_ = store_over(faults_, {.call_timeout = timeout}); }
  SchedulerOptions telling() {
    return {.on_trouble = [this](const Error& error) {
      EXPECT_TRUE(error.code == Errc::unavailable || error.code == Errc::in_doubt) << describe(error);
      ++troubles_;
    }};
  }
  bool is_reported() {
    return eventually([this] { return troubles_ > 0; });
  }

 private:
  std::shared_ptr<FaultBackend> faults_;
  std::optional<Store> shaky_;
  std::atomic<int> troubles_{0};
};
LEASEHOLD_ON_BOTH_STORES(SchedulerOutageTest);

TEST_P(SchedulerOutageTest, AStoreThatIsAwayIsWaitedFor) {
  set_schedule("refresh", every_ten_minutes());
  set_schedule("mails", into_a_queue(every_ten_minutes()));
  faults().fail_always(Fault::fail_before_send);
  RunningScheduler scheduler(shaky(), telling(), {{"refresh", succeed}});
  ASSERT_TRUE(is_reported());
  faults().heal();
  ASSERT_TRUE(ends_with("refresh", {"completed"}));
  ASSERT_TRUE(ends_with("mails", {"enqueued"}));
  EXPECT_EQ(must(scheduler.stop()).lost, 0);
}

TEST_P(SchedulerOutageTest, AVerdictIsRepeatedUntilTheStoreIsBack) {
  set_schedule("refresh", every_ten_minutes());
  RunningScheduler scheduler(shaky(), telling(), {{"refresh", [&](const ScheduleRun&, RunContext&) {
                                                     faults().fail_always(Fault::fail_before_send);
                                                     return RunVerdict::complete("[7]");
                                                   }}});
  ASSERT_TRUE(eventually([&] { return faults().calls("schedule_settle") > 0; }));
  ASSERT_TRUE(is_reported());
  faults().heal();
  ASSERT_TRUE(ends_with("refresh", {"completed"}));
  EXPECT_EQ(history("refresh")[0].counts, "[7]");
  EXPECT_EQ(must(scheduler.stop()).completed, 1);
}

TEST_P(SchedulerOutageTest, AVerdictWhoseAnswerGotLostCountsOnce) {
  set_schedule("refresh", every_ten_minutes());
  faults().fail_next(Fault::lose_reply, 1, "schedule_settle");
  RunningScheduler scheduler(shaky(), telling(), {{"refresh", succeed}});
  ASSERT_TRUE(ends_with("refresh", {"completed"}));
  EXPECT_EQ(must(scheduler.stop()).completed, 1);
}

TEST_P(SchedulerOutageTest, ARunWhoseGrantGotLostIsAskedForAgain) {
  set_schedule("refresh", every_ten_minutes());
  // More often than the acquire itself asks again before it gives up.
  limit_calls_to(200ms);
  faults().fail_next(Fault::lose_reply, 8, "schedule_acquire");
  RunningScheduler scheduler(shaky(), telling(), {{"refresh", succeed}});
  ASSERT_TRUE(ends_with("refresh", {"completed"}));
  EXPECT_EQ(faults().failures(), 8);
  EXPECT_EQ(must(scheduler.stop()).completed, 1);
}

TEST_P(SchedulerOutageTest, AJobWhoseAnswerGotLostIsNotEnqueuedTwice) {
  set_schedule("mails", into_a_queue(every_ten_minutes()));
  faults().fail_next(Fault::lose_reply, 1, "schedule_fire");
  RunningScheduler scheduler(shaky(), telling(), {});
  ASSERT_TRUE(is_reported());
  EXPECT_EQ(outcomes("mails"), Words{"enqueued"});
  ASSERT_TRUE(eventually([&] { return faults().calls("schedule_due") >= 2; }));
  ASSERT_TRUE(ok(scheduler.stop()));
  EXPECT_EQ(must(jobs().claim("mail", {.max = 10})).jobs.size(), 1U);
}

TEST_P(SchedulerOutageTest, AStoppedSchedulerDoesNotWaitForTheStoreForEver) {
  set_schedule("refresh", every_ten_minutes());
  Gate began;
  auto options = telling();
  options.grace = 1ms;
  RunningScheduler scheduler(shaky(), options, {{"refresh", [&](const ScheduleRun&, RunContext& context) {
                                                   began.open();
                                                   wait_for_stop(context);
                                                   faults().fail_always(Fault::fail_before_send);
                                                   return RunVerdict::release();
                                                 }}});
  ASSERT_TRUE(began.wait());
  EXPECT_EQ(must(scheduler.stop()).lost, 1) << "no verdict reached the store";
}

TEST_P(SchedulerOutageTest, AnErrorThatARetryCannotFixEndsTheScheduler) {
  TestStore empty(GetParam(), {.migrate = false});
  const auto store = store_over(empty.open_backend(), {});
  EXPECT_TRUE(fails(Scheduler(store).handle("refresh", succeed).run(), Errc::schema_missing));
}

}  // namespace
}  // namespace leasehold::support
