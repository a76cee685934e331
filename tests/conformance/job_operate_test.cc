// What operators do: cancel, retry, redrive, delete, purge, prune, and look.
#include <gtest/gtest.h>

#include "support/job_helpers.h"
#include "support/store_fixture.h"

namespace leasehold::support {
namespace {

class JobOperateTest : public StoreTest {
 protected:
  /// A dead letter.
  JobId bury(const std::string& queue) {
    const auto id = add(jobs(), queue);
    const auto job = claim_one(jobs(), queue, "alice");
    must(jobs().settle({id, job.token, Verdict::fail_finally("dead")}));
    return id;
  }
};
LEASEHOLD_ON_BOTH_STORES(JobOperateTest);

TEST_P(JobOperateTest, AWaitingJobIsCancelledAtOnce) {
  const auto ready = add(jobs(), "q");
  const auto later = add(jobs(), "q", {.delay = 1h});
  const auto blocked = add(jobs(), "q", {.depends_on = {ready}});
  for (const auto id : {later, blocked, ready}) {
    EXPECT_EQ(must(jobs().cancel(id, "not wanted")), JobState::cancelled);
    EXPECT_EQ(state_of(jobs(), id), JobState::cancelled);
  }
  advance(2h);
  EXPECT_TRUE(fails(jobs().claim("q", claiming(), by("alice")), Errc::empty));
}

TEST_P(JobOperateTest, TheNextHeartbeatOfARunningJobReportsTheCancel) {
  const auto id = add(jobs(), "q");
  const auto job = claim_one(jobs(), "q", "alice");
  EXPECT_EQ(must(jobs().cancel(id)), JobState::running);
  const auto beat = must(jobs().heartbeat(id, job.token));
  EXPECT_TRUE(beat.cancel_requested);
  EXPECT_EQ(must(jobs().release(id, job.token)).state, JobState::cancelled);
  EXPECT_TRUE(fails(jobs().claim("q", claiming(), by("bob")), Errc::empty));
  EXPECT_EQ(outcomes_of(jobs(), id), std::vector<std::string>{"cancelled"});
}

TEST_P(JobOperateTest, ACancelledJobWhoseHolderDiedDoesNotComeBack) {
  const auto id = add(jobs(), "q");
  const auto late = claim_one(jobs(), "q", "alice", 30s);
  must(jobs().cancel(id));
  advance(31s);
  EXPECT_TRUE(fails(jobs().claim("q", claiming(), by("bob")), Errc::empty));
  EXPECT_EQ(state_of(jobs(), id), JobState::cancelled);
  EXPECT_TRUE(lost(jobs().fail(id, late.token), LostReason::expired));
  EXPECT_TRUE(lost(jobs().release(id, late.token), LostReason::expired));
}

TEST_P(JobOperateTest, ACancelledJobThatCompletesAnywayIsCompleted) {
  const auto id = add(jobs(), "q");
  const auto job = claim_one(jobs(), "q", "alice");
  must(jobs().cancel(id));
  EXPECT_EQ(must(jobs().complete(id, job.token)).state, JobState::completed);
}

TEST_P(JobOperateTest, ARetriedDeadLetterHasFreshBudgets) {
  const auto id = add(jobs(), "q", {.max_failures = 1});
  auto job = claim_one(jobs(), "q", "alice");
  ASSERT_EQ(must(jobs().fail(id, job.token)).state, JobState::failed);
  EXPECT_EQ(must(jobs().retry(id)), JobState::available);
  EXPECT_EQ(must(jobs().show(id)).failures, 0);
  const auto last = job.token;
  job = claim_one(jobs(), "q", "alice");
  EXPECT_GT(job.token, last);
  ASSERT_TRUE(ok(jobs().complete(id, job.token)));
  EXPECT_EQ(outcomes_of(jobs(), id), (std::vector<std::string>{"failed", "retried", "completed"}));
}

TEST_P(JobOperateTest, RetryRunsADeferredJobNowAndRefusesTheRest) {
  const auto later = add(jobs(), "q", {.delay = 1h});
  EXPECT_EQ(must(jobs().retry(later)), JobState::available);
  const auto job = claim_one(jobs(), "q", "alice");
  EXPECT_EQ(job.id, later);
  EXPECT_TRUE(fails(jobs().retry(later), Errc::held)) << "it runs";
  ASSERT_TRUE(ok(jobs().complete(later, job.token)));
  EXPECT_TRUE(fails(jobs().retry(later), Errc::invalid_argument)) << "finished work can never be claimed";
  EXPECT_TRUE(fails(jobs().retry(424242), Errc::not_found));
}

TEST_P(JobOperateTest, RedriveBringsBackEveryDeadLetterOfAQueue) {
  bury("a");
  bury("a");
  const auto other = bury("b");
  EXPECT_EQ(must(jobs().redrive("a")), 2);
  EXPECT_EQ(must(queues().show("a")).available, 2);
  EXPECT_EQ(state_of(jobs(), other), JobState::failed);
  EXPECT_EQ(must(jobs().redrive()), 1);
  EXPECT_EQ(must(jobs().redrive()), 0);
}

TEST_P(JobOperateTest, DeleteForgetsEverythingButNotARunningJob) {
  const auto empty = dump();
  const auto id = add(jobs(), "q", {.dedupe_key = "k", .tags = {"t"}});
  ASSERT_TRUE(ok(jobs().remove(id)));
  EXPECT_EQ(dump(), empty);
  EXPECT_TRUE(fails(jobs().remove(id), Errc::not_found));
  const auto running = add(jobs(), "q");
  const auto job = claim_one(jobs(), "q", "alice");
  EXPECT_TRUE(fails(jobs().remove(running), Errc::held));
  ASSERT_TRUE(ok(jobs().complete(running, job.token, "result")));
  ASSERT_TRUE(ok(jobs().remove(running)));
  EXPECT_TRUE(fails(jobs().show(running), Errc::not_found));
}

TEST_P(JobOperateTest, PurgeCancelsWhatWaits) {
  add_many(jobs(), "q", 3);
  const auto job = claim_one(jobs(), "q", "alice");
  add(jobs(), "q", {.delay = 1h});
  EXPECT_EQ(must(queues().purge("q")), 3);
  const auto info = must(queues().show("q"));
  EXPECT_EQ(info.available + info.deferred, 0);
  EXPECT_EQ(info.running, 1);
  EXPECT_TRUE(ok(jobs().complete(job.id, job.token)));
}

TEST_P(JobOperateTest, PruneDeletesOldFinishedJobsAndNothingElse) {
  const auto done = add(jobs(), "q");
  auto job = claim_one(jobs(), "q", "alice");
  ASSERT_TRUE(ok(jobs().complete(done, job.token, "r")));
  const auto dead = bury("q");
  const auto waiting = add(jobs(), "q", {.delay = 100h});
  advance(48h);
  const auto fresh = add(jobs(), "q");
  job = claim_one(jobs(), "q", "alice");
  ASSERT_TRUE(ok(jobs().complete(fresh, job.token)));
  EXPECT_EQ(must(store().prune(24h)).jobs, 2);
  EXPECT_TRUE(fails(jobs().show(done), Errc::not_found));
  EXPECT_TRUE(fails(jobs().show(dead), Errc::not_found));
  EXPECT_TRUE(ok(jobs().show(waiting)));
  EXPECT_TRUE(ok(jobs().show(fresh)));
  EXPECT_EQ(must(store().prune(24h)).jobs, 0);
}

TEST_P(JobOperateTest, PruneSparesTheLeaseOfARunningJob) {
  const auto id = add(jobs(), "q");
  const auto job = claim_one(jobs(), "q", "alice", 100h);
  advance(48h);
  must(store().prune(1h));
  EXPECT_TRUE(ok(jobs().heartbeat(id, job.token)));
}

TEST_P(JobOperateTest, TheListDistinguishesEveryState) {
  const auto available = add(jobs(), "list", {.tags = {"red", "blue"}});
  const auto deferred = add(jobs(), "list", {.delay = 1h});
  const auto blocked = add(jobs(), "list", {.depends_on = {available}});
  add(jobs(), "run");
  const auto running = claim_one(jobs(), "run", "alice", 10h).id;
  add(jobs(), "exp");
  const auto expired = claim_one(jobs(), "exp", "alice", 30s).id;
  const auto failed = bury("dead");
  const auto cancelled = add(jobs(), "list");
  must(jobs().cancel(cancelled));
  add(jobs(), "done");
  const auto job = claim_one(jobs(), "done", "alice");
  must(jobs().complete(job.id, job.token));
  advance(31s);
  const std::vector<std::pair<JobState, JobId>> wanted{{JobState::available, available}, {JobState::deferred, deferred},
                                                       {JobState::blocked, blocked},     {JobState::running, running},
                                                       {JobState::expired, expired},     {JobState::failed, failed},
                                                       {JobState::cancelled, cancelled}, {JobState::completed, job.id}};
  for (const auto& [state, id] : wanted) {
    const auto found = must(jobs().list({.state = state}));
    ASSERT_EQ(found.size(), 1U) << to_string(state);
    EXPECT_EQ(found[0].id, id) << to_string(state);
    EXPECT_EQ(found[0].state, state);
  }
  EXPECT_EQ(must(jobs().list()).size(), wanted.size());
  const auto tagged = must(jobs().list({.tag = "blue"}));
  ASSERT_EQ(tagged.size(), 1U);
  EXPECT_EQ(tagged[0].tags, (std::vector<std::string>{"red", "blue"}));
  const auto page = must(jobs().list({.max = 3}));
  ASSERT_EQ(page.size(), 3U);
  EXPECT_GT(page[0].id, page[1].id) << "newest first";
  EXPECT_LT(must(jobs().list({.max = 1, .page = page.next.value()})).at(0).id, page[2].id);
}

TEST_P(JobOperateTest, AQueueShowsItsDepthAgeAndRates) {
  add_many(jobs(), "q", 3);
  advance(10s);
  add(jobs(), "q", {.delay = 1h});
  const auto job = claim_one(jobs(), "q", "alice", 30s);
  must(jobs().complete(job.id, job.token));
  claim_one(jobs(), "q", "bob", 30s);
  const auto info = must(queues().show("q"));
  EXPECT_EQ(info.available, 1);
  EXPECT_EQ(info.deferred, 1);
  EXPECT_EQ(info.running, 1);
  EXPECT_EQ(info.expired, 0);
  EXPECT_EQ(info.oldest_at, now() - 10s);
  EXPECT_EQ(info.next_due_at, now() + 1h);
  EXPECT_EQ(info.completed_last_minute, 1);
  advance(61s);
  const auto later = must(queues().show("q"));
  EXPECT_EQ(later.completed_last_minute, 0);
  EXPECT_EQ(later.expired, 1);
  EXPECT_EQ(later.running, 0);
  EXPECT_EQ(must(queues().list()).size(), 1U);
}

TEST_P(JobOperateTest, AWaiterSeesTheEnd) {
  const auto id = add(jobs(), "q");
  EXPECT_TRUE(fails(jobs().wait(id, Duration(0)), Errc::busy));
  const auto job = claim_one(jobs(), "q", "alice");
  must(jobs().complete(id, job.token));
  EXPECT_EQ(must(jobs().wait(id, 5s)).state, JobState::completed);
  EXPECT_TRUE(fails(jobs().wait(424242, 5s), Errc::not_found));
}

TEST_P(JobOperateTest, CountsOfManyJobsAreEstimatesAndSaySo) {
  const std::vector<NewJob> thousand(1000, NewJob{.payload = "x", .delay = 1h});
  for (int i = 0; i < 16; ++i) {
    must(jobs().enqueue("large", thousand));
    if (i % 4 == 0) must(jobs().enqueue("small", thousand));
  }
  const auto large = must(queues().show("large"));
  EXPECT_TRUE(large.estimated);
  EXPECT_NEAR(static_cast<double>(large.deferred), 16000, 1600);
  const auto small = must(queues().show("small"));
  EXPECT_FALSE(small.estimated);
  EXPECT_EQ(small.deferred, 4000);
  advance(2h);
  EXPECT_NEAR(static_cast<double>(must(queues().show("large")).available), 16000, 1600);
  EXPECT_EQ(must(queues().show("small")).available, 4000);
}

}  // namespace
}  // namespace leasehold::support
