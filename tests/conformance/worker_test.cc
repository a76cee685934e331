// The worker runtime over real stores. Heartbeats run in real time here, while the store's clock stands still unless
// the test moves it.
#include "leasehold/worker.h"

#include <gtest/gtest.h>

#include <atomic>
#include <map>
#include <mutex>
#include <set>
#include <thread>

#include "runtime/worker/source.h"
#include "store/store.h"
#include "support/fault_backend.h"
#include "support/process.h"
#include "support/running_worker.h"
#include "support/store_fixture.h"

namespace leasehold::support {
namespace {

Verdict complete(const Job&, JobContext&) { return Verdict::complete(); }

/// A worker on a thread of its own, stopped at the end.
class Working {
 public:
  Working(const Store& store, const WorkerOptions& options, const std::map<std::string, Handler>& handlers)
      : worker_(store, options) {
    for (const auto& [queue, handler] : handlers) worker_.handle(queue, handler);
    thread_ = std::thread([this] { result_ = worker_.run(stop_.get_token()); });
  }
  Working(const Working&) = delete;
  Working& operator=(const Working&) = delete;
  ~Working() {
    if (thread_.joinable()) static_cast<void>(stop());
  }

  Result<WorkSummary> stop() {
    stop_.request_stop();
    thread_.join();
    return result_;
  }

 private:
  Worker worker_;
  std::stop_source stop_;
  Result<WorkSummary> result_ = Error{.code = Errc::internal, .message = "it did not run"};
  std::thread thread_;
};

class WorkerTest : public StoreTest {
 protected:
  Jobs jobs() { return store().jobs(); }

  JobId enqueue(const std::string& queue, const NewJob& job = {}) {
    auto enqueued = jobs().enqueue(queue, job);
    if (!enqueued) throw std::runtime_error(describe(enqueued.error()));
    return enqueued->id;
  }

  std::vector<JobId> enqueue_many(const std::string& queue, std::size_t count) {
    auto enqueued = jobs().enqueue(queue, std::vector<NewJob>(count, NewJob{.payload = "x"}));
    if (!enqueued) throw std::runtime_error(describe(enqueued.error()));
    std::vector<JobId> ids;
    for (const auto& job : *enqueued) ids.push_back(job.id);
    return ids;
  }

  JobInfo show(JobId id) {
    auto info = jobs().show(id);
    if (!info) throw std::runtime_error(describe(info.error()));
    return *info;
  }

  bool becomes(JobId id, JobState state) {
    return eventually([&] { return show(id).state == state; });
  }

  /// Works off what there is.
  WorkSummary work_off(WorkerOptions options, const std::string& queue, const Handler& handler) {
    options.until = WorkUntil::empty;
    auto summary = Worker(store(), options).handle(queue, handler).run();
    if (!summary) throw std::runtime_error(describe(summary.error()));
    return *summary;
  }
};
LEASEHOLD_ON_BOTH_STORES(WorkerTest);

TEST_P(WorkerTest, Promise15_EveryJobIsDoneOnce) {
  const auto ids = enqueue_many("mail", 700);
  std::mutex mutex;
  std::map<JobId, int> handled;
  const auto summary = work_off({.concurrency = 4, .prefetch = 200}, "mail", [&](const Job& job, JobContext&) {
    const std::lock_guard lock(mutex);
    ++handled[job.id];
    return Verdict::complete(job.payload + " done");
  });
  EXPECT_EQ(summary.claimed, 700);
  EXPECT_EQ(summary.completed, 700);
  ASSERT_TRUE(summary.refusal.has_value());
  EXPECT_EQ(summary.refusal->code, Errc::empty);
  EXPECT_EQ(handled.size(), 700U);
  for (const auto id : ids) EXPECT_EQ(handled[id], 1);
  const auto queue = store().queues().show("mail");
  ASSERT_TRUE(ok(queue));
  EXPECT_EQ(queue->available + queue->running + queue->expired + queue->deferred, 0);
  const auto result = jobs().result(ids.back());
  ASSERT_TRUE(ok(result));
  EXPECT_EQ(*result, "x done");
  EXPECT_EQ(under_test().scalar("SELECT count(*) FROM " + under_test().table("job_grant")), "0");
  EXPECT_EQ(under_test().scalar("SELECT count(*) FROM " + under_test().table("lease") + " WHERE ended_at IS NULL"),
            "0");
}

TEST_P(WorkerTest, AJobThatComesWhileItWaitsIsStarted) {
  Working worker(store(), {}, {{"mail", complete}, {"sms", complete}});
  for (const auto* queue : {"mail", "sms", "mail"}) EXPECT_TRUE(becomes(enqueue(queue), JobState::completed));
  const auto summary = worker.stop();
  ASSERT_TRUE(ok(summary));
  EXPECT_EQ(summary->completed, 3);
}

/// A new watch wakes by itself at first: it registers with the store, and the listener connects.
template <typename Wait>
bool becomes_quiet(Wait&& wait) {
  return eventually([&] {
    const auto until = BootClock::now() + 200ms;
    wait(until);
    return BootClock::now() >= until;
  });
}

TEST_P(WorkerTest, AWatchThatIsWokenEndsItsWait) {
  const std::vector<std::string> queues{"mail"};
  auto watch = jobs().watch(queues);
  ASSERT_TRUE(becomes_quiet([&](BootTime until) { watch.wait(until); }));
  const auto before = BootClock::now();
  std::thread waiting([&] { watch.wait(before + 1min); });
  watch.wake();
  waiting.join();
  EXPECT_LT(BootClock::now() - before, 10s);
}

TEST_P(WorkerTest, AWaitForWorkEndsWhenTheWorkerIsToStop) {
  worker::JobsSource source(store(), {.queues = {"mail"}}, Holder::self(), 30s);
  std::stop_source stop;
  ASSERT_TRUE(becomes_quiet([&](BootTime until) { source.wait_for_work(until, stop.get_token()); }));
  const auto before = BootClock::now();
  std::thread waiting([&] { source.wait_for_work(before + 1min, stop.get_token()); });
  stop.request_stop();
  waiting.join();
  EXPECT_LT(BootClock::now() - before, 10s);
}

TEST_P(WorkerTest, AHandlerThatThrowsLeavesItsWordsWithTheJob) {
  const auto id = enqueue("mail", {.max_failures = 1});
  const auto summary =
      work_off({}, "mail", [](const Job&, JobContext&) -> Verdict { throw std::runtime_error("the printer burns"); });
  EXPECT_EQ(summary.failed, 1);
  EXPECT_EQ(show(id).state, JobState::failed);
  EXPECT_EQ(show(id).error, "the printer burns");
}

TEST_P(WorkerTest, ReleasedAndSnoozedJobsAreNotCharged) {
  const auto id = enqueue("mail");
  std::atomic<int> tries{0};
  const auto summary = work_off(
      {}, "mail", [&](const Job&, JobContext&) { return ++tries == 1 ? Verdict::release() : Verdict::snooze(1h); });
  EXPECT_EQ(summary.released, 1);
  EXPECT_EQ(summary.snoozed, 1);
  const auto info = show(id);
  EXPECT_EQ(info.state, JobState::deferred);
  EXPECT_EQ(info.failures, 0);
}

TEST_P(WorkerTest, Promise09_ALostLeaseStopsTheHandlerAndTheJobRunsAgain) {
  const auto id = enqueue("mail");
  Gate began;
  std::atomic<int> tries{0};
  Working worker(store(), {.ttl = 600ms}, {{"mail", [&](const Job& job, JobContext& context) {
                                              if (++tries > 1) return Verdict::complete(std::to_string(job.attempt));
                                              began.open();
                                              EXPECT_EQ(wait_for_stop(context), StopReason::lost);
                                              return Verdict::complete("too late");
                                            }}});
  ASSERT_TRUE(began.wait());
  advance(10s);
  ASSERT_TRUE(becomes(id, JobState::completed));
  const auto result = jobs().result(id);
  ASSERT_TRUE(ok(result));
  EXPECT_EQ(*result, "2");
  const auto summary = worker.stop();
  ASSERT_TRUE(ok(summary));
  EXPECT_EQ(summary->lost, 1);
  EXPECT_EQ(summary->completed, 1);
  EXPECT_EQ(show(id).crashes, 1);
}

TEST_P(WorkerTest, Promise07_JobsOfADeadWorkerAreDoneOneByOne) {
  const auto ids = enqueue_many("mail", 3);
  // A holder that never comes back.
  ASSERT_TRUE(ok(jobs().claim("mail", {.max = 3, .ttl = 30s}, {.holder = Holder{.name = "ghost", .instance = "g"}})));
  advance(31s);
  const auto summary = work_off({.concurrency = 4}, "mail", complete);
  EXPECT_EQ(summary.completed, 3);
  for (const auto id : ids) {
    EXPECT_EQ(show(id).state, JobState::completed);
    EXPECT_EQ(show(id).crashes, 0) << "it is unknown which of them it was";
  }
}

TEST_P(WorkerTest, CancellingReachesTheHandler) {
  const auto id = enqueue("mail");
  Gate began;
  Working worker(store(), {.ttl = 600ms}, {{"mail", [&](const Job&, JobContext& context) {
                                              began.open();
                                              EXPECT_EQ(wait_for_stop(context), StopReason::cancelled);
                                              return Verdict::release();
                                            }}});
  ASSERT_TRUE(began.wait());
  ASSERT_TRUE(ok(jobs().cancel(id, "changed my mind")));
  EXPECT_TRUE(becomes(id, JobState::cancelled));
  const auto summary = worker.stop();
  ASSERT_TRUE(ok(summary));
  EXPECT_EQ(summary->cancelled, 1);
}

// The next heartbeats come in more than three minutes.
TEST_P(WorkerTest, CancellingReachesTheHandlerLongBeforeTheNextHeartbeat) {
  const auto id = enqueue("mail");
  const auto other = enqueue("mail");
  Gate began;
  std::atomic<bool> other_stopped = false;
  Working worker(store(), {.concurrency = 2, .ttl = 10min}, {{"mail", [&](const Job& job, JobContext& context) {
                                                                if (job.id == other) {
                                                                  EXPECT_TRUE(began.wait());
                                                                  other_stopped = context.stop_reason().has_value();
                                                                  return Verdict::complete();
                                                                }
                                                                EXPECT_EQ(wait_for_stop(context),
                                                                          StopReason::cancelled);
                                                                began.open();
                                                                return Verdict::release();
                                                              }}});
  ASSERT_TRUE(eventually([&] { return show(id).state == JobState::running; }));
  ASSERT_TRUE(ok(jobs().cancel(id, "changed my mind")));
  const auto asked = BootClock::now();
  EXPECT_TRUE(becomes(id, JobState::cancelled));
  EXPECT_LT(BootClock::now() - asked, 5s);
  EXPECT_TRUE(becomes(other, JobState::completed));
  EXPECT_FALSE(other_stopped);
}

// A job of a grant of many whose holder died is claimed solo, under a lease of its own.
TEST_P(WorkerTest, CancellingReachesAJobWithALeaseOfItsOwn) {
  const auto ids = enqueue_many("mail", 2);
  ASSERT_TRUE(ok(jobs().claim("mail", {.max = 2, .ttl = 10s})));
  advance(31s);
  std::atomic<bool> reported = false;
  Working worker(store(), {.ttl = 10min}, {{"mail", [&](const Job& job, JobContext& context) {
                                              if (job.id != ids[0]) return Verdict::complete();
                                              reported = wait_for_stop(context) == StopReason::cancelled;
                                              return Verdict::release();
                                            }}});
  ASSERT_TRUE(becomes(ids[0], JobState::running));
  ASSERT_TRUE(ok(jobs().cancel(ids[0])));
  const auto asked = BootClock::now();
  EXPECT_TRUE(becomes(ids[0], JobState::cancelled));
  EXPECT_LT(BootClock::now() - asked, 5s);
  EXPECT_TRUE(reported) << "and the handler was not stopped";
}

TEST_P(WorkerTest, ProgressIsSeenWhileTheJobRuns) {
  const auto id = enqueue("merge");
  Gate seen;
  Working worker(store(), {}, {{"merge", [&](const Job&, JobContext& context) {
                                  context.progress({.percent = 40, .message = "17 of 42", .stage = "testing"});
                                  return seen.wait() ? Verdict::complete() : Verdict::fail("the job was not seen");
                                }}});
  EXPECT_TRUE(eventually([&] { return show(id).stage == "testing"; }));
  EXPECT_EQ(show(id).percent, 40);
  EXPECT_EQ(show(id).message, "17 of 42");
  seen.open();
  EXPECT_TRUE(becomes(id, JobState::completed));
}

TEST_P(WorkerTest, AStoppedWorkerLeavesNothingBehind) {
  const auto id = enqueue("mail");
  Gate began;
  Working worker(store(), {.grace = 1ms}, {{"mail", [&](const Job&, JobContext& context) {
                                              began.open();
                                              EXPECT_EQ(wait_for_stop(context), StopReason::draining);
                                              return Verdict::release();
                                            }}});
  ASSERT_TRUE(began.wait());
  const auto summary = worker.stop();
  ASSERT_TRUE(ok(summary));
  EXPECT_EQ(summary->released, 1);
  EXPECT_EQ(show(id).state, JobState::available);
  EXPECT_EQ(under_test().scalar("SELECT count(*) FROM " + under_test().table("lease") + " WHERE ended_at IS NULL"),
            "0");
}

TEST_P(WorkerTest, ASerialQueueRunsOneAtATime) {
  ASSERT_TRUE(ok(store().queues().set("merge", {.max_running = 1})));
  enqueue_many("merge", 30);
  std::atomic<int> running{0};
  std::atomic<int> max{0};
  const auto summary = work_off({.concurrency = 4, .prefetch = 10}, "merge", [&](const Job&, JobContext&) {
    max = std::max(max.load(), ++running);
    std::this_thread::yield();
    --running;
    return Verdict::complete();
  });
  EXPECT_EQ(summary.completed, 30);
  EXPECT_EQ(max, 1);
}

TEST_P(WorkerTest, TwoWorkersShareTheWork) {
  const auto ids = enqueue_many("mail", 300);
  std::mutex mutex;
  std::multiset<JobId> handled;
  const Handler handler = [&](const Job& job, JobContext&) {
    const std::lock_guard lock(mutex);
    handled.insert(job.id);
    return Verdict::complete();
  };
  auto other_store = open();
  Working one(store(), {.concurrency = 2}, {{"mail", handler}});
  Working other(other_store, {.concurrency = 2}, {{"mail", handler}});
  ASSERT_TRUE(eventually([&] {
    const std::lock_guard lock(mutex);
    return handled.size() >= ids.size();
  }));
  const auto first = one.stop();
  const auto second = other.stop();
  ASSERT_TRUE(ok(first));
  ASSERT_TRUE(ok(second));
  EXPECT_EQ(first->completed + second->completed, 300);
  EXPECT_EQ(handled, std::multiset<JobId>(ids.begin(), ids.end()));
}

TEST_P(WorkerTest, Promise10_AnOutageIsWaitedFor) {
  auto faults = std::make_shared<FaultBackend>(under_test().open_backend());
  const auto fragile = store_over(faults, {.call_timeout = 500ms});
  Gate began;
  Gate end;
  std::atomic<int> troubles{0};
  Working worker(fragile, {.concurrency = 2, .on_trouble = [&](const Error&) { ++troubles; }},
                 {{"mail", [&](const Job&, JobContext& context) {
                     began.open();
                     return end.wait() && !context.stop_requested() ? Verdict::complete() : Verdict::fail("stopped");
                   }}});
  const auto id = enqueue("mail");
  ASSERT_TRUE(began.wait());
  faults->fail_always(Fault::fail_before_send);
  end.open();
  ASSERT_TRUE(eventually([&] { return troubles > 2; }));
  faults->heal();
  EXPECT_TRUE(becomes(id, JobState::completed));
  EXPECT_TRUE(becomes(enqueue("mail"), JobState::completed));
  const auto summary = worker.stop();
  ASSERT_TRUE(ok(summary));
  EXPECT_EQ(summary->completed, 2);
  EXPECT_EQ(summary->lost, 0);
}

TEST_P(WorkerTest, Promise13_JobsOfAClaimWhoseAnswerWasLostComeBack) {
  auto faults = std::make_shared<FaultBackend>(under_test().open_backend());
  const auto fragile = store_over(faults, {.call_timeout = 500ms});
  const auto ids = enqueue_many("mail", 3);
  faults->fail_next(Fault::lose_reply, 1, "job_claim");
  Working worker(fragile, {.concurrency = 4}, {{"mail", complete}});
  for (const auto id : ids) EXPECT_TRUE(becomes(id, JobState::completed));
  EXPECT_EQ(faults->failures(), 1);
  for (const auto id : ids) EXPECT_EQ(show(id).crashes + show(id).failures, 0);
}

TEST_P(WorkerTest, WrongOptionsAreRefusedAtOnce) {
  EXPECT_TRUE(fails(Worker(store()).run(), Errc::invalid_argument)) << "no handler";
  EXPECT_TRUE(fails(Worker(store(), {.concurrency = 0}).handle("mail", complete).run(), Errc::invalid_argument));
  EXPECT_TRUE(fails(Worker(store(), {.prefetch = 1001}).handle("mail", complete).run(), Errc::invalid_argument));
  EXPECT_TRUE(fails(Worker(store(), {.ttl = 1ms}).handle("mail", complete).run(), Errc::invalid_argument));
  EXPECT_TRUE(fails(Worker(store(), {.grace = -1s}).handle("mail", complete).run(), Errc::invalid_argument));
  EXPECT_TRUE(fails(Worker(store()).handle("", complete).run(), Errc::invalid_argument));
  EXPECT_TRUE(fails(Worker(store()).handle("mail", nullptr).run(), Errc::invalid_argument));
}

}  // namespace
}  // namespace leasehold::support
