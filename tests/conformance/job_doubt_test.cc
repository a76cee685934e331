// Jobs over a network that breaks: nothing is lost, nothing happens twice. Promises 10 and 13.
#include <gtest/gtest.h>

#include "store/open_store.h"
#include "support/fault_backend.h"
#include "support/job_helpers.h"
#include "support/store_fixture.h"

namespace leasehold::support {
namespace {

class JobDoubtTest : public StoreTest {
 protected:
  void SetUp() override {
    StoreTest::SetUp();
    faults_ = std::make_shared<FaultBackend>(under_test().open_backend());
    broken_ = store_over(faults_, {.call_timeout = 300ms});
  }
  void TearDown() override {
    broken_.reset();
    faults_.reset();
  }
  Jobs broken_jobs() { return broken_->jobs(); }

  std::shared_ptr<FaultBackend> faults_;
  std::optional<Store> broken_;
};
LEASEHOLD_ON_BOTH_STORES(JobDoubtTest);

TEST_P(JobDoubtTest, Promise13_AClaimWhoseReplyWasLostTakesNoSecondJob) {
  add_many(jobs(), "q", 2);
  faults_->fail_next(Fault::lose_reply, 1, "job_claim");
  const auto grant = broken_jobs().claim("q", claim_as("alice"));
  ASSERT_TRUE(ok(grant));
  EXPECT_EQ(faults_->failures(), 1);
  EXPECT_TRUE(grant->replayed);
  EXPECT_EQ(must(queues().show("q")).available, 1);
  EXPECT_EQ(must(queues().show("q")).running, 1);
}

TEST_P(JobDoubtTest, Promise13_ACompletionWhoseReplyWasLostCountsOnce) {
  add(jobs(), "q");
  const auto job = claim_one(jobs(), "q", "alice");
  faults_->fail_next(Fault::lose_reply, 1, "job_settle");
  const auto settled = broken_jobs().complete(job.id, job.token);
  ASSERT_TRUE(ok(settled));
  EXPECT_EQ(settled->state, JobState::completed);
  EXPECT_EQ(outcomes_of(jobs(), job.id), std::vector<std::string>{"completed"});
}

TEST_P(JobDoubtTest, Promise13_AFailureWhoseReplyWasLostIsChargedOnce) {
  const auto id = add(jobs(), "q");
  const auto job = claim_one(jobs(), "q", "alice");
  faults_->fail_next(Fault::lose_reply, 1, "job_settle");
  ASSERT_TRUE(ok(broken_jobs().fail(id, job.token, {.error = "oops"})));
  EXPECT_EQ(must(jobs().show(id)).failures, 1);
}

TEST_P(JobDoubtTest, ManyCompletionsWhoseReplyWasLost) {
  add_many(jobs(), "q", 5);
  const auto grant = claim(jobs(), "q", claim_as("alice", 5));
  std::vector<JobVerdict> verdicts;
  for (const auto& job : grant.jobs) verdicts.push_back({.id = job.id, .token = job.token});
  faults_->fail_next(Fault::lose_reply, 1, "job_settle_many");
  for (const auto& answer : must(broken_jobs().complete(verdicts))) EXPECT_TRUE(ok(answer));
  EXPECT_EQ(must(jobs().list({.state = JobState::completed})).size(), 5U);
}

TEST_P(JobDoubtTest, Promise10_AnUnreachableQueueIsNeverEmpty) {
  const auto before = dump();
  faults_->fail_always(Fault::fail_before_send);
  EXPECT_TRUE(fails(broken_jobs().claim("q", claim_as("alice")), Errc::unavailable));
  EXPECT_TRUE(fails(broken_jobs().enqueue("q", NewJob{}), Errc::unavailable));
  EXPECT_TRUE(fails(broken_jobs().list(), Errc::unavailable));
  EXPECT_TRUE(fails(broken_jobs().show(1), Errc::unavailable));
  EXPECT_TRUE(fails(broken_->queues().list(), Errc::unavailable));
  EXPECT_TRUE(fails(broken_->recover(), Errc::unavailable));
  EXPECT_EQ(dump(), before);
}

TEST_P(JobDoubtTest, AnEnqueueInDoubtIsSaidToBeInDoubtAndADedupeKeyMakesItSafe) {
  faults_->fail_next(Fault::lose_reply, 1, "job_enqueue");
  const NewJob job{.payload = "x", .dedupe_key = "order-17"};
  EXPECT_TRUE(fails(broken_jobs().enqueue("q", job), Errc::in_doubt));
  EXPECT_FALSE(must(broken_jobs().enqueue("q", job)).created);
  EXPECT_EQ(must(queues().show("q")).available, 1);
}

}  // namespace
}  // namespace leasehold::support
