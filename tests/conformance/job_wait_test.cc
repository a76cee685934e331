// Why a job is not running: every reason, with the same words on both stores. And the workers, also idle ones.
#include <gtest/gtest.h>

#include "support/job_helpers.h"
#include "support/store_fixture.h"

namespace leasehold::support {
namespace {

class JobWaitTest : public StoreTest {
 protected:
  JobWait wait_of(JobId id) {
    const auto info = must(jobs().show(id));
    EXPECT_TRUE(info.wait) << to_string(info.state);
    return info.wait.value_or(JobWait{});
  }
  /// "reason: text"
  std::string why(JobId id) {
    const auto wait = wait_of(id);
    return std::string(to_string(wait.reason)) + ": " + wait.text;
  }
  /// A claim that finds nothing: from now on the queue has been asked for.
  void ask_for(const std::string& queue) { EXPECT_FALSE(jobs().claim(queue, claiming(), by("ann")).ok()); }
};
LEASEHOLD_ON_BOTH_STORES(JobWaitTest);

TEST_P(JobWaitTest, APausedQueueComesFirst) {
  const auto id = add(jobs(), "mail");
  ASSERT_TRUE(ok(queues().set("mail", {.max_running = 1})));
  ASSERT_TRUE(ok(queues().pause("mail", "the provider is down")));
  EXPECT_EQ(why(id), "paused: the queue is paused: the provider is down");
  EXPECT_EQ(must(queues().show("mail")).wait->reason, WaitReason::paused);
  ASSERT_TRUE(ok(queues().pause("mail")));
  EXPECT_EQ(why(id), "paused: the queue is paused");
}

TEST_P(JobWaitTest, AtTheLimitItNamesTheJobThatFreesAPlace) {
  ASSERT_TRUE(ok(queues().set("merge", {.max_running = 1})));
  const auto ids = add_many(jobs(), "merge", 2);
  const auto running = claim_one(jobs(), "merge", "ann", 30s);
  const auto wait = wait_of(ids[1]);
  EXPECT_EQ(wait.reason, WaitReason::at_capacity);
  EXPECT_EQ(wait.text.find("merge is at its limit (1 of 1 running): job " + std::to_string(ids[0]) + " runs"), 0U)
      << wait.text;
  EXPECT_EQ(wait.job_id, ids[0]);
  EXPECT_EQ(wait.until, must(jobs().show(ids[0])).held_until);
  ASSERT_TRUE(ok(jobs().complete(running.id, running.token)));
  EXPECT_EQ(why(ids[1]), "turn: it waits for its turn");
}

TEST_P(JobWaitTest, AnAttemptPastItsLimitTakesNoPlace) {
  ASSERT_TRUE(ok(queues().set("merge", {.max_running = 2})));
  const auto late = add(jobs(), "merge", {.timeout = 1min});
  const auto long_running = add(jobs(), "merge", {.timeout = 3min});
  const auto waits = add(jobs(), "merge");
  const auto dependent = add(jobs(), "other", {.depends_on = {late}});
  claim(jobs(), "merge", claiming(2, 10min), by("ann"));
  EXPECT_EQ(wait_of(waits).reason, WaitReason::at_capacity);
  EXPECT_EQ(wait_of(waits).job_id, late);
  EXPECT_EQ(wait_of(waits).until, must(jobs().show(late)).times_out_at);
  EXPECT_NE(wait_of(waits).text.find("job " + std::to_string(late) + " runs for ann"), std::string::npos);
  advance(1min);
  EXPECT_EQ(wait_of(waits).reason, WaitReason::turn) << "the next claim frees the place";
  EXPECT_EQ(why(late), "timed_out: it took longer than 1m: the next claim fails it") << "its holder lives";
  EXPECT_EQ(why(dependent), "blocked: it waits for job " + std::to_string(late) + ", which is expired");
  EXPECT_EQ(must(jobs().show(dependent)).depends_on.front().state, JobState::expired);
  EXPECT_FALSE(must(jobs().show(long_running)).wait);
  EXPECT_EQ(claim_one(jobs(), "merge", "bob").id, waits);
}

TEST_P(JobWaitTest, AnAttemptPastItsLimitTakesNoPlaceOfItsGroup) {
  ASSERT_TRUE(ok(queues().set("sync", {.max_per_group = 1})));
  add(jobs(), "sync", {.group = "acme", .timeout = 1min});
  add(jobs(), "sync", {.group = "bolt"});
  const auto waits = add(jobs(), "sync", {.group = "acme"});
  claim(jobs(), "sync", claiming(2, 10min), by("ann"));
  EXPECT_EQ(wait_of(waits).reason, WaitReason::group_full);
  advance(1min);
  EXPECT_EQ(wait_of(waits).reason, WaitReason::turn);
}

TEST_P(JobWaitTest, ASpentRateSaysUntilWhen) {
  ASSERT_TRUE(ok(queues().set("api", {.rate_count = 2, .rate_period = 1min})));
  const auto ids = add_many(jobs(), "api", 3);
  claim(jobs(), "api", claiming(2), by("ann"));
  EXPECT_EQ(why(ids[2]), "rate_limited: the rate of api is spent (2 per 60 s)");
  EXPECT_EQ(wait_of(ids[2]).until, now() + 30s);
  advance(30s);
  EXPECT_EQ(wait_of(ids[2]).reason, WaitReason::turn);
}

TEST_P(JobWaitTest, AFullGroupIsNotTheLimitOfAnother) {
  ASSERT_TRUE(ok(queues().set("sync", {.max_per_group = 1})));
  const auto first = must(jobs().enqueue("sync", {.group = "acme"})).id;
  const auto second = must(jobs().enqueue("sync", {.group = "acme"})).id;
  const auto other = must(jobs().enqueue("sync", {.group = "bolt"})).id;
  claim_one(jobs(), "sync", "ann");
  const auto wait = wait_of(second);
  EXPECT_EQ(wait.reason, WaitReason::group_full);
  EXPECT_EQ(wait.text.find("the group acme is at its limit (1 of 1 running): job "), 0U) << wait.text;
  EXPECT_EQ(wait.job_id, first);
  EXPECT_EQ(wait_of(other).reason, WaitReason::turn);
}

TEST_P(JobWaitTest, ABlockedJobNamesThePredecessorAndItsState) {
  const auto first = add(jobs(), "mail");
  const auto second = must(jobs().enqueue("mail", {.depends_on = {first}, .if_failed = IfFailed::wait})).id;
  const auto name = std::to_string(first);
  EXPECT_EQ(why(second), "blocked: it waits for job " + name + ", which is available");
  const auto job = claim_one(jobs(), "mail", "ann");
  EXPECT_EQ(why(second), "blocked: it waits for job " + name + ", which is running");
  auto failure = Verdict::fail("no luck");
  failure.retryable = false;
  ASSERT_TRUE(ok(jobs().settle({job.id, job.token, failure})));
  EXPECT_EQ(why(second), "blocked: it waits for job " + name + ", which is failed: retry that job, or cancel this one");
  EXPECT_EQ(wait_of(second).job_id, first);
}

TEST_P(JobWaitTest, ABlockedJobSaysWhatItsRuleDoesAfterALapse) {
  const auto first = must(jobs().enqueue("mail", {.expires_in = 1min})).id;
  const auto waits = must(jobs().enqueue("mail", {.depends_on = {first}, .if_failed = IfFailed::wait})).id;
  const auto runs = must(jobs().enqueue("mail", {.depends_on = {first}, .if_failed = IfFailed::run})).id;
  const auto cancelled = must(jobs().enqueue("mail", {.depends_on = {first}})).id;
  advance(1min);
  const auto lapsed = "blocked: it waits for job " + std::to_string(first) + ", which is lapsed: ";
  EXPECT_EQ(why(waits), lapsed + "retry that job, or cancel this one");
  EXPECT_EQ(why(runs), lapsed + "the next claim ends this wait");
  EXPECT_EQ(why(cancelled), lapsed + "this job will be cancelled");
}

TEST_P(JobWaitTest, AnEndJobSaysWhetherItsBatchHasJobs) {
  const auto end = must(jobs().enqueue("mail", {.on_batch_end = "b"})).id;
  EXPECT_EQ(why(end), "blocked: it waits for the batch b, which has no jobs yet");
  must(jobs().enqueue("other", {.batch = "b"}));
  EXPECT_EQ(why(end), "blocked: it waits for the batch b (1 unfinished)");
}

TEST_P(JobWaitTest, AJobThatIsNotDueSaysWhenItIs) {
  const auto id = must(jobs().enqueue("mail", {.delay = 10min})).id;
  EXPECT_EQ(why(id), "not_due: it is not due yet");
  EXPECT_EQ(wait_of(id).until, now() + 10min);
}

TEST_P(JobWaitTest, AnExpiredJobIsTakenOverByTheNextClaim) {
  const auto id = add(jobs(), "mail");
  claim_one(jobs(), "mail", "ann", 30s);
  EXPECT_FALSE(must(jobs().show(id)).wait) << "it runs";
  advance(31s);
  EXPECT_EQ(why(id), "recovering: its holder ann died: the next claim takes it over");
  advance(5min);
  EXPECT_EQ(wait_of(id).reason, WaitReason::no_worker);
}

TEST_P(JobWaitTest, WithoutAClaimForFiveMinutesItHasNoWorker) {
  const auto id = add(jobs(), "mail");
  EXPECT_EQ(why(id), "no_worker: no worker has asked for mail in the last 5m");
  ask_for("other");
  EXPECT_EQ(wait_of(id).reason, WaitReason::no_worker);
  const auto first = claim_one(jobs(), "mail", "ann");
  const auto second = add(jobs(), "mail");
  EXPECT_EQ(why(second), "turn: it waits for its turn");
  advance(5min + 1s);
  EXPECT_EQ(wait_of(second).reason, WaitReason::no_worker);
  EXPECT_EQ(must(queues().show("mail")).wait->reason, WaitReason::no_worker);
  EXPECT_TRUE(must(queues().show("mail")).asked_at);
}

TEST_P(JobWaitTest, ABusyWorkerThatListensCounts) {
  const auto lease = must(jobs().open_lease(1h, by("ann"), {.queues = {"mail", "sms"}, .concurrency = 4}));
  advance(10min);
  const auto id = add(jobs(), "mail");
  EXPECT_EQ(wait_of(id).reason, WaitReason::turn);
  const auto elsewhere = add(jobs(), "fax");
  EXPECT_EQ(wait_of(elsewhere).reason, WaitReason::no_worker);
}

TEST_P(JobWaitTest, AnEndedJobWaitsForNothing) {
  add(jobs(), "mail");
  const auto job = claim_one(jobs(), "mail", "ann");
  ASSERT_TRUE(ok(jobs().complete(job.id, job.token)));
  EXPECT_FALSE(must(jobs().show(job.id)).wait);
  EXPECT_FALSE(must(queues().show("mail")).wait);
}

TEST_P(JobWaitTest, WorkersAreListedWhileTheirLeaseIsOpen) {
  EXPECT_TRUE(must(queues().workers()).empty());
  const auto lease = must(jobs().open_lease(30s, by("ann"), {.queues = {"mail", "sms"}, .concurrency = 4}));
  must(jobs().open_lease(1h, by("bob"), {.queues = {"fax"}}));
  const auto of_mail = must(queues().workers("mail"));
  ASSERT_EQ(of_mail.size(), 1U);
  const auto& ann = of_mail.front();
  EXPECT_EQ(ann.holder.name, "ann");
  EXPECT_EQ(ann.queues, (std::vector<std::string>{"mail", "sms"}));
  EXPECT_EQ(ann.concurrency, 4);
  EXPECT_EQ(ann.running, 0) << "an idle one";
  EXPECT_EQ(must(queues().workers()).size(), 2U);
  add(jobs(), "mail");
  EXPECT_EQ(must(queues().show("mail")).workers, 1);
  auto call = by("ann");
  call.lease = lease;
  ASSERT_TRUE(ok(jobs().claim("mail", claiming(), call)));
  EXPECT_EQ(must(queues().workers("mail")).front().running, 1);
  advance(31s);
  const auto dead = must(queues().workers("mail"));
  ASSERT_EQ(dead.size(), 1U) << "shown until it is taken over";
  EXPECT_LT(dead.front().held_until, dead.front().store_now);
  EXPECT_EQ(must(queues().show("mail")).workers, 0);
  ASSERT_TRUE(ok(store().recover()));
  EXPECT_TRUE(must(queues().workers("mail")).empty());
}

}  // namespace
}  // namespace leasehold::support
