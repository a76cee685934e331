// Batches: how their jobs are counted, and when the job runs that waits for their end.
#include <gtest/gtest.h>

#include "support/job_helpers.h"
#include "support/store_fixture.h"

namespace leasehold::support {
namespace {

class JobsOfBatchTest : public StoreTest {
 protected:
  JobId member(const std::string& batch = "import", NewJob job = {}, const std::string& queue = "q") {
    job.batch = batch;
    return add(jobs(), queue, job);
  }
  JobId end_job(const std::string& batch = "import") { return add(jobs(), "end", {.on_batch_end = batch}); }
  void complete_next(const std::string& queue = "q") {
    const auto job = claim_one(jobs(), queue, "alice");
    ASSERT_TRUE(ok(jobs().complete(job.id, job.token)));
  }
  void fail_next(const std::string& queue = "q") {
    const auto job = claim_one(jobs(), queue, "alice");
    ASSERT_TRUE(ok(jobs().settle({job.id, job.token, Verdict::fail_finally("no")})));
  }
  /// "total unfinished/completed/failed/cancelled/lapsed".
  std::string counts(const std::string& batch = "import") {
    const auto info = must(jobs().batch(batch));
    return std::to_string(info.total) + " " + std::to_string(info.unfinished) + "/" + std::to_string(info.completed) +
           "/" + std::to_string(info.failed) + "/" + std::to_string(info.cancelled) + "/" +
           std::to_string(info.lapsed) + (info.ended_at ? " ended" : "");
  }
  std::vector<JobId> listed(const JobFilter& filter) {
    std::vector<JobId> ids;
    for (const auto& job : must(jobs().list(filter))) ids.push_back(job.id);
    return ids;
  }
  /// The events of a batch, each with its detail.
  std::string story(const std::string& batch = "import") {
    std::string all;
    for (const auto& event : must(store().events({.key = batch}))) all += event.what + " " + event.detail + ";";
    return all;
  }
};
LEASEHOLD_ON_BOTH_STORES(JobsOfBatchTest);

TEST_P(JobsOfBatchTest, TheEndJobRunsWhenAllHaveEnded) {
  member();
  member();
  const auto last = end_job();
  EXPECT_EQ(state_of(jobs(), last), JobState::blocked);
  EXPECT_EQ(must(jobs().show(last)).on_batch_end, "import");
  EXPECT_EQ(must(jobs().batch("import")).end_job, last);
  complete_next();
  EXPECT_EQ(counts(), "2 1/1/0/0/0");
  EXPECT_EQ(jobs().claim("end", claiming(), by("bob")).error().code, Errc::empty);
  complete_next();
  EXPECT_EQ(counts(), "2 0/2/0/0/0 ended");
  EXPECT_EQ(claim_one(jobs(), "end", "bob").id, last);
}

TEST_P(JobsOfBatchTest, EveryEndOfAJobCounts) {
  const auto failed = member();
  fail_next();
  const auto cancelled = member();
  must(jobs().cancel(cancelled));
  const auto crashed = member("import", {.max_crashes = 1});
  claim_one(jobs(), "q", "alice", 30s);
  advance(31s);
  must(store().recover());
  const auto stopped = member();
  const auto held = claim_one(jobs(), "q", "alice");
  must(jobs().cancel(stopped));
  must(jobs().release(held.id, held.token));
  const auto removed = member();
  ASSERT_TRUE(ok(jobs().remove(removed)));
  member();
  EXPECT_EQ(must(queues().purge("q")), 1);
  const auto stillborn = member("import", {.depends_on = {failed}});
  EXPECT_EQ(state_of(jobs(), stillborn), JobState::cancelled);
  EXPECT_EQ(state_of(jobs(), crashed), JobState::failed);
  EXPECT_EQ(counts(), "7 0/0/2/5/0 ended");
  EXPECT_EQ(claim_one(jobs(), "end", "bob").id, end_job());
}

TEST_P(JobsOfBatchTest, AFailureThatIsRetriedIsNotTheEnd) {
  member();
  const auto last = end_job();
  auto job = claim_one(jobs(), "q", "alice");
  must(jobs().settle({job.id, job.token, Verdict::retry_in(0s)}));
  EXPECT_EQ(counts(), "1 1/0/0/0/0");
  EXPECT_EQ(state_of(jobs(), last), JobState::blocked);
  job = claim_one(jobs(), "q", "alice");
  must(jobs().snooze(job.id, job.token, 1s));
  EXPECT_EQ(counts(), "1 1/0/0/0/0");
}

TEST_P(JobsOfBatchTest, ManyVerdictsInOneCallCountOnce) {
  std::vector<NewJob> many(300, NewJob{.batch = "import"});
  many[7].batch = "other";
  must(jobs().enqueue("q", many));
  EXPECT_EQ(counts(), "299 299/0/0/0/0");
  EXPECT_EQ(counts("other"), "1 1/0/0/0/0");
  const auto last = end_job();
  auto grant = must(jobs().claim("q", {.max = 200}, by("alice")));
  auto more = must(jobs().claim("q", {.max = 200}, by("alice")));
  std::vector<Settlement> all;
  for (const auto& job : grant.jobs) all.push_back({job.id, job.token, Verdict::complete()});
  for (const auto& job : more.jobs) all.push_back({job.id, job.token, Verdict::complete("7")});
  for (const auto& settled : must(jobs().settle(all))) EXPECT_TRUE(ok(settled));
  EXPECT_EQ(counts(), "299 0/299/0/0/0 ended");
  EXPECT_EQ(counts("other"), "1 0/1/0/0/0 ended");
  EXPECT_EQ(state_of(jobs(), last), JobState::available);
}

TEST_P(JobsOfBatchTest, ARepeatedVerdictCountsOnce) {
  member();
  member();
  const auto job = claim_one(jobs(), "q", "alice");
  must(jobs().complete(job.id, job.token));
  EXPECT_TRUE(must(jobs().complete(job.id, job.token)).replayed);
  EXPECT_EQ(counts(), "2 1/1/0/0/0");
}

TEST_P(JobsOfBatchTest, AnEndJobWaitsForTheFirstJobOfAnUnknownBatch) {
  const auto last = end_job();
  EXPECT_EQ(state_of(jobs(), last), JobState::blocked);
  EXPECT_EQ(counts(), "0 0/0/0/0/0");
  member();
  complete_next();
  EXPECT_EQ(state_of(jobs(), last), JobState::available);
}

TEST_P(JobsOfBatchTest, AnEndJobOfABatchThatHasEndedRunsAtOnce) {
  member();
  complete_next();
  EXPECT_EQ(state_of(jobs(), end_job()), JobState::available);
}

TEST_P(JobsOfBatchTest, OneTransactionMayEnqueueTheEndJobFirstOrLast) {
  const NewJob one{.batch = "first"};
  const NewJob other{.batch = "last"};
  const auto first = must(jobs().enqueue("q", std::vector<NewJob>{{.on_batch_end = "first"}, one, one})).front().id;
  const auto last = must(jobs().enqueue("q", std::vector<NewJob>{other, other, {.on_batch_end = "last"}})).back().id;
  complete_next();
  EXPECT_EQ(state_of(jobs(), first), JobState::blocked);
  complete_next();
  EXPECT_EQ(claim_one(jobs(), "q", "bob").id, first);
  complete_next();
  EXPECT_EQ(state_of(jobs(), last), JobState::blocked);
  complete_next();
  EXPECT_EQ(claim_one(jobs(), "q", "bob").id, last);
}

TEST_P(JobsOfBatchTest, AJobAddedAfterTheEndReopensTheBatchButTheEndJobRunsOnce) {
  member();
  const auto last = end_job();
  complete_next();
  member();
  EXPECT_EQ(counts(), "2 1/1/0/0/0");
  EXPECT_EQ(state_of(jobs(), last), JobState::available) << "it was set free, and stays free";
  complete_next("end");
  complete_next();
  EXPECT_EQ(counts(), "2 0/2/0/0/0 ended");
  EXPECT_EQ(state_of(jobs(), last), JobState::completed);
  EXPECT_EQ(jobs().claim("end", claiming(), by("bob")).error().code, Errc::empty);
}

TEST_P(JobsOfBatchTest, ARetriedJobCountsAgain) {
  const auto failed = member();
  const auto last = end_job();
  member();
  fail_next();
  EXPECT_EQ(counts(), "2 1/0/1/0/0");
  EXPECT_EQ(must(jobs().retry(failed)), JobState::available);
  EXPECT_EQ(counts(), "2 2/0/0/0/0");
  complete_next();
  EXPECT_EQ(state_of(jobs(), last), JobState::blocked);
  fail_next();
  EXPECT_EQ(counts(), "2 0/1/1/0/0 ended");
  EXPECT_EQ(must(jobs().redrive("q")), 1);
  EXPECT_EQ(counts(), "2 1/1/0/0/0");
}

TEST_P(JobsOfBatchTest, ACancelledEndJobThatIsRetriedStillWaits) {
  member();
  const auto last = end_job();
  must(jobs().cancel(last));
  EXPECT_EQ(must(jobs().retry(last)), JobState::blocked);
  complete_next();
  EXPECT_EQ(state_of(jobs(), last), JobState::available);
}

TEST_P(JobsOfBatchTest, ABatchHasOneEndJobAtATime) {
  member();
  const auto last = end_job();
  const auto refused = jobs().enqueue("end", {.on_batch_end = "import"});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Errc::invalid_argument);
  EXPECT_NE(refused.error().message.find("job " + std::to_string(last)), std::string::npos) << refused.error().message;
  complete_next();
  complete_next("end");
  member();
  const auto next = end_job();
  EXPECT_EQ(must(jobs().batch("import")).end_job, next);
  complete_next();
  EXPECT_EQ(state_of(jobs(), next), JobState::available);
}

TEST_P(JobsOfBatchTest, AJobCannotWaitForItsOwnBatch) {
  const auto refused = jobs().enqueue("q", {.batch = "import", .on_batch_end = "import"});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Errc::invalid_argument);
}

TEST_P(JobsOfBatchTest, AnEndJobMayDependOnOthersToo) {
  const auto first = add(jobs(), "other");
  member();
  const auto last = add(jobs(), "end", {.depends_on = {first}, .on_batch_end = "import"});
  complete_next();
  EXPECT_EQ(must(jobs().show(last)).waits_for, std::vector<JobId>{first});
  complete_next("other");
  EXPECT_EQ(state_of(jobs(), last), JobState::available);
}

TEST_P(JobsOfBatchTest, JobsOfABatchMayDependOnEachOther) {
  const auto first = member();
  const auto second = member("import", {.depends_on = {first}}, "later");
  const auto last = end_job();
  fail_next();
  EXPECT_EQ(state_of(jobs(), second), JobState::cancelled);
  EXPECT_EQ(counts(), "2 0/0/1/1/0 ended");
  EXPECT_EQ(state_of(jobs(), last), JobState::available);
}

TEST_P(JobsOfBatchTest, EndJobsOfBatchesMayBeInABatch) {
  member("inner");
  const auto inner_end = add(jobs(), "end", {.batch = "outer", .on_batch_end = "inner"});
  const auto outer_end = add(jobs(), "last", {.on_batch_end = "outer"});
  complete_next();
  EXPECT_EQ(state_of(jobs(), inner_end), JobState::available);
  EXPECT_EQ(state_of(jobs(), outer_end), JobState::blocked);
  complete_next("end");
  EXPECT_EQ(state_of(jobs(), outer_end), JobState::available);
}

TEST_P(JobsOfBatchTest, ADelayedEndJobWaitsForBoth) {
  member();
  const auto last = add(jobs(), "end", {.delay = 1min, .on_batch_end = "import"});
  complete_next();
  EXPECT_EQ(state_of(jobs(), last), JobState::deferred);
  advance(61s);
  EXPECT_EQ(claim_one(jobs(), "end", "bob").id, last);
}

TEST_P(JobsOfBatchTest, ADuplicateIsNotAMember) {
  member("import", {.dedupe_key = "k"});
  EXPECT_FALSE(must(jobs().enqueue("q", {.dedupe_key = "k", .batch = "import"})).created);
  EXPECT_EQ(counts(), "1 1/0/0/0/0");
}

TEST_P(JobsOfBatchTest, Promise12_TheEndIsAnEvent) {
  member();
  member();
  member();
  complete_next();
  fail_next();
  EXPECT_EQ(story(), "");
  complete_next();
  EXPECT_EQ(story(), "ended 3 jobs: 2 completed, 1 failed;");
}

TEST_P(JobsOfBatchTest, ListsTheJobsOfABatch) {
  const auto first = member();
  add(jobs(), "q");
  const auto second = member("import", {}, "elsewhere");
  EXPECT_EQ(listed({.batch = "import"}), (std::vector<JobId>{second, first}));
  EXPECT_EQ(listed({.queue = "q", .batch = "import"}), std::vector<JobId>{first});
  must(jobs().cancel(first));
  EXPECT_EQ(listed({.state = JobState::cancelled, .batch = "import"}), std::vector<JobId>{first});
}

TEST_P(JobsOfBatchTest, PruneRemovesABatchWithItsLastJob) {
  member();
  const auto failed = member();
  complete_next();
  fail_next();
  const auto waiting = end_job("never filled");
  advance(24h);
  must(store().prune(1h));
  EXPECT_EQ(jobs().batch("import").error().code, Errc::not_found);
  EXPECT_EQ(jobs().show(failed).error().code, Errc::not_found);
  EXPECT_EQ(state_of(jobs(), waiting), JobState::blocked) << "its batch stays while a job waits for it";
  EXPECT_EQ(counts("never filled"), "0 0/0/0/0/0");
}

TEST_P(JobsOfBatchTest, ABatchWithADeadLetterStaysSoThatItCanBeRetried) {
  const auto failed = member();
  fail_next();
  must(store().set_retention({.keep_jobs = 1h, .keep_failed = Duration(0), .keep_history = 1h}));
  advance(24h);
  EXPECT_EQ(must(store().prune_preview(1h)).batches, 0);
  EXPECT_EQ(counts(), "1 0/0/1/0/0 ended");
  must(jobs().retry(failed));
  EXPECT_EQ(counts(), "1 1/0/0/0/0");
}

TEST_P(JobsOfBatchTest, ALapsedJobCountsUntilItsRetry) {
  const auto late = member("import", {.expires_in = 1min});
  const auto last = end_job();
  advance(1min);
  EXPECT_EQ(jobs().claim("q", claiming(), by("alice")).error().code, Errc::empty);
  EXPECT_EQ(counts(), "1 0/0/0/0/1 ended");
  EXPECT_EQ(story(), "ended 1 job: 1 lapsed;");
  EXPECT_EQ(state_of(jobs(), last), JobState::available);
  EXPECT_EQ(must(jobs().retry(late)), JobState::available);
  EXPECT_EQ(counts(), "1 1/0/0/0/0");
  complete_next();
  EXPECT_EQ(counts(), "1 0/1/0/0/0 ended");
}

TEST_P(JobsOfBatchTest, JobsThatAreTooLateFromTheStartCount) {
  member("import", {.expires_at = now()});
  EXPECT_EQ(counts(), "1 0/0/0/0/1 ended");
  must(jobs().enqueue("q", std::vector<NewJob>(300, {.expires_at = now(), .batch = "import"})));
  EXPECT_EQ(counts(), "301 0/0/0/0/301 ended");
}

}  // namespace
}  // namespace leasehold::support
