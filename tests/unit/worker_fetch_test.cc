// What a worker claims, when, and what it gives back.
#include <gtest/gtest.h>

#include "support/fake_work_source.h"
#include "support/running_worker.h"
#include "worker/growing_pause.h"

namespace leasehold::support {
namespace {

using namespace std::chrono_literals;

Verdict complete(const Job&, JobContext&) { return Verdict::complete(); }

TEST(WorkerFetchTest, QueuesTakeTurns) {
  FakeWorkSource source(10s);
  source.add("mail", 5);
  source.add("sms", 5);
  RunningWorker worker(source, {{"mail", complete}, {"sms", complete}},
                       {.concurrency = 1, .prefetch = 0, .until = WorkUntil::empty});
  ASSERT_TRUE(ok(worker.finish()));
  const auto completed = source.seen().completed;
  EXPECT_EQ(completed, (std::vector<JobId>{1, 6, 2, 7, 3, 8, 4, 9, 5, 10}));
}

TEST(WorkerFetchTest, NothingIsClaimedAheadBeforeThePaceIsKnown) {
  FakeWorkSource source(10s);
  source.add("mail", 50);
  RunningWorker worker(source, {{"mail", complete}}, {.concurrency = 3, .prefetch = 40, .until = WorkUntil::empty});
  ASSERT_TRUE(ok(worker.finish()));
  const auto claims = source.seen().claims;
  EXPECT_EQ(claims.at(0).second, 3);
  const auto largest = std::max_element(claims.begin(), claims.end(), [](const auto& a, const auto& b) {
                         return a.second < b.second;
                       })->second;
  EXPECT_GT(largest, 20) << "quick jobs are claimed ahead";
  EXPECT_LE(largest, 43);
}

TEST(WorkerFetchTest, JobsThatWaitTooLongGoBack) {
  FakeWorkSource source(300ms);
  const auto quick = source.add("mail", 20);
  Gate end;
  std::atomic<bool> slow{false};
  RunningWorker worker(source,
                       {{"mail",
                         [&](const Job&, JobContext&) {
                           if (slow) end.wait();
                           return Verdict::complete();
                         }}},
                       {.concurrency = 1, .prefetch = 10, .ttl = 300ms});
  ASSERT_TRUE(source.await([](const auto& seen) { return seen.completed.size() == 20; }));
  slow = true;
  const auto waiting = source.add("mail", 8);
  ASSERT_TRUE(source.await([](const auto& seen) { return seen.released.size() == 7; }));
  EXPECT_EQ(source.seen().released, std::vector<JobId>(waiting.begin() + 1, waiting.end()));
  end.open();
  EXPECT_EQ(worker.summary().released, 7);
}

TEST(WorkerFetchTest, AWorkerThatIsStoppedFinishesWhatRunsAndGivesBackTheRest) {
  FakeWorkSource source(10s);
  source.add("mail", 20);
  Gate end;
  Gate began;
  std::atomic<bool> slow{false};
  RunningWorker worker(source,
                       {{"mail",
                         [&](const Job&, JobContext& context) {
                           if (!slow) return Verdict::complete();
                           began.open();
                           return end.wait() && !context.stop_requested() ? Verdict::complete()
                                                                          : Verdict::fail("stopped");
                         }}},
                       {.concurrency = 1, .prefetch = 10});
  ASSERT_TRUE(source.await([](const auto& seen) { return seen.completed.size() == 20; }));
  slow = true;
  const auto rest = source.add("mail", 5);
  ASSERT_TRUE(began.wait());
  ASSERT_TRUE(source.await([](const auto& seen) { return seen.waits > 1 || seen.claims.back().second > 1; }));
  worker.stop();
  ASSERT_TRUE(source.await([](const auto& seen) { return !seen.released.empty(); }));
  source.add("mail", 1);
  const auto claims = source.seen().claims.size();
  end.open();
  const auto summary = worker.summary();
  EXPECT_EQ(summary.completed, 21);
  EXPECT_EQ(summary.released, 4);
  EXPECT_EQ(summary.lost, 0);
  EXPECT_EQ(source.seen().claims.size(), claims) << "nothing is claimed any more";
  EXPECT_EQ(source.seen().closed.size(), 1U);
}

TEST(WorkerFetchTest, WhenTheGraceIsOverHandlersAreToldToStop) {
  FakeWorkSource source(10s);
  source.add("mail", 1);
  Gate began;
  RunningWorker worker(source,
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
  EXPECT_EQ(source.seen().released.size(), 1U);
}

TEST(WorkerFetchTest, AHandlerThatIgnoresItsStopTokenLosesItsJob) {
  FakeWorkSource source(300ms);
  source.add("mail", 1);
  Gate began;
  Gate end;
  RunningWorker worker(source,
                       {{"mail",
                         [&](const Job&, JobContext&) {
                           began.open();
                           end.wait();
                           return Verdict::complete();
                         }}},
                       {.ttl = 300ms, .grace = 1ms});
  ASSERT_TRUE(began.wait());
  worker.stop();
  ASSERT_TRUE(source.await([](const auto& seen) { return seen.released.size() == 1; })) << "while it still runs";
  end.open();
  const auto summary = worker.summary();
  EXPECT_EQ(summary.released, 1);
  EXPECT_EQ(summary.completed, 0) << "one verdict per attempt";
}

TEST(WorkerFetchTest, ClaimsAreAskedForAgainWhenTheStoreIsBack) {
  FakeWorkSource source(10s);
  source.fail_claims_with({.code = Errc::unavailable, .message = "the store is away"}, 3);
  source.add("mail", 1);
  std::atomic<int> troubles{0};
  RunningWorker worker(source, {{"mail", complete}},
                       {.until = WorkUntil::empty, .on_trouble = [&](const Error&) { ++troubles; }});
  ASSERT_TRUE(ok(worker.finish()));
  EXPECT_EQ(source.seen().completed.size(), 1U);
  EXPECT_EQ(troubles, 3);
}

TEST(WorkerFetchTest, PausesGrowToFiveSeconds) {
  worker::GrowingPause pause;
  for (const auto longest : {50ms, 100ms, 200ms, 400ms, 800ms, 1600ms, 3200ms, 5000ms, 5000ms}) {
    const auto drawn = pause.next();
    EXPECT_LE(drawn, longest);
    EXPECT_GE(drawn, longest / 2);
  }
  pause.reset();
  EXPECT_LE(pause.next(), 50ms);
}

TEST(WorkerFetchTest, WhatAskingAgainDoesNotMendEndsTheWorker) {
  FakeWorkSource source(10s);
  source.fail_claims_with({.code = Errc::denied, .message = "not for you"}, 1);
  RunningWorker worker(source, {{"mail", complete}}, {});
  EXPECT_TRUE(fails(worker.finish(), Errc::denied));
  EXPECT_EQ(source.seen().closed.size(), 1U);
}

TEST(WorkerFetchTest, OnceIsOneJob) {
  FakeWorkSource source(10s);
  source.add("mail", 3);
  RunningWorker worker(source, {{"mail", complete}}, {.concurrency = 4, .until = WorkUntil::once});
  const auto summary = worker.finish();
  ASSERT_TRUE(ok(summary));
  EXPECT_EQ(summary->claimed, 1);
  EXPECT_EQ(summary->completed, 1);
}

TEST(WorkerFetchTest, OnceWithNothingToDoSaysSo) {
  FakeWorkSource source(10s);
  RunningWorker worker(source, {{"mail", complete}}, {.until = WorkUntil::once});
  const auto summary = worker.finish();
  ASSERT_TRUE(ok(summary));
  EXPECT_EQ(summary->claimed, 0);
  ASSERT_TRUE(summary->refusal.has_value());
  EXPECT_EQ(summary->refusal->code, Errc::empty);
}

TEST(WorkerFetchTest, UntilEmptyDoesAlsoWhatTheJobsBroughtForth) {
  FakeWorkSource source(10s);
  source.add("mail", 1);
  RunningWorker worker(source,
                       {{"mail",
                         [&](const Job& job, JobContext&) {
                           if (job.id < 10) source.add("mail", 1);
                           return Verdict::complete();
                         }}},
                       {.concurrency = 2, .until = WorkUntil::empty});
  const auto summary = worker.finish();
  ASSERT_TRUE(ok(summary));
  EXPECT_EQ(summary->completed, 10);
}

TEST(WorkerFetchTest, ASerialQueueGoesOnAsSoonAsThePlaceIsFree) {
  FakeWorkSource source(10s);
  source.limit_running(1);
  source.add("merge", 200);
  RunningWorker worker(source, {{"merge", complete}}, {.concurrency = 4, .until = WorkUntil::empty});
  const auto before = BootClock::now();
  const auto summary = worker.finish();
  ASSERT_TRUE(ok(summary));
  EXPECT_EQ(summary->completed, 200);
  EXPECT_LT(BootClock::now() - before, 15s) << "a tenth of a second for each would be twenty";
}

TEST(WorkerFetchTest, NothingIsAskedAfterALoneJobBeforeWaitingAgain) {
  FakeWorkSource source(10s);
  RunningWorker worker(source, {{"mail", complete}}, {.concurrency = 4});
  ASSERT_TRUE(source.await([](const auto& seen) { return seen.waits >= 1; }));
  source.add("mail", 1);
  ASSERT_TRUE(source.await([](const auto& seen) { return seen.waits >= 2; }));
  EXPECT_EQ(source.seen().claims_before_wait.at(0), 1U) << "the one that found nothing";
  EXPECT_EQ(source.seen().claims_before_wait.at(1), 2U) << "the one that got the job";
}

TEST(WorkerFetchTest, AFullGrantIsFollowedByAnother) {
  FakeWorkSource source(10s);
  RunningWorker worker(source, {{"mail", complete}}, {.concurrency = 2, .prefetch = 0});
  ASSERT_TRUE(source.await([](const auto& seen) { return seen.waits >= 1; }));
  source.add("mail", 6);
  ASSERT_TRUE(source.await([](const auto& seen) { return seen.waits >= 2; }));
  EXPECT_GE(source.seen().claims_before_wait.at(1), 5U) << "nothing, two and two and two, nothing";
}

TEST(WorkerFetchTest, ASerialQueueThatWokeTheWorkerDoesNotRestBetweenItsJobs) {
  FakeWorkSource source(10s);
  source.limit_running(1);
  RunningWorker worker(source, {{"merge", complete}}, {.concurrency = 4});
  ASSERT_TRUE(source.await([](const auto& seen) { return seen.waits >= 1; }));
  source.add("merge", 50);
  ASSERT_TRUE(source.await([](const auto& seen) { return seen.completed.size() == 50; }));
  EXPECT_LE(source.seen().waits, 5) << "idle, after the first, which looked like the only one, and idle again";
}

TEST(WorkerFetchTest, ACancelledJobThatWasNotStartedIsNotStarted) {
  FakeWorkSource source(300ms);
  const auto first = source.add("mail", 20);
  Gate end;
  std::atomic<bool> slow{false};
  std::atomic<int> started{0};
  RunningWorker worker(source,
                       {{"mail",
                         [&](const Job&, JobContext&) {
                           if (slow) {
                             ++started;
                             end.wait();
                           }
                           return Verdict::complete();
                         }}},
                       {.concurrency = 1, .prefetch = 5, .ttl = 300ms});
  ASSERT_TRUE(source.await([](const auto& seen) { return seen.completed.size() == 20; }));
  slow = true;
  const auto two = source.add("mail", 2);
  ASSERT_TRUE(source.await([&](const auto&) { return started == 1; }));
  source.cancel(two[1]);
  const auto beats = source.seen().beats;
  ASSERT_TRUE(source.await([&](const auto& seen) { return seen.beats > beats + 1; }));
  end.open();
  ASSERT_TRUE(source.await([&](const auto& seen) { return seen.released.size() == 1; }));
  EXPECT_EQ(worker.summary().cancelled, 1);
  EXPECT_EQ(started, 1);
}

}  // namespace
}  // namespace leasehold::support
