// Promise 9 for workers: handlers know when to stop, and the work goes on with the next lease.
#include <gtest/gtest.h>

#include <atomic>
#include <map>
#include <mutex>

#include "support/running_worker.h"
#include "support/runtime_fixture.h"

namespace leasehold::support {
namespace {

/// Stops only on request, and remembers why.
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

class WorkerLeaseTest : public RuntimeTest {
 protected:
  int beats() { return faults().calls("lease_extend"); }
};

TEST_F(WorkerLeaseTest, OneLeaseIsExtendedForAllJobs) {
  add("mail", 4);
  Gate end;
  RunningWorker worker(fragile(),
                       {{"mail",
                         [&](const Job&, JobContext& context) {
                           return end.wait() && !context.stop_requested() ? Verdict::complete()
                                                                          : Verdict::fail("stopped");
                         }}},
                       {.concurrency = 4, .ttl = 600ms, .until = WorkUntil::empty});
  ASSERT_TRUE(eventually([&] { return beats() >= 6; })) << "twice the ttl";
  end.open();
  const auto summary = worker.finish();
  ASSERT_TRUE(ok(summary));
  EXPECT_EQ(summary->completed, 4);
  EXPECT_EQ(leases("worker").size(), 1U);
  EXPECT_EQ(faults().calls("job_heartbeat"), 0);
}

TEST_F(WorkerLeaseTest, CancellingReachesTheHandler) {
  const auto ids = add("mail", 1);
  Patient patient;
  // Without an early event, the heartbeat reports it.
  faults().fail_next(Fault::fail_before_send, 1'000'000, "lease_news");
  RunningWorker worker(fragile(),
                       {{"mail",
                         [&](const Job& job, JobContext& context) {
                           patient(job, context);
                           return Verdict::release();
                         }}},
                       {.ttl = 600ms, .until = WorkUntil::empty});
  ASSERT_TRUE(eventually([&] { return beats() > 0; }));
  ASSERT_TRUE(ok(store().jobs().cancel(ids[0])));
  const auto summary = worker.finish();
  ASSERT_TRUE(ok(summary));
  EXPECT_EQ(patient.reasons().at(ids[0]), StopReason::cancelled);
  EXPECT_EQ(summary->cancelled, 1);
}

TEST_F(WorkerLeaseTest, ALostLeaseStopsItsJobsAndTheWorkGoesOnWithAnother) {
  const auto ids = add("mail", 2);
  Patient patient;
  std::atomic<int> handled{0};
  std::atomic<int> not_sent{0};
  RunningWorker worker(fragile(),
                       {{"mail",
                         [&](const Job& job, JobContext& context) {
                           return ++handled <= 2 ? patient(job, context) : Verdict::complete("again");
                         }}},
                       {.concurrency = 2, .ttl = 600ms, .on_trouble = [&](const Error& error) {
                          if (error.message.ends_with("the lease was lost before the verdict was written")) ++not_sent;
                        }});
  ASSERT_TRUE(eventually([&] { return handled == 2; }));
  advance(1h);
  const auto later = add("mail", 1);
  ASSERT_TRUE(settles("completed", 3));
  const auto summary = worker.summary();
  EXPECT_EQ(patient.reasons(), (std::map<JobId, StopReason>{{ids[0], StopReason::lost}, {ids[1], StopReason::lost}}));
  EXPECT_EQ(summary.lost, 2);
  EXPECT_EQ(not_sent, 2) << "their verdicts are not even sent";
  EXPECT_EQ(summary.completed, 3) << "they came back, and the one that came later";
  for (const auto id : {ids[0], ids[1], later[0]}) EXPECT_EQ(must(store().jobs().result(id)), "again");
  EXPECT_EQ(leases("worker").size(), 2U);
}

TEST_F(WorkerLeaseTest, WithoutTheStoreJobsGoOnUntilTheLeaseCannotBeTrusted) {
  add("mail", 1);
  Gate began;
  Gate stopped;
  std::atomic<int> handled{0};
  RunningWorker worker(fragile(),
                       {{"mail",
                         [&](const Job&, JobContext& context) {
                           if (++handled > 1) return Verdict::complete();
                           began.open();
                           EXPECT_EQ(wait_for_stop(context), StopReason::lost);
                           EXPECT_GE(BootClock::now(), context.trusted_until()) << "not earlier";
                           EXPECT_LT(BootClock::now(), context.trusted_until() + 5s);
                           stopped.open();
                           return Verdict::complete();
                         }}},
                       {.ttl = 600ms});
  ASSERT_TRUE(began.wait());
  const auto before = beats();
  break_store();
  ASSERT_TRUE(stopped.wait());
  EXPECT_GE(beats(), before + 2) << "it kept trying";
  faults().heal();
  const auto later = add("mail", 1);
  ASSERT_TRUE(eventually([&] { return show(later[0]).state == JobState::completed; }));
  EXPECT_EQ(worker.summary().lost, 1);
}

TEST_F(WorkerLeaseTest, ASoloJobHasALeaseOfItsOwn) {
  const auto solo = add_solo("mail");
  const auto others = add("mail", 1);
  Patient patient;
  Gate end;
  RunningWorker worker(fragile(),
                       {{"mail",
                         [&](const Job& job, JobContext& context) {
                           if (job.id == solo) return patient(job, context);
                           return end.wait() && !context.stop_requested() ? Verdict::complete()
                                                                          : Verdict::fail("stopped");
                         }}},
                       {.concurrency = 2, .ttl = 600ms});
  ASSERT_TRUE(eventually([&] { return faults().calls("job_heartbeat") > 2 && beats() > 2; }));
  faults().refuse_next({.code = Errc::lost, .message = "gone", .lost_reason = LostReason::expired}, 1, "job_heartbeat");
  ASSERT_TRUE(eventually([&] { return !patient.reasons().empty(); }));
  EXPECT_EQ(patient.reasons().at(solo), StopReason::lost);
  const auto heartbeats = faults().calls("job_heartbeat");
  const auto before = beats();
  ASSERT_TRUE(eventually([&] { return beats() > before + 1; }));
  EXPECT_EQ(faults().calls("job_heartbeat"), heartbeats)
      << "the worker asks neither for a lost lease nor for the other job";
  end.open();
  ASSERT_TRUE(eventually([&] { return show(others[0]).state == JobState::completed; }))
      << "jobs under the worker's own lease go on";
  EXPECT_EQ(worker.summary().lost, 1);
}

TEST_F(WorkerLeaseTest, AfterAClaimInDoubtTheLeaseIsClosedOnceItsJobsAreDone) {
  const auto known = add("mail", 1);
  Gate end;
  std::atomic<int> handled{0};
  RunningWorker worker(fragile(),
                       {{"mail",
                         [&](const Job& job, JobContext&) {
                           ++handled;
                           return job.id != known[0] || end.wait() ? Verdict::complete() : Verdict::release();
                         }}},
                       {.concurrency = 2});
  ASSERT_TRUE(eventually([&] { return handled == 1 && faults().calls("wait queue:mail") > 0; }));
  // The claim whose answer is lost must be one that finds the job, not a look before it was there.
  const auto looks = faults().calls("job_claim");
  faults().hold("job_claim");
  ASSERT_TRUE(eventually([&] { return faults().calls("job_claim") > looks; }));
  const auto unknown = add("mail", 1);
  leave_in_doubt("job_claim");
  faults().let_go();
  ASSERT_TRUE(eventually([&] { return leases("worker").size() == 2; }));
  const auto later = add("mail", 1);
  ASSERT_TRUE(eventually([&] { return show(later[0]).state == JobState::completed; }));
  EXPECT_TRUE(leases("worker", true).empty()) << "a handler works under it";
  EXPECT_EQ(show(unknown[0]).state, JobState::running) << "the worker does not know that it holds it";
  end.open();
  ASSERT_TRUE(eventually([&] { return !leases("worker", true).empty(); }));
  EXPECT_EQ(leases("worker", true).front(), leases("worker").front());
  ASSERT_TRUE(eventually([&] { return show(unknown[0]).state == JobState::completed; })) << "it came back";
  EXPECT_EQ(show(unknown[0]).failures + show(unknown[0]).crashes, 0);
}

TEST_F(WorkerLeaseTest, AVerdictIsRepeatedWhileTheStoreIsAway) {
  faults().fail_next(Fault::fail_before_send, 2, "job_settle_many");
  add("mail", 1);
  RunningWorker worker(fragile(), {{"mail", [](const Job&, JobContext&) { return Verdict::complete(); }}},
                       {.until = WorkUntil::empty});
  const auto summary = worker.finish();
  ASSERT_TRUE(ok(summary));
  EXPECT_EQ(summary->completed, 1);
  EXPECT_EQ(faults().calls("job_settle_many"), 3);
}

}  // namespace
}  // namespace leasehold::support
