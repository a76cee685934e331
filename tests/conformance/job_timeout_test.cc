// Time limits of attempts: no heartbeat extends one, and the next call fails it. Promises 5, 6 and 7.
#include <gtest/gtest.h>

#include "storage/query.h"
#include "store/store.h"
#include "support/job_helpers.h"
#include "support/store_fixture.h"

namespace leasehold::support {
namespace {

class JobTimeoutTest : public StoreTest {
 protected:
  JobInfo look(JobId id) { return must(jobs().show(id)); }

  std::string events_of(JobId id) {
    std::string text;
    for (const auto& event : must(store().events({.key = std::to_string(id)}))) {
      text += (text.empty() ? "" : ", ") + event.what + (event.detail.empty() ? "" : " (" + event.detail + ")");
    }
    return text;
  }
};
LEASEHOLD_ON_BOTH_STORES(JobTimeoutTest);

TEST_P(JobTimeoutTest, Promise05_NoHeartbeatExtendsAnAttemptBeyondItsLimit) {
  const auto id = add(jobs(), "q", {.timeout = 10min});
  const auto job = claim_one(jobs(), "q", "alice", 60s);
  EXPECT_EQ(job.timeout, Duration(10min));
  const auto until = look(id).times_out_at;
  for (int i = 0; i < 11; ++i) {
    advance(50s);
    const auto beat = must(jobs().heartbeat(id, job.token));
    EXPECT_LE(beat.expires_at, until.value());
  }
  advance(50s - 1us);
  EXPECT_TRUE(ok(jobs().heartbeat(id, job.token)));
  advance(1us);
  EXPECT_TRUE(lost(jobs().heartbeat(id, job.token), LostReason::timed_out));
  EXPECT_EQ(look(id).state, JobState::deferred);
}

TEST_P(JobTimeoutTest, Promise06_TheNextClaimFailsTheAttemptAndNotAsACrash) {
  const auto id = add(jobs(), "q", {.timeout = 2min});
  const auto first = claim_one(jobs(), "q", "alice", 10min);
  advance(2min);
  EXPECT_TRUE(fails(jobs().claim("q", claiming(), by("bob")), Errc::empty)) << "it waits for its backoff";
  const auto info = look(id);
  EXPECT_EQ(info.failures, 1);
  EXPECT_EQ(info.crashes, 0);
  EXPECT_EQ(info.error, "timed out after 2m");
  EXPECT_EQ(info.state, JobState::deferred);
  EXPECT_EQ(events_of(id), "timed_out (after 2m)");
  EXPECT_TRUE(lost(jobs().complete(id, first.token), LostReason::timed_out));
  EXPECT_TRUE(lost(jobs().heartbeat(id, first.token), LostReason::timed_out));
  advance(10s);
  EXPECT_EQ(claim_one(jobs(), "q", "bob").attempt, 2);
  EXPECT_TRUE(lost(jobs().complete(id, first.token), LostReason::timed_out));
}

TEST_P(JobTimeoutTest, ALateFailureAgreesWithTheStore) {
  const auto id = add(jobs(), "q", {.timeout = 2min});
  const auto job = claim_one(jobs(), "q", "alice", 10min);
  advance(2min);
  EXPECT_TRUE(fails(jobs().claim("q", claiming(), by("bob")), Errc::empty));
  EXPECT_TRUE(must(jobs().fail(id, job.token, "too slow")).replayed);
  EXPECT_EQ(look(id).failures, 1);
  EXPECT_EQ(look(id).error, "timed out after 2m");
}

TEST_P(JobTimeoutTest, OnlyAFailureThatNamesTheLimitIsATimeout) {
  add(jobs(), "q", {.timeout = 1500ms});
  add(jobs(), "q", {.timeout = 1500ms});
  add(jobs(), "q");
  const auto grant = claim(jobs(), "q", claiming(3, 10min), by("alice"));
  const auto fail_with = [&](std::size_t nth, const std::string& error) {
    EXPECT_TRUE(ok(jobs().fail(grant.jobs[nth].id, grant.token, error)));
    return events_of(grant.jobs[nth].id);
  };
  EXPECT_EQ(fail_with(0, "timed out after 1s 500ms"), "timed_out (after 1s 500ms)");
  EXPECT_EQ(fail_with(1, "timed out after 1s"), "");
  EXPECT_EQ(fail_with(2, "timed out after 1s 500ms"), "");
  EXPECT_TRUE(lost(jobs().complete(grant.jobs[0].id, grant.token), LostReason::timed_out));
}

TEST_P(JobTimeoutTest, ACompletionThatComesBeforeAnythingElseIsAccepted) {
  const auto id = add(jobs(), "q", {.timeout = 2min});
  const auto job = claim_one(jobs(), "q", "alice", 10min);
  advance(3min);
  EXPECT_EQ(look(id).state, JobState::expired);
  EXPECT_TRUE(ok(jobs().complete(id, job.token)));
  EXPECT_EQ(look(id).state, JobState::completed);
}

TEST_P(JobTimeoutTest, Promise07_TimeoutsSpendTheFailureBudget) {
  const auto id = add(jobs(), "q", {.timeout = 1min, .max_failures = 2, .backoff = {.base = 1s}});
  claim_one(jobs(), "q", "alice", 10min);
  advance(1min);
  EXPECT_TRUE(fails(jobs().claim("q", claiming(), by("bob")), Errc::empty));
  advance(2s);
  claim_one(jobs(), "q", "bob", 10min);
  advance(1min);
  EXPECT_TRUE(fails(jobs().claim("q", claiming(), by("bob")), Errc::empty));
  EXPECT_EQ(look(id).state, JobState::failed);
  EXPECT_EQ(outcomes_of(jobs(), id), (std::vector<std::string>{"failed", "failed"}));
  EXPECT_EQ(events_of(id), "timed_out (after 1m), timed_out (after 1m), failed (failure budget spent)");
}

TEST_P(JobTimeoutTest, TheLimitOfTheJobGoesBeforeThatOfTheQueueAndThatOfTheClaim) {
  must(store().queues().set("q", {.timeout = 20min}));
  add(jobs(), "q", {.timeout = 5min});
  add(jobs(), "q");
  add(jobs(), "other");
  add(jobs(), "other");
  const auto limit_of = [&](const std::string& queue, std::optional<Duration> timeout) {
    return must(jobs().claim(queue, {.timeout = timeout}, by("alice"))).jobs.front().timeout;
  };
  EXPECT_EQ(limit_of("q", 1min), Duration(5min));
  EXPECT_EQ(limit_of("q", 1min), Duration(20min));
  EXPECT_EQ(limit_of("other", 1min), Duration(1min));
  EXPECT_EQ(limit_of("other", std::nullopt), std::nullopt);
}

TEST_P(JobTimeoutTest, AClaimOfManyLosesOnlyTheLateJob) {
  const auto slow = add(jobs(), "q", {.timeout = 1min});
  const auto quick = add(jobs(), "q");
  const auto grant = claim(jobs(), "q", claiming(2, 10min), by("alice"));
  ASSERT_EQ(ids_of(grant), (std::vector<JobId>{slow, quick}));
  advance(1min);
  EXPECT_TRUE(fails(jobs().claim("q", claiming(), by("bob")), Errc::empty));
  EXPECT_EQ(look(slow).state, JobState::deferred);
  EXPECT_TRUE(ok(jobs().heartbeat(quick, grant.token)));
  EXPECT_TRUE(ok(jobs().complete(quick, grant.token)));
}

TEST_P(JobTimeoutTest, AWorkersLeaseLivesOnAndItsHeartbeatFailsTheAttempt) {
  const auto lease = must(jobs().open_lease(10min, by("worker")));
  const auto slow = add(jobs(), "q", {.timeout = 1min});
  const auto quick = add(jobs(), "q");
  Call call = by("worker");
  call.lease = lease;
  const auto grant = claim(jobs(), "q", {.max = 2}, call);
  advance(1min);
  EXPECT_EQ(look(slow).state, JobState::expired) << "nothing has recorded it yet";
  EXPECT_TRUE(ok(jobs().extend(lease)));
  EXPECT_EQ(look(slow).state, JobState::deferred);
  EXPECT_EQ(look(slow).failures, 1);
  EXPECT_TRUE(lost(jobs().complete(slow, grant.token), LostReason::timed_out));
  EXPECT_TRUE(ok(jobs().complete(quick, grant.token)));
}

TEST_P(JobTimeoutTest, ACrashBeforeTheLimitIsACrash) {
  const auto id = add(jobs(), "q", {.timeout = 10min});
  claim_one(jobs(), "q", "alice", 30s);
  advance(20min);
  EXPECT_EQ(claim_one(jobs(), "q", "bob").id, id);
  EXPECT_EQ(look(id).crashes, 1);
  EXPECT_EQ(look(id).failures, 0);
}

TEST_P(JobTimeoutTest, ATakeoverThroughAnotherQueueFailsTheLateJobOfTheLease) {
  const auto lease = must(jobs().open_lease(30s, by("worker")));
  const auto slow = add(jobs(), "other", {.timeout = 10s});
  add(jobs(), "q");
  Call call = by("worker");
  call.lease = lease;
  static_cast<void>(claim(jobs(), "other", {}, call));
  static_cast<void>(claim(jobs(), "q", {}, call));
  advance(31s);
  static_cast<void>(claim_one(jobs(), "q", "bob"));
  EXPECT_EQ(look(slow).failures, 1);
  EXPECT_EQ(look(slow).crashes, 0);
  EXPECT_EQ(look(slow).error, "timed out after 10s");
}

TEST_P(JobTimeoutTest, AWorkerOfAnotherQueueFailsWhatIsLate) {
  const auto slow = add(jobs(), "quiet", {.timeout = 1min, .max_failures = 1});
  const auto waits = add(jobs(), "q", {.depends_on = {slow}, .if_failed = IfFailed::run});
  static_cast<void>(claim_one(jobs(), "quiet", "alice", 10min));
  EXPECT_TRUE(fails(jobs().claim("q", claiming(), by("bob")), Errc::empty));
  advance(1min);
  EXPECT_EQ(claim_one(jobs(), "q", "bob").id, waits);
  EXPECT_EQ(look(slow).error, "timed out after 1m");
}

TEST_P(JobTimeoutTest, TheHousekeepingOfAnyWorkerEndsTheLeasesOfTheDead) {
  const auto crashed = add(jobs(), "quiet", {.timeout = 10min, .max_crashes = 1});
  const auto unwanted = add(jobs(), "quieter");
  const auto waits = add(jobs(), "q", {.depends_on = {crashed, unwanted}, .if_failed = IfFailed::run});
  static_cast<void>(claim_one(jobs(), "quiet", "alice"));
  static_cast<void>(claim_one(jobs(), "quieter", "alice"));
  must(jobs().cancel(unwanted));
  advance(11min);
  must(storage::query_one(*store().impl().backend, sql::RetentionStep{.batch = 1}, BootClock::now() + 5s));
  EXPECT_EQ(look(crashed).crashes, 1);
  EXPECT_EQ(look(crashed).state, JobState::failed);
  EXPECT_EQ(look(unwanted).state, JobState::cancelled);
  EXPECT_EQ(claim_one(jobs(), "q", "bob").id, waits);
}

TEST_P(JobTimeoutTest, RecoverFailsWhatIsLate) {
  const auto id = add(jobs(), "q", {.timeout = 1min});
  const auto lease = must(jobs().open_lease(1h, by("worker")));
  Call call = by("worker");
  call.lease = lease;
  static_cast<void>(claim(jobs(), "q", {.max = 2}, call));
  advance(1min);
  EXPECT_EQ(must(store().recovery_stats()).stale_now.jobs, 1);
  EXPECT_EQ(must(store().recover()).jobs, 1);
  EXPECT_EQ(look(id).failures, 1);
  EXPECT_EQ(must(store().recovery_stats()).stale_now.jobs, 0);
}

TEST_P(JobTimeoutTest, AJobWithACancelRequestIsCancelled) {
  const auto id = add(jobs(), "q", {.timeout = 1min});
  claim_one(jobs(), "q", "alice", 10min);
  EXPECT_TRUE(ok(jobs().cancel(id)));
  advance(1min);
  EXPECT_TRUE(fails(jobs().claim("q", claiming(), by("bob")), Errc::empty));
  EXPECT_EQ(look(id).state, JobState::cancelled);
}

TEST_P(JobTimeoutTest, AnAttemptThatEndedInTimeLeavesNoLimitBehind) {
  const auto id = add(jobs(), "q", {.timeout = 1min});
  const auto first = claim_one(jobs(), "q", "alice", 10min);
  EXPECT_TRUE(ok(jobs().release(id, first.token)));
  advance(5min);
  const auto second = claim_one(jobs(), "q", "bob", 10min);
  EXPECT_EQ(look(id).failures, 0);
  advance(30s);
  EXPECT_TRUE(ok(jobs().complete(id, second.token)));
  advance(1h);
  EXPECT_TRUE(fails(jobs().claim("q", claiming(), by("bob")), Errc::empty));
  EXPECT_EQ(look(id).state, JobState::completed);
  EXPECT_EQ(dump().find("deadline"), std::string::npos);
}

TEST_P(JobTimeoutTest, ManyJobsOfOneEnqueueHaveTheirLimits) {
  std::vector<NewJob> fresh(300, NewJob{.timeout = 1min});
  must(jobs().enqueue("q", fresh));
  const auto grant = claim(jobs(), "q", claiming(300, 10min), by("alice"));
  ASSERT_EQ(grant.jobs.size(), 300U);
  EXPECT_EQ(grant.jobs.back().timeout, Duration(1min));
  advance(1min);
  must(store().recover());
  EXPECT_EQ(must(store().queues().show("q")).deferred, 300);
  EXPECT_EQ(look(grant.jobs.back().id).error, "timed out after 1m");
}

}  // namespace
}  // namespace leasehold::support
