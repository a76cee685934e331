// The fate of a job after its handler's verdict.
#include <gtest/gtest.h>

#include <atomic>

#include "support/running_worker.h"
#include "support/runtime_fixture.h"

namespace leasehold::support {
namespace {

class WorkerVerdictTest : public RuntimeTest {
 protected:
  int batches() { return faults().calls("job_settle_many"); }
};

TEST_F(WorkerVerdictTest, EveryJobIsCompletedOnce) {
  const auto ids = add("mail", 500);
  RunningWorker worker(fragile(), {{"mail", [](const Job&, JobContext&) { return Verdict::complete(); }}},
                       {.concurrency = 4, .prefetch = 100});
  ASSERT_TRUE(settles("completed", 500));
  const auto summary = worker.summary();
  EXPECT_EQ(settled("completed"), ids);
  EXPECT_EQ(summary.claimed, 500);
  EXPECT_EQ(summary.completed, 500);
  EXPECT_EQ(leases("worker", true), leases("worker")) << "the lease is given back";
}

TEST_F(WorkerVerdictTest, ALoneCompletionGoesAtOnce) {
  RunningWorker worker(fragile(), {{"mail", [](const Job&, JobContext&) { return Verdict::complete(); }}},
                       {.concurrency = 4});
  for (std::size_t i = 1; i <= 5; ++i) {
    add("mail", 1);
    ASSERT_TRUE(settles("completed", i));
  }
  EXPECT_EQ(batches(), 5);
}

TEST_F(WorkerVerdictTest, CompletionsThatGatherTravelTogether) {
  faults().hold("job_settle_many");
  add("mail", 200);
  std::atomic<int> handled{0};
  RunningWorker worker(fragile(),
                       {{"mail",
                         [&](const Job&, JobContext&) {
                           ++handled;
                           return Verdict::complete();
                         }}},
                       {.concurrency = 4, .prefetch = 200});
  ASSERT_TRUE(eventually([&] { return handled == 200; }));
  faults().let_go();
  ASSERT_TRUE(settles("completed", 200));
  EXPECT_LE(batches(), 6) << "one under way, one for the rest, and a few stragglers";
}

TEST_F(WorkerVerdictTest, EachVerdictDoesWhatItSays) {
  const auto ids = add("mail", 6);
  const std::vector<Verdict> verdicts = {
      Verdict::complete("done"),        Verdict::fail("no"), Verdict::fail_finally("never"),
      Verdict::retry_in(3s, "not now"), Verdict::release(),  Verdict::snooze(7s)};
  std::atomic<bool> released{false};
  RunningWorker worker(fragile(),
                       {{"mail",
                         [&](const Job& job, JobContext&) {
                           // It comes back at once.
                           if (job.id == ids[4] && released.exchange(true)) return Verdict::complete("at last");
                           return verdicts[static_cast<std::size_t>(job.id - ids[0])];
                         }}},
                       {.concurrency = 6, .until = WorkUntil::empty});
  const auto summary = worker.finish();
  ASSERT_TRUE(ok(summary));
  EXPECT_EQ(must(store().jobs().result(ids[0])), "done");
  EXPECT_EQ(show(ids[1]).error, "no");
  EXPECT_EQ(show(ids[1]).state, JobState::deferred);
  EXPECT_EQ(show(ids[2]).error, "never");
  EXPECT_EQ(show(ids[2]).state, JobState::failed);
  EXPECT_EQ(show(ids[3]).error, "not now");
  EXPECT_EQ(show(ids[3]).due_at, under_test().now() + 3s);
  EXPECT_EQ(outcomes_of(store().jobs(), ids[4]), (std::vector<std::string>{"released", "completed"}));
  EXPECT_EQ(outcomes_of(store().jobs(), ids[5]), std::vector<std::string>{"snoozed"});
  EXPECT_EQ(show(ids[5]).due_at, under_test().now() + 7s);
  EXPECT_EQ(summary->completed, 2);
  EXPECT_EQ(summary->failed, 3);
  EXPECT_EQ(summary->released, 1);
  EXPECT_EQ(summary->snoozed, 1);
}

TEST_F(WorkerVerdictTest, AHandlerThatThrowsHasFailed) {
  const auto ids = add("mail", 2);
  RunningWorker worker(fragile(),
                       {{"mail",
                         [&](const Job& job, JobContext&) -> Verdict {
                           if (job.id == ids[0]) throw std::runtime_error("the printer burns");
                           throw 42;
                         }}},
                       {.until = WorkUntil::empty});
  const auto summary = worker.finish();
  ASSERT_TRUE(ok(summary));
  EXPECT_EQ(summary->failed, 2);
  EXPECT_EQ(show(ids[0]).error, "the printer burns");
  EXPECT_NE(show(ids[1]).error, "");
}

TEST_F(WorkerVerdictTest, AVerdictTheStoreRefusesIsAFailureAndSpoilsNoOthers) {
  faults().hold("job_settle_many");
  const auto first = add("mail", 1);
  std::atomic<int> handled{0};
  RunningWorker worker(fragile(),
                       {{"mail",
                         [&](const Job& job, JobContext&) {
                           const bool too_large = job.id == first[0] + 2;
                           ++handled;
                           return Verdict::complete(std::string(too_large ? (1U << 20) + 1 : 1, 'x'));
                         }}},
                       {.concurrency = 4});
  ASSERT_TRUE(eventually([&] { return batches() == 1; }));
  // These gather while the first one is held back.
  const auto ids = add("mail", 3);
  ASSERT_TRUE(eventually([&] { return handled == 4; }));
  faults().let_go();
  ASSERT_TRUE(settles("completed", 3));
  ASSERT_TRUE(settles("failed", 1));
  const auto summary = worker.summary();
  EXPECT_EQ(summary.completed, 3);
  EXPECT_EQ(summary.failed, 1);
  EXPECT_NE(show(ids[1]).error.find("the verdict was not accepted: "), std::string::npos) << show(ids[1]).error;
}

TEST_F(WorkerVerdictTest, TheLatestProgressIsSent) {
  const auto ids = add("mail", 1);
  Gate sent;
  RunningWorker worker(fragile(),
                       {{"mail",
                         [&](const Job&, JobContext& context) {
                           for (int i = 1; i <= 100; ++i) context.progress({.message = std::to_string(i)});
                           return sent.wait() ? Verdict::complete() : Verdict::fail("it was never sent");
                         }}},
                       {.until = WorkUntil::empty});
  ASSERT_TRUE(eventually([&] { return show(ids[0]).message == "100"; }));
  EXPECT_LE(faults().calls("job_heartbeat"), 2) << "the first at once, the rest together";
  sent.open();
  const auto summary = worker.finish();
  ASSERT_TRUE(ok(summary));
  EXPECT_EQ(summary->completed, 1);
}

}  // namespace
}  // namespace leasehold::support
