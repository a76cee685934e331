// The jobs that a worker claims and gives back, and when.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <set>

#include "runtime/shared.h"
#include "support/running_worker.h"
#include "support/runtime_fixture.h"

namespace leasehold::support {
namespace {

Verdict complete(const Job&, JobContext&) { return Verdict::complete(); }

class WorkerFetchTest : public RuntimeTest {
 protected:
  int claims() { return faults().calls("job_claim"); }
  int waits(const std::string& queue) { return faults().calls("wait queue:" + queue); }

  /// Adds jobs that the next claim gets, has them done, and gives how often the worker asked for more before it waited.
  int claims_before_wait_after(const std::string& queue, int jobs) {
    faults().hold("job_claim");
    const auto before = claims();
    add(queue, jobs);
    EXPECT_TRUE(eventually([&] { return claims() > before; }));
    const auto place = static_cast<std::ptrdiff_t>(faults().asked().size());
    faults().let_go();
    EXPECT_TRUE(settles("completed", static_cast<std::size_t>(jobs)));
    const auto waited = waits(queue);
    EXPECT_TRUE(eventually([&] { return waits(queue) > waited; }));
    const auto asked = faults().asked();
    const auto wait = std::find(asked.begin() + place, asked.end(), "wait queue:" + queue);
    return static_cast<int>(std::count(asked.begin() + place, wait, "job_claim"));
  }
};

TEST_F(WorkerFetchTest, QueuesTakeTurns) {
  const auto mail = add("mail", 5);
  const auto sms = add("sms", 5);
  Ids order;
  const Handler handler = [&](const Job& job, JobContext&) {
    order.push_back(job.id);
    return Verdict::complete();
  };
  RunningWorker worker(fragile(), {{"mail", handler}, {"sms", handler}},
                       {.concurrency = 1, .prefetch = 0, .until = WorkUntil::empty});
  ASSERT_TRUE(ok(worker.finish()));
  Ids expected;
  for (std::size_t i = 0; i < 5; ++i) expected.insert(expected.end(), {mail[i], sms[i]});
  EXPECT_EQ(order, expected);
}

TEST_F(WorkerFetchTest, NothingIsClaimedAheadBeforeThePaceIsKnown) {
  add("mail", 100);
  // The number of jobs before each claim shows how many the previous claim took.
  std::vector<std::int64_t> available;
  faults().listen([&](std::string_view statement) {
    if (statement == "job_claim") available.push_back(must(store().queues().show("mail")).available);
  });
  RunningWorker worker(fragile(), {{"mail", complete}}, {.concurrency = 3, .prefetch = 40, .until = WorkUntil::empty});
  ASSERT_TRUE(ok(worker.finish()));
  ASSERT_GT(available.size(), 2U);
  EXPECT_EQ(available[0] - available[1], 3);
  std::int64_t largest = 0;
  for (std::size_t i = 1; i < available.size(); ++i) largest = std::max(largest, available[i - 1] - available[i]);
  EXPECT_GT(largest, 20) << "quick jobs are claimed ahead";
  EXPECT_LE(largest, 43);
}

/// Does 20 jobs at once, so that others are claimed ahead, and then one that ends with the test.
class SlowAtLast {
 public:
  Verdict operator()(const Job&, JobContext& context) {
    if (!slow) return Verdict::complete();
    ++started;
    began.open();
    return end.wait() && !context.stop_requested() ? Verdict::complete() : Verdict::fail("stopped");
  }

  std::atomic<bool> slow{false};
  std::atomic<int> started{0};
  Gate began;
  Gate end;
};

TEST_F(WorkerFetchTest, JobsThatWaitTooLongGoBack) {
  add("mail", 20);
  SlowAtLast handler;
  RunningWorker worker(fragile(), {{"mail", std::ref(handler)}}, {.concurrency = 1, .prefetch = 10, .ttl = 600ms});
  ASSERT_TRUE(settles("completed", 20));
  handler.slow = true;
  const auto waiting = add("mail", 8);
  ASSERT_TRUE(handler.began.wait());
  // They may be claimed and given back more than once.
  const std::set<JobId> all_but_the_first(waiting.begin() + 1, waiting.end());
  const auto released = [&] {
    const auto ids = settled("released");
    return std::set<JobId>(ids.begin(), ids.end());
  };
  ASSERT_TRUE(eventually([&] { return released() == all_but_the_first; }));
  handler.end.open();
  EXPECT_GE(worker.summary().released, 7);
}

TEST_F(WorkerFetchTest, AJobThatWasNotStartedGoesBackBeforeItsLimitAndIsNotCharged) {
  add("mail", 20);
  SlowAtLast handler;
  RunningWorker worker(fragile(), {{"mail", std::ref(handler)}}, {.concurrency = 1, .prefetch = 10});
  ASSERT_TRUE(settles("completed", 20));
  handler.slow = true;
  // In one call, so that one claim takes them all.
  std::vector<NewJob> jobs(4, NewJob{.timeout = 1s});
  jobs.front().timeout.reset();
  const auto added = must(store().jobs().enqueue("mail", jobs));
  ASSERT_TRUE(handler.began.wait());
  ASSERT_TRUE(eventually([&] { return show(added.back().id).state == JobState::running; })) << "claimed ahead";
  for (std::size_t i = 1; i < added.size(); ++i) {
    const auto id = added[i].id;
    ASSERT_TRUE(eventually([&] { return show(id).state == JobState::available || show(id).failures > 0; }));
    EXPECT_EQ(show(id).failures, 0);
    EXPECT_EQ(outcomes_of(store().jobs(), id), (std::vector<std::string>{"released"}));
  }
  EXPECT_EQ(handler.started, 1);
  worker.stop();
  handler.end.open();
  const auto summary = worker.summary();
  EXPECT_EQ(summary.released, 3);
  EXPECT_EQ(summary.failed, 0);
}

TEST_F(WorkerFetchTest, AWorkerThatIsStoppedFinishesWhatRunsAndGivesBackTheRest) {
  add("mail", 20);
  SlowAtLast handler;
  RunningWorker worker(fragile(), {{"mail", std::ref(handler)}}, {.concurrency = 1, .prefetch = 10});
  ASSERT_TRUE(settles("completed", 20));
  handler.slow = true;
  const auto rest = add("mail", 5);
  ASSERT_TRUE(handler.began.wait());
  ASSERT_TRUE(eventually([&] { return show(rest.back()).state == JobState::running; })) << "claimed ahead";
  worker.stop();
  ASSERT_TRUE(settles("released", 4));
  add("mail", 1);
  const auto before = claims();
  handler.end.open();
  const auto summary = worker.summary();
  EXPECT_EQ(summary.completed, 21);
  EXPECT_EQ(summary.released, 4);
  EXPECT_EQ(summary.lost, 0);
  EXPECT_EQ(claims(), before) << "nothing is claimed any more";
  EXPECT_EQ(leases("worker", true).size(), 1U);
}

TEST_F(WorkerFetchTest, HandlersMustStopAfterTheGrace) {
  add("mail", 1);
  Gate began;
  RunningWorker worker(fragile(),
                       {{"mail",
                         [&](const Job&, JobContext& context) {
                           began.open();
                           return wait_for_stop(context) == StopReason::draining ? Verdict::release()
                                                                                 : Verdict::fail("");
                         }}},
                       {.grace = 1ms});
  ASSERT_TRUE(began.wait());
  const auto summary = worker.summary();
  EXPECT_EQ(summary.released, 1);
  EXPECT_EQ(settled("released").size(), 1U);
}

TEST_F(WorkerFetchTest, AHandlerThatIgnoresItsStopTokenLosesItsJob) {
  add("mail", 1);
  Gate began;
  Gate end;
  RunningWorker worker(fragile(),
                       {{"mail",
                         [&](const Job&, JobContext&) {
                           began.open();
                           end.wait();
                           return Verdict::complete();
                         }}},
                       {.ttl = 600ms, .grace = 1ms});
  ASSERT_TRUE(began.wait());
  worker.stop();
  ASSERT_TRUE(settles("released", 1)) << "while it still runs";
  end.open();
  const auto summary = worker.summary();
  EXPECT_EQ(summary.released, 1);
  EXPECT_EQ(summary.completed, 0) << "one verdict per attempt";
  EXPECT_TRUE(settled("completed").empty());
}

TEST_F(WorkerFetchTest, ClaimsAreAskedForAgainWhenTheStoreIsBack) {
  faults().fail_next(Fault::fail_before_send, 3, "job_claim");
  add("mail", 1);
  std::atomic<int> troubles{0};
  RunningWorker worker(fragile(), {{"mail", complete}},
                       {.until = WorkUntil::empty, .on_trouble = [&](const Error&) { ++troubles; }});
  ASSERT_TRUE(ok(worker.finish()));
  EXPECT_EQ(settled("completed").size(), 1U);
  EXPECT_EQ(troubles, 3);
}

TEST_F(WorkerFetchTest, PausesGrowToFiveSeconds) {
  GrowingPause pause;
  for (const auto longest : {50ms, 100ms, 200ms, 400ms, 800ms, 1600ms, 3200ms, 5000ms, 5000ms}) {
    const auto drawn = pause.next();
    EXPECT_LE(drawn, longest);
    EXPECT_GE(drawn, longest / 2);
  }
  pause.reset();
  EXPECT_LE(pause.next(), 50ms);
}

TEST_F(WorkerFetchTest, AnErrorThatARetryCannotFixEndsTheWorker) {
  faults().refuse_next({.code = Errc::denied, .message = "not for you"}, 1, "job_claim");
  RunningWorker worker(fragile(), {{"mail", complete}}, {});
  EXPECT_TRUE(fails(worker.finish(), Errc::denied));
  EXPECT_EQ(leases("worker", true).size(), 1U);
}

TEST_F(WorkerFetchTest, OnceIsOneJob) {
  add("mail", 3);
  RunningWorker worker(fragile(), {{"mail", complete}}, {.concurrency = 4, .until = WorkUntil::once});
  const auto summary = worker.finish();
  ASSERT_TRUE(ok(summary));
  EXPECT_EQ(summary->claimed, 1);
  EXPECT_EQ(summary->completed, 1);
}

TEST_F(WorkerFetchTest, OnceWithNothingToDoReportsIt) {
  RunningWorker worker(fragile(), {{"mail", complete}}, {.until = WorkUntil::once});
  const auto summary = worker.finish();
  ASSERT_TRUE(ok(summary));
  EXPECT_EQ(summary->claimed, 0);
  ASSERT_TRUE(summary->refusal.has_value());
  EXPECT_EQ(summary->refusal->code, Errc::empty);
}

TEST_F(WorkerFetchTest, UntilEmptyDoesAlsoWhatTheJobsBroughtForth) {
  add("mail", 1);
  std::atomic<int> handled{0};
  RunningWorker worker(fragile(),
                       {{"mail",
                         [&](const Job&, JobContext&) {
                           if (++handled < 10) add("mail", 1);
                           return Verdict::complete();
                         }}},
                       {.concurrency = 2, .until = WorkUntil::empty});
  const auto summary = worker.finish();
  ASSERT_TRUE(ok(summary));
  EXPECT_EQ(summary->completed, 10);
}

TEST_F(WorkerFetchTest, ASerialQueueGoesOnAsSoonAsThePlaceIsFree) {
  ASSERT_TRUE(ok(store().queues().set("merge", {.max_running = 1})));
  add("merge", 200);
  RunningWorker worker(fragile(), {{"merge", complete}}, {.concurrency = 4, .until = WorkUntil::empty});
  const auto before = BootClock::now();
  const auto summary = worker.finish();
  ASSERT_TRUE(ok(summary));
  EXPECT_EQ(summary->completed, 200);
  EXPECT_LT(BootClock::now() - before, 15s) << "a tenth of a second for each would be twenty";
}

TEST_F(WorkerFetchTest, NothingIsAskedAfterALoneJobBeforeWaitingAgain) {
  RunningWorker worker(fragile(), {{"mail", complete}}, {.concurrency = 4});
  ASSERT_TRUE(eventually([&] { return waits("mail") >= 1; }));
  EXPECT_EQ(claims_before_wait_after("mail", 1), 0);
}

TEST_F(WorkerFetchTest, AFullGrantIsFollowedByAnother) {
  RunningWorker worker(fragile(), {{"mail", complete}}, {.concurrency = 2, .prefetch = 0});
  ASSERT_TRUE(eventually([&] { return waits("mail") >= 1; }));
  EXPECT_GE(claims_before_wait_after("mail", 6), 3) << "two came before; two and two, and nothing";
}

TEST_F(WorkerFetchTest, ASerialQueueThatWokeTheWorkerDoesNotRestBetweenItsJobs) {
  ASSERT_TRUE(ok(store().queues().set("merge", {.max_running = 1})));
  RunningWorker worker(fragile(), {{"merge", complete}}, {.concurrency = 4});
  ASSERT_TRUE(eventually([&] { return waits("merge") >= 1; }));
  const auto before = waits("merge");
  add("merge", 50);
  ASSERT_TRUE(settles("completed", 50));
  EXPECT_LE(waits("merge") - before, 8) << "after the first, which looked like the only one, and idle again";
}

TEST_F(WorkerFetchTest, ACancelledJobThatWasNotStartedIsNotStarted) {
  add("mail", 20);
  SlowAtLast handler;
  RunningWorker worker(fragile(), {{"mail", std::ref(handler)}}, {.concurrency = 1, .prefetch = 5});
  ASSERT_TRUE(settles("completed", 20));
  handler.slow = true;
  const auto two = add("mail", 2);
  ASSERT_TRUE(eventually([&] { return handler.started == 1 && show(two[1]).state == JobState::running; }));
  ASSERT_TRUE(ok(store().jobs().cancel(two[1])));
  // The worker hears of it by a look at its lease's news.
  const auto looks = faults().calls("lease_news");
  ASSERT_TRUE(eventually([&] { return faults().calls("lease_news") > looks + 1; }));
  handler.end.open();
  ASSERT_TRUE(eventually([&] { return show(two[1]).state == JobState::cancelled; }));
  EXPECT_EQ(worker.summary().cancelled, 1);
  EXPECT_EQ(handler.started, 1);
}

}  // namespace
}  // namespace leasehold::support
