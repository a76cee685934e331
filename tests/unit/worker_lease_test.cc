// Promise 9 for workers: handlers know when to stop, and the work goes on with the next lease.
#include <gtest/gtest.h>

#include "support/fake_work_source.h"
#include "support/running_worker.h"

namespace leasehold::support {
namespace {

using namespace std::chrono_literals;

/// Stops only when told to, and remembers why.
class Patient {
 public:
  Verdict operator()(const Job& job, JobContext& context) {
    const auto why = wait_for_stop(context);
    const std::lock_guard lock(mutex_);
    reasons_[job.id] = why;
    return Verdict::complete();
  }
  std::map<JobId, StopReason> reasons() {
    const std::lock_guard lock(mutex_);
    return reasons_;
  }

 private:
  std::mutex mutex_;
  std::map<JobId, StopReason> reasons_;
};

TEST(WorkerLeaseTest, OneLeaseIsExtendedForAllJobs) {
  FakeWorkSource source(300ms);
  source.add("mail", 4);
  Gate end;
  RunningWorker worker(source,
                       {{"mail",
                         [&](const Job&, JobContext& context) {
                           return end.wait() && !context.stop_requested() ? Verdict::complete()
                                                                          : Verdict::fail("stopped");
                         }}},
                       {.concurrency = 4, .ttl = 300ms, .until = WorkUntil::empty});
  ASSERT_TRUE(source.await([](const auto& seen) { return seen.beats >= 6; })) << "twice the ttl";
  end.open();
  const auto summary = worker.finish();
  ASSERT_TRUE(ok(summary));
  EXPECT_EQ(summary->completed, 4);
  EXPECT_EQ(source.seen().opened.size(), 1U);
  EXPECT_TRUE(source.seen().heartbeats.empty());
}

TEST(WorkerLeaseTest, CancellingReachesTheHandler) {
  FakeWorkSource source(300ms);
  const auto ids = source.add("mail", 1);
  Patient patient;
  RunningWorker worker(source, {{"mail", std::ref(patient)}}, {.ttl = 300ms, .until = WorkUntil::empty});
  ASSERT_TRUE(source.await([](const auto& seen) { return seen.beats > 0; }));
  source.cancel(ids[0]);
  const auto summary = worker.finish();
  ASSERT_TRUE(ok(summary));
  EXPECT_EQ(patient.reasons().at(ids[0]), StopReason::cancelled);
  EXPECT_EQ(summary->cancelled, 1);
}

TEST(WorkerLeaseTest, ALostLeaseStopsItsJobsAndTheWorkGoesOnWithAnother) {
  FakeWorkSource source(300ms);
  const auto ids = source.add("mail", 2);
  Patient patient;
  std::atomic<int> handled{0};
  RunningWorker worker(source,
                       {{"mail",
                         [&](const Job& job, JobContext& context) {
                           ++handled;
                           return job.id <= ids[1] ? patient(job, context) : Verdict::complete();
                         }}},
                       {.concurrency = 2, .ttl = 300ms});
  ASSERT_TRUE(source.await([&](const auto&) { return handled == 2; }));
  source.lose_lease(source.seen().opened.at(0));
  const auto later = source.add("mail", 1);
  ASSERT_TRUE(source.await([&](const auto& seen) { return seen.completed == later; }));
  const auto summary = worker.summary();
  EXPECT_EQ(patient.reasons(), (std::map<JobId, StopReason>{{ids[0], StopReason::lost}, {ids[1], StopReason::lost}}));
  EXPECT_EQ(summary.lost, 2) << "their verdicts are not even sent";
  EXPECT_EQ(summary.completed, 1);
  EXPECT_EQ(source.seen().opened.size(), 2U);
}

TEST(WorkerLeaseTest, WithoutTheStoreJobsGoOnUntilTheLeaseCannotBeTrusted) {
  FakeWorkSource source(300ms);
  const auto ids = source.add("mail", 1);
  Gate began;
  Gate stopped;
  RunningWorker worker(source,
                       {{"mail",
                         [&](const Job& job, JobContext& context) {
                           if (job.id != ids[0]) return Verdict::complete();
                           began.open();
                           EXPECT_EQ(wait_for_stop(context), StopReason::lost);
                           EXPECT_GE(BootClock::now(), context.trusted_until()) << "not earlier";
                           EXPECT_LT(BootClock::now(), context.trusted_until() + 5s);
                           stopped.open();
                           return Verdict::complete();
                         }}},
                       {.ttl = 300ms});
  ASSERT_TRUE(began.wait());
  source.fail_all_with(away);
  ASSERT_TRUE(stopped.wait());
  EXPECT_GE(source.seen().beats, 2) << "it kept asking";
  source.fail_all_with(std::nullopt);
  const auto later = source.add("mail", 1);
  ASSERT_TRUE(source.await([&](const auto& seen) { return seen.completed == later; }));
  EXPECT_EQ(worker.summary().lost, 1);
}

TEST(WorkerLeaseTest, AJobThatMustBeAloneHasALeaseOfItsOwn) {
  FakeWorkSource source(300ms);
  const auto alone = source.add("mail", 1, true);
  const auto others = source.add("mail", 1);
  Patient patient;
  Gate end;
  RunningWorker worker(source,
                       {{"mail",
                         [&](const Job& job, JobContext& context) {
                           if (job.id == alone[0]) return patient(job, context);
                           return end.wait() && !context.stop_requested() ? Verdict::complete()
                                                                          : Verdict::fail("stopped");
                         }}},
                       {.concurrency = 2, .ttl = 300ms, .until = WorkUntil::empty});
  ASSERT_TRUE(source.await([&](const auto& seen) {
    return seen.heartbeats.contains(alone[0]) && seen.heartbeats.at(alone[0]) > 2 && seen.beats > 2;
  }));
  source.lose_job(alone[0]);
  ASSERT_TRUE(source.await([&](const auto&) { return !patient.reasons().empty(); }));
  end.open();
  const auto summary = worker.finish();
  ASSERT_TRUE(ok(summary));
  EXPECT_EQ(patient.reasons().at(alone[0]), StopReason::lost);
  EXPECT_EQ(source.seen().completed, others) << "what runs under the worker's own lease is left alone";
  EXPECT_FALSE(source.seen().heartbeats.contains(others[0]));
}

TEST(WorkerLeaseTest, AfterAClaimInDoubtTheLeaseIsClosedOnceItsJobsAreDone) {
  FakeWorkSource source(10s);
  const auto known = source.add("mail", 1);
  Gate end;
  RunningWorker worker(source,
                       {{"mail",
                         [&](const Job& job, JobContext&) {
                           return job.id != known[0] || end.wait() ? Verdict::complete() : Verdict::release();
                         }}},
                       {.concurrency = 2});
  ASSERT_TRUE(source.await([](const auto& seen) { return seen.waits > 0; }));
  source.lose_next_claim();
  const auto unknown = source.add("mail", 1);
  ASSERT_TRUE(source.await([](const auto& seen) { return seen.opened.size() == 2; }));
  const auto later = source.add("mail", 1);
  ASSERT_TRUE(source.await([&](const auto& seen) { return seen.completed == later; }));
  EXPECT_TRUE(source.seen().closed.empty()) << "somebody works under it";
  end.open();
  ASSERT_TRUE(source.await([](const auto& seen) { return !seen.closed.empty(); }));
  EXPECT_EQ(source.seen().closed.front(), source.seen().opened.front());
  static_cast<void>(worker.summary());
  const auto completed = source.seen().completed;
  EXPECT_EQ(std::count(completed.begin(), completed.end(), unknown[0]), 0);
}

TEST(WorkerLeaseTest, AVerdictIsRepeatedWhileTheStoreIsAway) {
  FakeWorkSource source(10s);
  source.fail_completes_with(away, 2);
  source.add("mail", 1);
  RunningWorker worker(source, {{"mail", [](const Job&, JobContext&) { return Verdict::complete(); }}},
                       {.until = WorkUntil::empty});
  const auto summary = worker.finish();
  ASSERT_TRUE(ok(summary));
  EXPECT_EQ(summary->completed, 1);
  EXPECT_EQ(source.seen().complete_calls, 3);
}

}  // namespace
}  // namespace leasehold::support
