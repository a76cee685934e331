// Real schedulers that die, freeze and wake up again: no occurrence is lost, none becomes two jobs, and what a late one
// says changes nothing.
//
// The scheduler below dies by its own hand, at the point that FAILPOINT names: nothing but kill -9 is as sudden, and
// only the scheduler itself can be killed exactly there.
#include <gtest/gtest.h>
#include <unistd.h>

#include <csignal>
#include <iostream>
#include <set>

#include "support/process.h"
#include "support/running_scheduler.h"
#include "support/schedule_helpers.h"

namespace leasehold::support {
namespace {

/// Dies here, if the test chose this place.
void failpoint(const std::string& name) {
  if (env("FAILPOINT") == name) ::kill(::getpid(), SIGKILL);
}

/// One run, or the next in an hour.
ScheduleOptions hourly(Duration ttl = 500ms) { return {.rule = every(1h), .ttl = ttl}; }

Words outcomes_of(const Store& store, const std::string& name) {
  Words outcomes;
  for (const auto& run : must(store.schedules().history(name, {.max = 1000})))
    outcomes.emplace_back(to_string(run.outcome));
  return outcomes;
}

/// Counts as another host, unless the test wants its process to be checked.
SchedulerOptions as_child() {
  SchedulerOptions options;
  if (env("SAME_HOST").empty()) options.holder = holder("child");
  return options;
}

LEASEHOLD_ROLE(doomed_scheduler) {
  const auto store = Store::open(env("STORE_URL"));
  if (!store) return 1;
  auto options = as_child();
  options.on_fire = [](std::string_view, const Fired&) { failpoint("after fire"); };
  options.on_start = [](const ScheduleRun&) { failpoint("after acquire"); };
  options.on_settle = [](const ScheduleRun&, const RunVerdict&, const Result<leasehold::RunSettled>&) {
    failpoint("after settle");
  };
  Scheduler scheduler(*store, options);
  scheduler.handle("refresh", [](const ScheduleRun&, RunContext&) {
    failpoint("in the handler");
    return RunVerdict::complete();
  });
  static_cast<void>(scheduler.run());
  return 0;
}

class SchedulerCrashTest : public ::testing::TestWithParam<StoreKind> {
 protected:
  void set_schedule(const std::string& name, const ScheduleOptions& options) {
    must(opened_.schedules().set(name, due_now(options)));
  }
  Words outcomes(const std::string& name) { return outcomes_of(opened_, name); }
  void dies(const std::string& failpoint, const std::string& same_host = "") {
    auto child = Process::self("doomed_scheduler",
                               {{"STORE_URL", store_.url()}, {"FAILPOINT", failpoint}, {"SAME_HOST", same_host}});
    ASSERT_EQ(child.finish(20s).signal, SIGKILL);
  }
  Process start_child(const std::string& role) { return Process::self(role, {{"STORE_URL", store_.url()}}); }
  std::string open_leases() {
    return store_.scalar("SELECT count(*) FROM " + store_.table("lease") + " WHERE ended_at IS NULL");
  }

  TestStore store_{GetParam(), {.real_time = true}};
  Store opened_ = store_.open();
};
LEASEHOLD_ON_BOTH_STORES(SchedulerCrashTest);

TEST_P(SchedulerCrashTest, ARunOfAKilledSchedulerIsRunByAnother) {
  for (const auto* failpoint : {"after acquire", "in the handler"}) {
    set_schedule("refresh", hourly());
    dies(failpoint);
    std::string lost_holder;
    RunningScheduler heir(opened_, {.holder = holder("parent")}, {{"refresh", [&](const ScheduleRun& run, RunContext&) {
                                                                     lost_holder = name_of(run.lost_holder);
                                                                     return RunVerdict::complete();
                                                                   }}});
    EXPECT_TRUE(eventually([&] { return outcomes("refresh") == Words{"completed", "lost"}; })) << failpoint;
    EXPECT_EQ(must(heir.stop()).completed, 1);
    EXPECT_EQ(lost_holder, "child");
    EXPECT_EQ(open_leases(), "0");
    must(opened_.schedules().remove("refresh"));
  }
}

TEST_P(SchedulerCrashTest, OnItsOwnHostItIsMissedLongBeforeItsLeaseRunsOut) {
  set_schedule("refresh", hourly(1h));
  dies("in the handler", "yes");
  RunningScheduler heir(opened_, {}, {{"refresh", succeed}});
  EXPECT_TRUE(eventually([&] { return outcomes("refresh") == Words{"completed", "lost"}; }));
}

TEST_P(SchedulerCrashTest, AFinishedRunStaysFinished) {
  set_schedule("refresh", hourly());
  dies("after settle");
  EXPECT_EQ(outcomes("refresh"), Words{"completed"});
  EXPECT_EQ(must(Scheduler(opened_, {.once = true}).handle("refresh", succeed).run()).started, 0);
}

TEST_P(SchedulerCrashTest, AJobItEnqueuedIsEnqueuedOnce) {
  set_schedule("mails", into_a_queue(hourly()));
  dies("after fire");
  EXPECT_EQ(must(Scheduler(opened_, {.once = true}).run()).enqueued, 0);
  EXPECT_EQ(must(opened_.jobs().claim("mail", {.max = 10})).jobs.size(), 1U);
}

/// Works until it is killed.
LEASEHOLD_ROLE(tireless_scheduler) {
  const auto store = Store::open(env("STORE_URL"));
  if (!store) return 1;
  Scheduler scheduler(*store, as_child());
  scheduler.handle_commands(
      [](const ScheduleRun&, const std::vector<std::string>&, RunContext&) { return RunVerdict::complete(); });
  std::cout << "working" << std::endl;
  static_cast<void>(scheduler.run());
  return 0;
}

/// "": each has become one job. Their payloads are the schedules' names.
std::string wrongly_enqueued(const Store& store, int count) {
  std::set<std::string> seen;
  int jobs = 0;
  for (auto grant = store.jobs().claim("mail", {.max = 1000}); grant;
       grant = store.jobs().claim("mail", {.max = 1000})) {
    for (const auto& job : grant->jobs) seen.insert(job.payload);
    jobs += static_cast<int>(grant->jobs.size());
  }
  if (jobs == count && static_cast<int>(seen.size()) == count) return "";
  return std::to_string(jobs) + " jobs of " + std::to_string(seen.size()) + " schedules";
}

TEST_P(SchedulerCrashTest, Promise15_KillingSchedulersAtAnyMomentLosesNothingAndDoublesNothing) {
  constexpr int count = 150;
  for (int i = 0; i < count; ++i) {
    auto mail = into_a_queue(hourly());
    mail.payload = "mail " + std::to_string(i);
    set_schedule(mail.payload, mail);
    auto run = hourly();
    run.command = {"true"};
    set_schedule("run " + std::to_string(i), run);
  }
  const auto done = [&] {
    return std::stoi(store_.scalar("SELECT count(*) FROM " + store_.table("schedule_run") +
                                   " WHERE outcome IN ('completed', 'enqueued')"));
  };
  for (int round = 1; round <= 3; ++round) {
    std::vector<Process> children;
    for (int i = 0; i < 2; ++i) children.push_back(start_child("tireless_scheduler"));
    ASSERT_TRUE(eventually([&] { return done() >= round * 40; }, 30s));
    for (auto& child : children) child.signal(SIGKILL);
  }
  Scheduler last(opened_, {.holder = holder("parent")});
  last.handle_commands(
      [](const ScheduleRun&, const std::vector<std::string>&, RunContext&) { return RunVerdict::complete(); });
  RunningScheduler heir(std::move(last));
  ASSERT_TRUE(eventually([&] { return done() >= 2 * count; }, 30s));
  ASSERT_TRUE(ok(heir.stop()));
  EXPECT_EQ(wrongly_enqueued(opened_, count), "");
  for (int i = 0; i < count; ++i) {
    EXPECT_EQ(outcomes("mail " + std::to_string(i)), Words{"enqueued"});
    const auto runs = outcomes("run " + std::to_string(i));
    EXPECT_EQ(runs.front(), "completed");
    for (std::size_t j = 1; j < runs.size(); ++j) EXPECT_EQ(runs[j], "lost") << "a verdict is said once";
  }
}

/// Its handler runs until it is told to stop, and then says that all went well.
LEASEHOLD_ROLE(sleepy_scheduler) {
  const auto store = Store::open(env("STORE_URL"));
  if (!store) return 1;
  std::stop_source stop;
  Scheduler scheduler(*store, as_child());
  scheduler.handle("refresh", [&](const ScheduleRun&, RunContext& context) {
    std::cout << "running" << std::endl;
    std::cout << to_string(wait_for_stop(context)) << std::endl;
    stop.request_stop();
    return RunVerdict::complete("[1]");
  });
  const auto summary = scheduler.run(stop.get_token());
  if (!summary) return 1;
  std::cout << summary->completed << " completed, " << summary->lost << " lost" << std::endl;
  return 0;
}

TEST_P(SchedulerCrashTest, AFrozenSchedulerThatWakesUpLateChangesNothing) {
  set_schedule("refresh", hourly());
  auto child = start_child("sleepy_scheduler");
  ASSERT_EQ(child.read_line(10s), "running");
  store_.freeze(child.pid());
  Gate began;
  Gate go_on;
  RunningScheduler heir(opened_, {.holder = holder("parent")}, {{"refresh", [&](const ScheduleRun&, RunContext&) {
                                                                   began.open();
                                                                   EXPECT_TRUE(go_on.wait());
                                                                   return RunVerdict::complete("[2]");
                                                                 }}});
  ASSERT_TRUE(began.wait());
  child.signal(SIGCONT);
  EXPECT_EQ(child.read_line(10s), "lost");
  EXPECT_EQ(child.read_line(10s), "0 completed, 1 lost");
  EXPECT_EQ(child.finish(10s).exit_code, 0);
  EXPECT_EQ(outcomes("refresh"), (Words{"running", "lost"}));
  go_on.open();
  EXPECT_TRUE(eventually([&] { return outcomes("refresh") == Words{"completed", "lost"}; }));
  EXPECT_EQ(must(opened_.schedules().history("refresh"))[0].counts, "[2]");
}

}  // namespace
}  // namespace leasehold::support
