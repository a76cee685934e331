// Jobs over a network that breaks: nothing is lost, nothing happens twice. Promises 10 and 13.
#include <gtest/gtest.h>

#include "support/broken_store.h"
#include "support/job_helpers.h"
#include "support/store_fixture.h"

namespace leasehold::support {
namespace {

class JobDoubtTest : public WithBrokenStore<StoreTest> {
 protected:
  Jobs broken_jobs() { return broken_->jobs(); }
  /// On so many jobs of one claim.
  std::vector<Settlement> claimed_verdicts(int count) {
    add_many(jobs(), "q", count);
    std::vector<Settlement> verdicts;
    for (const auto& job : claim(jobs(), "q", claiming(count), by("alice")).jobs) {
      verdicts.push_back({.id = job.id, .token = job.token});
    }
    return verdicts;
  }
};
LEASEHOLD_ON_BOTH_STORES(JobDoubtTest);

TEST_P(JobDoubtTest, Promise13_AClaimWhoseReplyWasLostTakesNoSecondJob) {
  add_many(jobs(), "q", 2);
  faults_->fail_next(Fault::lose_reply, 1, "job_claim");
  const auto grant = broken_jobs().claim("q", claiming(), by("alice"));
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
  ASSERT_TRUE(ok(broken_jobs().fail(id, job.token, "oops")));
  EXPECT_EQ(must(jobs().show(id)).failures, 1);
}

TEST_P(JobDoubtTest, Promise13_AClaimOfManyWhoseReplyWasLostTakesNoFurtherJobs) {
  add_many(jobs(), "q", 9);
  faults_->fail_next(Fault::lose_reply, 1, "job_claim");
  const auto grant = broken_jobs().claim("q", claiming(5), by("alice"));
  ASSERT_TRUE(ok(grant));
  EXPECT_TRUE(grant->replayed);
  EXPECT_EQ(grant->jobs.size(), 5U);
  EXPECT_EQ(must(queues().show("q")).available, 4);
}

TEST_P(JobDoubtTest, ManyCompletionsAreOneRequest) {
  const auto verdicts = claimed_verdicts(5);
  for (const auto& answer : must(broken_jobs().settle(verdicts))) EXPECT_TRUE(ok(answer));
  EXPECT_EQ(faults_->calls("job_settle_many"), 1);
  EXPECT_EQ(faults_->calls("job_settle"), 0);
}

TEST_P(JobDoubtTest, Promise13_ManyCompletionsWhoseReplyWasLostCountOnce) {
  const auto verdicts = claimed_verdicts(5);
  faults_->fail_next(Fault::lose_reply, 1, "job_settle_many");
  for (const auto& answer : must(broken_jobs().settle(verdicts))) {
    ASSERT_TRUE(ok(answer));
    EXPECT_EQ(answer->state, JobState::completed);
    EXPECT_TRUE(answer->replayed);
  }
  EXPECT_EQ(faults_->failures(), 1);
  EXPECT_EQ(must(jobs().list({.state = JobState::completed})).size(), 5U);
  for (const auto& verdict : verdicts) EXPECT_EQ(outcomes_of(jobs(), verdict.id).size(), 1U);
}

TEST_P(JobDoubtTest, Promise13_ManyReleasesWhoseReplyWasLostCountOnce) {
  const auto verdicts = claimed_verdicts(5);
  faults_->fail_next(Fault::lose_reply, 1, "job_settle_many");
  for (const auto& answer : must(broken_jobs().settle(with_verdict(verdicts, Verdict::release())))) {
    ASSERT_TRUE(ok(answer));
    EXPECT_EQ(answer->state, JobState::available);
  }
  EXPECT_EQ(faults_->failures(), 1);
  EXPECT_EQ(must(queues().show("q")).available, 5);
  for (const auto& verdict : verdicts) EXPECT_EQ(outcomes_of(jobs(), verdict.id).size(), 1U);
}

TEST_P(JobDoubtTest, Promise13_AVerdictOnAJobToCancelWhoseReplyWasLostIsRepeated) {
  const auto verdicts = claimed_verdicts(5);
  ASSERT_TRUE(ok(jobs().cancel(verdicts[2].id)));
  faults_->fail_next(Fault::lose_reply, 1, "job_settle");
  const auto answers = must(broken_jobs().settle(with_verdict(verdicts, Verdict::release())));
  ASSERT_EQ(answers.size(), 5U);
  for (std::size_t i = 0; i < answers.size(); ++i) {
    ASSERT_TRUE(ok(answers[i]));
    EXPECT_EQ(answers[i]->state, i == 2 ? JobState::cancelled : JobState::available);
  }
  EXPECT_EQ(faults_->failures(), 1);
}

TEST_P(JobDoubtTest, SettledVerdictsAreReportedThoughTheOthersAreInDoubt) {
  auto verdicts = claimed_verdicts(5);
  verdicts[3].token.value -= 1;
  faults_->fail_next(Fault::fail_before_send, 1000, "job_settle");
  const auto answers = must(broken_jobs().settle(verdicts));
  ASSERT_EQ(answers.size(), 5U);
  for (std::size_t i = 0; i < answers.size(); ++i) {
    if (i == 3) {
      EXPECT_TRUE(fails(answers[i], Errc::unavailable));
    } else {
      EXPECT_TRUE(ok(answers[i]));
    }
  }
  EXPECT_EQ(must(jobs().list({.state = JobState::completed})).size(), 4U);
}

TEST_P(JobDoubtTest, Promise10_AnUnreachableQueueIsNeverEmpty) {
  const auto before = dump();
  faults_->fail_always(Fault::fail_before_send);
  EXPECT_TRUE(fails(broken_jobs().claim("q", claiming(), by("alice")), Errc::unavailable));
  EXPECT_TRUE(fails(broken_jobs().enqueue("q", NewJob{}), Errc::unavailable));
  EXPECT_TRUE(fails(broken_jobs().list(), Errc::unavailable));
  EXPECT_TRUE(fails(broken_jobs().show(1), Errc::unavailable));
  EXPECT_TRUE(fails(broken_->queues().list(), Errc::unavailable));
  EXPECT_TRUE(fails(broken_->recover(), Errc::unavailable));
  EXPECT_EQ(dump(), before);
}

TEST_P(JobDoubtTest, AnEnqueueInDoubtIsReportedAndADedupeKeyMakesItSafe) {
  faults_->fail_next(Fault::lose_reply, 1, "job_enqueue");
  const NewJob job{.payload = "x", .dedupe_key = "order-17"};
  EXPECT_TRUE(fails(broken_jobs().enqueue("q", job), Errc::in_doubt));
  EXPECT_FALSE(must(broken_jobs().enqueue("q", job)).created);
  EXPECT_EQ(must(queues().show("q")).available, 1);
}

TEST_P(JobDoubtTest, AnEnqueueWithARequestIdIsRepeatedUntilItIsKnown) {
  faults_->fail_next(Fault::lose_reply, 1, "job_enqueue");
  EXPECT_TRUE(must(broken_jobs().enqueue("q", NewJob{.payload = "x", .request_id = "r-1"})).created);
  EXPECT_EQ(must(queues().show("q")).available, 1);
}

}  // namespace
}  // namespace leasehold::support
