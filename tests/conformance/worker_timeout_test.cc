// Time limits in the worker: the handler is stopped in time, and the attempt fails whatever it returns. Limits run in
// real time here, while the store's clock stands still.
#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "leasehold/worker.h"
#include "support/job_helpers.h"
#include "support/process.h"
#include "support/store_fixture.h"

namespace leasehold::support {
namespace {

class WorkerTimeoutTest : public StoreTest {
 protected:
  JobInfo look(JobId id) { return must(jobs().show(id)); }

  /// Works on one job of the queue "q".
  WorkSummary work(Handler handler, std::optional<Duration> timeout = std::nullopt) {
    Worker worker(store(), {.timeout = timeout, .until = WorkUntil::once});
    worker.handle("q", std::move(handler));
    return must(worker.run({}));
  }

  static Verdict until_stopped(JobContext& context, std::optional<StopReason>& why) {
    EXPECT_TRUE(eventually([&] { return context.stop_requested(); }));
    why = context.stop_reason();
    return Verdict::complete();
  }
};
LEASEHOLD_ON_BOTH_STORES(WorkerTimeoutTest);

TEST_P(WorkerTimeoutTest, AHandlerThatHangsIsStoppedAndHasFailed) {
  const auto id = add(jobs(), "q", {.timeout = 1s});
  std::optional<StopReason> why;
  const auto summary = work([&](const Job&, JobContext& context) {
    EXPECT_LE(context.trusted_until(), context.limit().value());
    return until_stopped(context, why);
  });
  EXPECT_EQ(why, StopReason::timed_out);
  EXPECT_EQ(summary.failed, 1);
  EXPECT_EQ(look(id).error, "timed out after 1s");
  EXPECT_EQ(look(id).failures, 1);
}

TEST_P(WorkerTimeoutTest, Promise12_AStoppedHandlerLeavesTheEventOfATimeout) {
  const auto id = add(jobs(), "q", {.timeout = 1s + 20ms, .max_failures = 1});
  std::optional<StopReason> why;
  work([&](const Job&, JobContext& context) { return until_stopped(context, why); });
  const auto events = must(store().events({.key = std::to_string(id)}));
  ASSERT_EQ(events.size(), 2U);
  EXPECT_EQ(events.front().what, "timed_out");
  EXPECT_EQ(events.front().detail, "after 1s 20ms");
  EXPECT_TRUE(events.front().holder);
  EXPECT_EQ(events.back().what, "failed");
  EXPECT_EQ(look(id).error, "timed out after 1s 20ms");
}

TEST_P(WorkerTimeoutTest, TheLimitOfTheWorkerIsForJobsWithoutOne) {
  const auto id = add(jobs(), "q");
  std::optional<StopReason> why;
  work([&](const Job&, JobContext& context) { return until_stopped(context, why); }, 1s);
  EXPECT_EQ(why, StopReason::timed_out);
  EXPECT_EQ(look(id).error, "timed out after 1s");
}

TEST_P(WorkerTimeoutTest, AHandlerThatIgnoresTheStopHasFailedBeforeItReturns) {
  const auto id = add(jobs(), "q", {.timeout = 1s});
  std::atomic<bool> let_go = false;
  std::thread working([&] {
    work([&](const Job&, JobContext&) {
      EXPECT_TRUE(eventually([&] { return let_go.load(); }));
      return Verdict::complete();
    });
  });
  EXPECT_TRUE(eventually([&] { return look(id).failures == 1; }));
  let_go = true;
  working.join();
  EXPECT_EQ(look(id).state, JobState::deferred);
  EXPECT_EQ(look(id).error, "timed out after 1s");
}

TEST_P(WorkerTimeoutTest, AHandlerThatIsQuickEnoughNoticesNothing) {
  const auto id = add(jobs(), "q", {.timeout = 1min});
  const auto summary = work([](const Job& job, JobContext& context) {
    EXPECT_EQ(job.timeout, Duration(1min));
    EXPECT_FALSE(context.stop_requested());
    return Verdict::complete();
  });
  EXPECT_EQ(summary.completed, 1);
  EXPECT_EQ(look(id).state, JobState::completed);
}

}  // namespace
}  // namespace leasehold::support
