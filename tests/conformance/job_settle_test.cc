// Verdicts: complete, fail, release, snooze; said late, twice, or by the wrong one. Promises 4, 5, 7, 13 and 15.
#include <gtest/gtest.h>

#include "support/job_helpers.h"
#include "support/store_fixture.h"

namespace leasehold::support {
namespace {

class JobSettleTest : public StoreTest {};
LEASEHOLD_ON_BOTH_STORES(JobSettleTest);

TEST_P(JobSettleTest, CompleteKeepsTheResult) {
  add(jobs(), "q");
  const auto job = claim_one(jobs(), "q", "alice");
  const std::string result("fine\0and well", 13);
  const auto settled = jobs().complete(job.id, job.token, result);
  ASSERT_TRUE(ok(settled));
  EXPECT_EQ(settled->state, JobState::completed);
  EXPECT_FALSE(settled->replayed);
  EXPECT_EQ(must(jobs().result(job.id)), result);
  const auto info = must(jobs().show(job.id));
  EXPECT_EQ(info.finished_at, now());
  EXPECT_EQ(info.attempts, 1);
}

TEST_P(JobSettleTest, Promise13_TheSameVerdictTwiceIsHarmless) {
  add(jobs(), "q");
  const auto job = claim_one(jobs(), "q", "alice");
  ASSERT_TRUE(ok(jobs().complete(job.id, job.token)));
  const auto rows = dump();
  const auto again = jobs().complete(job.id, job.token);
  ASSERT_TRUE(ok(again));
  EXPECT_TRUE(again->replayed);
  EXPECT_EQ(dump(), rows);
}

TEST_P(JobSettleTest, Promise15_OneOutcomePerAttempt) {
  add(jobs(), "q");
  const auto job = claim_one(jobs(), "q", "alice");
  ASSERT_TRUE(ok(jobs().complete(job.id, job.token)));
  const auto rows = dump();
  EXPECT_TRUE(lost(jobs().fail(job.id, job.token), LostReason::finished));
  EXPECT_TRUE(lost(jobs().release(job.id, job.token), LostReason::finished));
  EXPECT_TRUE(lost(jobs().heartbeat(job.id, job.token), LostReason::finished));
  EXPECT_EQ(dump(), rows);
}

TEST_P(JobSettleTest, Promise04_AWrongTokenChangesNothing) {
  add(jobs(), "q");
  const auto job = claim_one(jobs(), "q", "alice");
  const auto rows = dump();
  const Token wrong{job.token.value - 1};
  EXPECT_TRUE(fails(jobs().complete(job.id, wrong), Errc::lost));
  EXPECT_TRUE(fails(jobs().fail(job.id, wrong), Errc::lost));
  EXPECT_TRUE(fails(jobs().release(job.id, wrong), Errc::lost));
  EXPECT_TRUE(fails(jobs().snooze(job.id, wrong, 1s), Errc::lost));
  EXPECT_TRUE(fails(jobs().heartbeat(job.id, wrong), Errc::lost));
  EXPECT_EQ(dump(), rows);
}

TEST_P(JobSettleTest, Promise05_AVerdictAfterExpiryCountsUntilATakeover) {
  add(jobs(), "q");
  const auto job = claim_one(jobs(), "q", "alice", 30s);
  advance(31s);
  EXPECT_TRUE(lost(jobs().heartbeat(job.id, job.token), LostReason::expired));
  EXPECT_TRUE(ok(jobs().complete(job.id, job.token)));
  EXPECT_EQ(state_of(jobs(), job.id), JobState::completed);
}

TEST_P(JobSettleTest, Promise04_ALateHolderIsRefusedAfterTheTakeover) {
  add(jobs(), "q");
  const auto late = claim_one(jobs(), "q", "alice", 30s);
  advance(31s);
  const auto next = claim_one(jobs(), "q", "bob", 30s);
  EXPECT_EQ(next.id, late.id);
  const auto rows = dump();
  EXPECT_TRUE(fails(jobs().complete(late.id, late.token), Errc::lost));
  EXPECT_TRUE(fails(jobs().fail(late.id, late.token), Errc::lost));
  EXPECT_TRUE(fails(jobs().release(late.id, late.token), Errc::lost));
  EXPECT_TRUE(fails(jobs().heartbeat(late.id, late.token), Errc::lost));
  EXPECT_EQ(dump(), rows);
  EXPECT_TRUE(ok(jobs().complete(next.id, next.token)));
}

TEST_P(JobSettleTest, AFailedJobComesBackAfterItsBackoff) {
  const auto id = add(jobs(), "q", {.backoff = {.base = 100s, .max = 300s}});
  std::vector<Duration> pauses;
  for (int i = 0; i < 4; ++i) {
    const auto job = claim_one(jobs(), "q", "alice");
    const auto settled = must(jobs().fail(job.id, job.token, "no luck"));
    ASSERT_EQ(settled.state, JobState::deferred);
    pauses.push_back(*settled.due_at - now());
    advance(pauses.back());
  }
  for (const auto& [pause, wanted] : {std::pair(pauses[0], 100s), std::pair(pauses[1], 200s),
                                      std::pair(pauses[2], 300s), std::pair(pauses[3], 300s)}) {
    EXPECT_GE(pause, Duration(wanted) * 9 / 10);
    EXPECT_LE(pause, Duration(wanted) * 11 / 10);
  }
  EXPECT_EQ(must(jobs().show(id)).failures, 4);
}

TEST_P(JobSettleTest, BothStoresWaitEquallyLong) {
  const auto id = add(jobs(), "q", {.backoff = {.base = 100s, .max = 300s, .exponential = false}});
  const auto job = claim_one(jobs(), "q", "alice");
  const auto settled = must(jobs().fail(id, job.token));
  const std::int64_t base = 100'000'000;
  EXPECT_EQ((*settled.due_at - now()).count(), base + base / 10000 * ((id * 7919) % 2001 - 1000));
}

TEST_P(JobSettleTest, Promise07_TheFailureBudgetEndsInTheDeadLetter) {
  const auto id = add(jobs(), "q", {.max_failures = 2});
  auto job = claim_one(jobs(), "q", "alice");
  EXPECT_EQ(must(jobs().settle({id, job.token, Verdict::retry_in(Duration(0), "first")})).state, JobState::available);
  job = claim_one(jobs(), "q", "alice");
  EXPECT_EQ(job.attempt, 2);
  EXPECT_EQ(must(jobs().fail(id, job.token, "second")).state, JobState::failed);
  const auto info = must(jobs().show(id));
  EXPECT_EQ(info.failures, 2);
  EXPECT_EQ(info.error, "second");
  EXPECT_TRUE(fails(jobs().claim("q", claiming(), by("bob")), Errc::empty));
  const auto dead = must(jobs().list({.state = JobState::failed}));
  ASSERT_EQ(dead.size(), 1U);
  EXPECT_EQ(dead[0].id, id);
}

TEST_P(JobSettleTest, AFinalFailureIsNotTriedAgain) {
  const auto id = add(jobs(), "q");
  const auto job = claim_one(jobs(), "q", "alice");
  EXPECT_EQ(must(jobs().settle({id, job.token, Verdict::fail_finally("bad input")})).state, JobState::failed);
}

TEST_P(JobSettleTest, Promise07_AReleaseIsNotCharged) {
  const auto id = add(jobs(), "q", {.max_failures = 1, .max_crashes = 1});
  for (int i = 0; i < 5; ++i) {
    const auto job = claim_one(jobs(), "q", "alice");
    EXPECT_EQ(must(jobs().release(id, job.token)).state, JobState::available);
  }
  const auto info = must(jobs().show(id));
  EXPECT_EQ(info.failures, 0);
  EXPECT_EQ(info.crashes, 0);
  EXPECT_EQ(info.attempts, 5);
}

TEST_P(JobSettleTest, ASnoozedJobSleeps) {
  const auto id = add(jobs(), "q", {.max_failures = 1});
  const auto job = claim_one(jobs(), "q", "alice");
  const auto settled = must(jobs().snooze(id, job.token, 10min));
  EXPECT_EQ(settled.state, JobState::deferred);
  EXPECT_EQ(settled.due_at, now() + 10min);
  advance(10min);
  EXPECT_EQ(claim_one(jobs(), "q", "alice").id, id);
}

TEST_P(JobSettleTest, ManyVerdictsEachWithItsOwnAnswer) {
  add_many(jobs(), "q", 4);
  const auto grant = claim(jobs(), "q", claiming(4), by("alice"));
  ASSERT_TRUE(ok(jobs().complete(grant.jobs[1].id, grant.token)));
  std::vector<Settlement> verdicts;
  for (const auto& job : grant.jobs)
    verdicts.push_back({.id = job.id, .token = job.token, .verdict = Verdict::complete("r")});
  verdicts[2].token.value -= 1;
  verdicts.push_back({.id = 999999, .token = grant.token});
  const auto answers = must(jobs().settle(verdicts));
  ASSERT_EQ(answers.size(), 5U);
  EXPECT_TRUE(ok(answers[0]));
  EXPECT_TRUE(ok(answers[1]));
  EXPECT_TRUE(answers[1]->replayed);
  EXPECT_TRUE(fails(answers[2], Errc::lost));
  EXPECT_TRUE(ok(answers[3]));
  EXPECT_TRUE(fails(answers[4], Errc::not_found));
  EXPECT_EQ(must(jobs().result(grant.jobs[3].id)), "r");
  EXPECT_EQ(state_of(jobs(), grant.jobs[2].id), JobState::running);
}

TEST_P(JobSettleTest, TheLeaseEndsWithItsLastJob) {
  add_many(jobs(), "q", 3);
  const auto grant = claim(jobs(), "q", claiming(3), by("alice"));
  ASSERT_TRUE(ok(jobs().complete(grant.jobs[0].id, grant.token)));
  ASSERT_TRUE(ok(jobs().release(grant.jobs[1].id, grant.token)));
  EXPECT_TRUE(ok(jobs().heartbeat(grant.jobs[2].id, grant.token)));
  ASSERT_TRUE(ok(jobs().complete(grant.jobs[2].id, grant.token)));
  EXPECT_EQ(under_test().scalar("SELECT count(*) FROM " + under_test().table("lease") + " WHERE ended_at IS NULL"),
            "0");
  EXPECT_EQ(under_test().scalar("SELECT count(*) FROM " + under_test().table("job_grant")), "0");
}

TEST_P(JobSettleTest, AHeartbeatExtendsAndCarriesProgress) {
  add(jobs(), "q");
  const auto job = claim_one(jobs(), "q", "alice", 30s);
  advance(20s);
  const auto beat = jobs().heartbeat(job.id, job.token, {.percent = 40, .message = "half way", .stage = "testing"});
  ASSERT_TRUE(ok(beat));
  EXPECT_EQ(beat->expires_at, now() + 30s);
  EXPECT_FALSE(beat->cancel_requested);
  const auto info = must(jobs().show(job.id));
  EXPECT_EQ(info.percent, 40);
  EXPECT_EQ(info.message, "half way");
  EXPECT_EQ(info.stage, "testing");
  advance(29s);
  EXPECT_EQ(must(jobs().heartbeat(job.id, job.token, {}, 2min)).expires_at, now() + 2min);
  EXPECT_EQ(must(jobs().show(job.id)).stage, "testing") << "a heartbeat without progress keeps it";
}

TEST_P(JobSettleTest, TheStoryOfAJobNamesEveryAttempt) {
  const auto id = add(jobs(), "q");
  auto job = claim_one(jobs(), "q", "alice", 30s);
  advance(5s);
  ASSERT_TRUE(ok(jobs().settle({id, job.token, Verdict::retry_in(Duration(0), "oops")})));
  job = claim_one(jobs(), "q", "bob", 30s);
  advance(40s);
  job = claim_one(jobs(), "q", "carol", 30s);
  const auto story = must(jobs().attempts(id));
  ASSERT_EQ(story.size(), 3U);
  EXPECT_EQ(story[0].outcome, AttemptOutcome::failed);
  EXPECT_EQ(name_of(story[0].holder), "alice");
  EXPECT_EQ(story[0].error, "oops");
  EXPECT_EQ(story[0].started_at, test_start);
  EXPECT_EQ(story[0].ended_at, test_start + 5s);
  EXPECT_EQ(story[1].outcome, AttemptOutcome::expired);
  EXPECT_EQ(name_of(story[1].holder), "bob");
  EXPECT_EQ(story[2].outcome, AttemptOutcome::running);
  EXPECT_EQ(name_of(story[2].holder), "carol");
  EXPECT_EQ(host_of(story[2].holder), "host-of-carol");
  EXPECT_FALSE(story[2].ended_at.has_value());
  const auto errors = must(jobs().errors({.queue = "q"}));
  ASSERT_EQ(errors.size(), 1U);
  EXPECT_EQ(errors[0].error, "oops");
}

}  // namespace
}  // namespace leasehold::support
