// Jobs that run after others: what they wait for, and what becomes of them when one of those does not complete.
#include <gtest/gtest.h>

#include "support/job_helpers.h"
#include "support/store_fixture.h"

namespace leasehold::support {
namespace {

class JobAfterTest : public StoreTest {
 protected:
  JobId after(JobId first, IfFailed rule = IfFailed::cancel) {
    return add(jobs(), "later", {.depends_on = {first}, .if_failed = rule});
  }
  void complete(JobId id, const std::string& queue = "q") {
    const auto job = claim_one(jobs(), queue, "alice");
    ASSERT_EQ(job.id, id);
    ASSERT_TRUE(ok(jobs().complete(id, job.token)));
  }
  void fail_finally(JobId id, const std::string& queue = "q") {
    const auto job = claim_one(jobs(), queue, "alice");
    ASSERT_EQ(job.id, id);
    ASSERT_TRUE(ok(jobs().settle({id, job.token, Verdict::fail_finally()})));
  }
  /// Why it was cancelled.
  std::string reason(JobId id) {
    std::string reported;
    for (const auto& event : must(store().events({.key = std::to_string(id)}))) {
      if (event.kind == "job" && event.what == "cancelled") reported += event.detail + ";";
    }
    return reported;
  }
  bool can_be_claimed() { return static_cast<bool>(jobs().claim("later", claiming(), by("bob"))); }
};
LEASEHOLD_ON_BOTH_STORES(JobAfterTest);

TEST_P(JobAfterTest, Promise01_ACancelledJobThatIsRetriedStillWaits) {
  const auto first = add(jobs(), "q");
  const auto second = after(first);
  must(jobs().cancel(second));
  EXPECT_EQ(must(jobs().retry(second)), JobState::blocked);
  EXPECT_EQ(must(jobs().show(second)).waits_for, std::vector<JobId>{first});
  EXPECT_FALSE(can_be_claimed());
  complete(first);
  EXPECT_EQ(claim_one(jobs(), "later", "alice").id, second);
}

TEST_P(JobAfterTest, ARetryDoesNotWaitForWhatHasCompletedMeanwhile) {
  const auto first = add(jobs(), "q");
  const auto second = after(first);
  must(jobs().cancel(second));
  complete(first);
  EXPECT_EQ(must(jobs().retry(second)), JobState::available);
}

TEST_P(JobAfterTest, Promise12_AFailureCancelsThoseThatRunAfterIt) {
  const auto first = add(jobs(), "q");
  const auto second = after(first);
  const auto third = after(second);
  const auto also = add(jobs(), "later", {.depends_on = {first, third}});
  fail_finally(first);
  for (const auto id : {second, third, also}) EXPECT_EQ(state_of(jobs(), id), JobState::cancelled);
  EXPECT_EQ(reason(second), "job " + std::to_string(first) + " failed;");
  EXPECT_EQ(reason(third), "job " + std::to_string(second) + " was cancelled;");
  EXPECT_EQ(reason(also), "job " + std::to_string(first) + " failed;");
  EXPECT_FALSE(can_be_claimed());
}

TEST_P(JobAfterTest, AFailureThatIsRetriedCancelsNothing) {
  const auto first = add(jobs(), "q");
  const auto second = after(first);
  const auto job = claim_one(jobs(), "q", "alice");
  must(jobs().settle({first, job.token, Verdict::retry_in(0s)}));
  EXPECT_EQ(state_of(jobs(), second), JobState::blocked);
  complete(first);
  EXPECT_EQ(state_of(jobs(), second), JobState::available);
}

TEST_P(JobAfterTest, EveryEndThatIsNotCompletionCounts) {
  const auto cancelled = add(jobs(), "q");
  const auto after_cancelled = after(cancelled);
  must(jobs().cancel(cancelled));
  EXPECT_EQ(state_of(jobs(), after_cancelled), JobState::cancelled);

  const auto stopped = add(jobs(), "q");
  const auto after_stopped = after(stopped);
  const auto job = claim_one(jobs(), "q", "alice");
  must(jobs().cancel(stopped));
  EXPECT_EQ(state_of(jobs(), after_stopped), JobState::blocked);
  must(jobs().release(stopped, job.token));
  EXPECT_EQ(state_of(jobs(), after_stopped), JobState::cancelled);

  const auto crashed = add(jobs(), "q", {.max_crashes = 1});
  const auto after_crashed = after(crashed);
  claim_one(jobs(), "q", "alice", 30s);
  advance(31s);
  must(store().recover());
  EXPECT_EQ(reason(after_crashed), "job " + std::to_string(crashed) + " failed;");

  const auto purged = add(jobs(), "q");
  const auto after_purged = after(purged);
  EXPECT_EQ(must(queues().purge("q")), 1);
  EXPECT_EQ(state_of(jobs(), after_purged), JobState::cancelled);
}

TEST_P(JobAfterTest, RemovingAnUnfinishedJobCancelsThoseThatRunAfterIt) {
  const auto first = add(jobs(), "q");
  const auto second = after(first);
  const auto third = after(second, IfFailed::run);
  ASSERT_TRUE(ok(jobs().remove(first)));
  EXPECT_EQ(state_of(jobs(), second), JobState::cancelled);
  EXPECT_EQ(reason(second), "job " + std::to_string(first) + " was removed;");
  EXPECT_EQ(claim_one(jobs(), "later", "alice").id, third) << "it runs however the second ends";
}

TEST_P(JobAfterTest, AJobThatWouldWaitForARemovedJobIsCancelled) {
  const auto first = add(jobs(), "q");
  const auto second = after(first, IfFailed::wait);
  fail_finally(first);
  EXPECT_EQ(state_of(jobs(), second), JobState::blocked);
  ASSERT_TRUE(ok(jobs().remove(first)));
  EXPECT_EQ(state_of(jobs(), second), JobState::cancelled);
  EXPECT_EQ(must(jobs().retry(second)), JobState::available) << "nothing is left to wait for";
}

TEST_P(JobAfterTest, AJobWithIfFailedRunRunsWhenAllHaveEnded) {
  const auto first = add(jobs(), "q");
  const auto second = add(jobs(), "q");
  const auto last = add(jobs(), "later", {.depends_on = {first, second}, .if_failed = IfFailed::run});
  fail_finally(first);
  EXPECT_EQ(state_of(jobs(), last), JobState::blocked);
  must(jobs().cancel(second));
  EXPECT_EQ(claim_one(jobs(), "later", "alice").id, last);
}

TEST_P(JobAfterTest, AJobWithIfFailedWaitRunsAfterTheRetry) {
  const auto first = add(jobs(), "q");
  const auto second = after(first, IfFailed::wait);
  fail_finally(first);
  EXPECT_EQ(state_of(jobs(), second), JobState::blocked);
  EXPECT_EQ(must(jobs().redrive("q")), 1);
  complete(first);
  EXPECT_EQ(claim_one(jobs(), "later", "alice").id, second);
}

TEST_P(JobAfterTest, ANewJobAfterADeadOneDoesAsItsRuleSays) {
  const auto dead = add(jobs(), "q");
  fail_finally(dead);
  const auto cancelled = must(jobs().enqueue("later", {.dedupe_key = "k", .depends_on = {dead}}));
  EXPECT_TRUE(cancelled.created);
  EXPECT_EQ(cancelled.state, JobState::cancelled);
  EXPECT_EQ(state_of(jobs(), cancelled.id), JobState::cancelled);
  EXPECT_EQ(reason(cancelled.id), "job " + std::to_string(dead) + " failed;");
  EXPECT_TRUE(
      must(jobs().enqueue("later", {.dedupe_key = "k", .depends_on = {dead}, .if_failed = IfFailed::wait})).created)
      << "a cancelled job keeps no dedupe key";
  EXPECT_EQ(must(jobs().enqueue("later", {.depends_on = {dead}, .if_failed = IfFailed::run})).state,
            JobState::available);
}

TEST_P(JobAfterTest, AnUnknownPredecessorIsRefusedInTheSameWords) {
  const auto refused = jobs().enqueue("q", {.depends_on = {999}});
  ASSERT_TRUE(fails(refused, Errc::invalid_argument));
  EXPECT_EQ(refused.error().message, "it cannot depend on job 999, which does not exist");
  must(jobs().enqueue("q", {.on_batch_end = "b"}));
  const auto second = jobs().enqueue("q", {.on_batch_end = "b"});
  ASSERT_TRUE(fails(second, Errc::invalid_argument));
  EXPECT_EQ(second.error().message.find("the batch has an end job already: job "), 0U) << second.error().message;
}

TEST_P(JobAfterTest, ARetryIsRefusedWhileWhatItRunsAfterIsDead) {
  const auto first = add(jobs(), "q");
  const auto second = after(first);
  fail_finally(first);
  const auto before = dump();
  const auto refused = jobs().retry(second);
  ASSERT_TRUE(fails(refused, Errc::invalid_argument));
  EXPECT_NE(refused.error().message.find("job " + std::to_string(first) + ", which is failed"), std::string::npos)
      << refused.error().message;
  EXPECT_EQ(dump(), before);
  must(jobs().retry(first));
  EXPECT_EQ(must(jobs().retry(second)), JobState::blocked);
}

TEST_P(JobAfterTest, ADependentlyCancelledJobReturnsItsDedupeKey) {
  const auto first = add(jobs(), "q");
  const auto second = add(jobs(), "later", {.dedupe_key = "k", .depends_on = {first}});
  must(jobs().cancel(first));
  EXPECT_NE(add(jobs(), "later", {.dedupe_key = "k"}), second);
}

TEST_P(JobAfterTest, ShowHasThePredecessorsAndTheirStates) {
  const auto first = add(jobs(), "q");
  const auto second = add(jobs(), "q", {.delay = 1h});
  const auto last = add(jobs(), "later", {.depends_on = {second, first}, .if_failed = IfFailed::wait});
  fail_finally(first);
  const auto seen = must(jobs().show(last));
  ASSERT_EQ(seen.depends_on.size(), 2U);
  EXPECT_EQ(seen.depends_on[0].id, first);
  EXPECT_EQ(seen.depends_on[0].state, JobState::failed);
  EXPECT_EQ(seen.depends_on[1].id, second);
  EXPECT_EQ(seen.depends_on[1].state, JobState::deferred);
  EXPECT_EQ(seen.if_failed, IfFailed::wait);
  EXPECT_TRUE(must(jobs().show(first)).depends_on.empty());
}

// One act must not take long because many jobs depend on it.
TEST_P(JobAfterTest, ManyDependentsAreCancelledInSteps) {
  constexpr int many = 1200;
  const auto first = add(jobs(), "q");
  const std::vector<NewJob> fresh(many, NewJob{.depends_on = {first}});
  ASSERT_TRUE(ok(jobs().enqueue("later", fresh)));
  fail_finally(first);
  EXPECT_EQ(must(queues().show("later")).blocked, many - 1000);
  EXPECT_FALSE(can_be_claimed());
  EXPECT_EQ(must(store().recovery_stats()).stale_now.unblocked, many - 1000);
  EXPECT_EQ(must(store().recover()).unblocked, many - 1000);
  EXPECT_EQ(must(queues().show("later")).blocked, 0);
  EXPECT_TRUE(must(store().recover()).is_nothing());
}

// A step of `recover` takes a hundred predecessors, and none of these jobs goes on because of it.
TEST_P(JobAfterTest, RecoverContinuesPastJobsThatWaitForOthersToo) {
  constexpr int many = 250;
  const auto last = add(jobs(), "q", {.delay = 1h});
  for (int i = 0; i < many; ++i) {
    const auto gone = add(jobs(), "gone", {.delay = 1h});
    add(jobs(), "later", {.depends_on = {gone, last}, .if_failed = IfFailed::run});
  }
  under_test().run("DELETE FROM " + under_test().table("job") + " WHERE queue = 'gone'");
  const auto blocked = "SELECT count(*) FROM " + under_test().table("blocked");
  EXPECT_EQ(under_test().scalar(blocked), std::to_string(2 * many));
  EXPECT_TRUE(ok(store().recover()));
  EXPECT_EQ(under_test().scalar(blocked), std::to_string(many)) << "only the one that is still there";
}

TEST_P(JobAfterTest, ARetryDoesNotWaitForWhatWasRemovedLongBefore) {
  const auto first = add(jobs(), "q");
  const auto added = must(jobs().enqueue("later", std::vector<NewJob>(1200, NewJob{.depends_on = {first}})));
  ASSERT_TRUE(ok(jobs().remove(first)));
  const auto last = added.back().id;
  ASSERT_EQ(state_of(jobs(), last), JobState::blocked) << "one act does not reach it";
  must(store().recover());
  ASSERT_EQ(state_of(jobs(), last), JobState::cancelled);
  EXPECT_EQ(must(jobs().retry(last)), JobState::available);
  EXPECT_EQ(claim_one(jobs(), "later", "alice").id, last);
}

TEST_P(JobAfterTest, ThePreviewOfRecoverCountsWhatRecoverDoes) {
  std::int64_t found = 0;
  for (const auto rule : {IfFailed::cancel, IfFailed::run, IfFailed::wait}) {
    for (const bool removed : {false, true}) {
      const auto first = add(jobs(), "q");
      ASSERT_TRUE(ok(jobs().enqueue("later", std::vector<NewJob>(1200, {.depends_on = {first}, .if_failed = rule}))));
      if (removed) {
        ASSERT_TRUE(ok(jobs().remove(first)));
      } else {
        fail_finally(first);
      }
      const auto blocked = must(queues().show("later")).blocked;
      const auto preview = must(store().recovery_stats()).stale_now.unblocked;
      EXPECT_EQ(must(store().recover()).unblocked, preview) << to_string(rule) << (removed ? " removed" : " failed");
      EXPECT_EQ(must(queues().show("later")).blocked, blocked - preview);
      found += preview;
    }
  }
  EXPECT_GE(found, 600) << "there was something to count";
}

TEST_P(JobAfterTest, MoreThanAThousandPredecessorsAreRefused) {
  const auto first = add(jobs(), "q");
  EXPECT_TRUE(ok(jobs().enqueue("later", {.depends_on = std::vector<JobId>(1000, first)})));
  EXPECT_TRUE(fails(jobs().enqueue("later", {.depends_on = std::vector<JobId>(1001, first)}), Errc::invalid_argument));
}

TEST_P(JobAfterTest, AChainOfAThousandRunsInItsOrder) {
  std::vector<JobId> chain{add(jobs(), "q")};
  while (chain.size() < 1000) chain.push_back(add(jobs(), "q", {.depends_on = {chain.back()}}));
  for (const auto id : chain) {
    const auto grant = jobs().claim("q", claiming(2), by("alice"));
    ASSERT_TRUE(ok(grant));
    ASSERT_EQ(ids_of(*grant), std::vector<JobId>{id}) << "only one is free at a time";
    ASSERT_TRUE(ok(jobs().complete(id, grant->token)));
  }
  EXPECT_EQ(jobs().claim("q", claiming(), by("alice")).error().code, Errc::empty);
}

TEST_P(JobAfterTest, AFailureReachesTheEndOfAChainOfAThousand) {
  const auto first = add(jobs(), "q");
  auto last = first;
  for (int i = 1; i < 1000; ++i) last = after(last);
  fail_finally(first);
  EXPECT_EQ(state_of(jobs(), last), JobState::cancelled);
  EXPECT_EQ(must(queues().show("later")).blocked, 0);
}

TEST_P(JobAfterTest, ADiamondRunsItsLastJobOnceAfterBothSides) {
  const auto top = add(jobs(), "q");
  const auto left = after(top);
  const auto right = after(top);
  const auto bottom = add(jobs(), "later", {.depends_on = {left, right}});
  complete(top);
  complete(left, "later");
  EXPECT_EQ(must(jobs().show(bottom)).waits_for, std::vector<JobId>{right});
  complete(right, "later");
  complete(bottom, "later");
  EXPECT_FALSE(can_be_claimed());
}

TEST_P(JobAfterTest, AFailureAtTheTopOfADiamondCancelsItsLastJobOnce) {
  const auto top = add(jobs(), "q");
  const auto left = after(top);
  const auto right = after(top);
  const auto bottom = add(jobs(), "later", {.depends_on = {left, right}});
  fail_finally(top);
  EXPECT_EQ(outcomes_of(jobs(), bottom), std::vector<std::string>{"cancelled"});
  const auto why = reason(bottom);
  EXPECT_TRUE(why == "job " + std::to_string(left) + " was cancelled;" ||
              why == "job " + std::to_string(right) + " was cancelled;")
      << why;
}

TEST_P(JobAfterTest, AThousandDependentsAreFreeAtOnce) {
  const auto first = add(jobs(), "q");
  ASSERT_TRUE(ok(jobs().enqueue("later", std::vector<NewJob>(1000, NewJob{.depends_on = {first}}))));
  EXPECT_EQ(must(queues().show("later")).blocked, 1000);
  complete(first);
  EXPECT_EQ(must(queues().show("later")).available, 1000);
  EXPECT_EQ(claim(jobs(), "later", claiming(1000), by("bob")).jobs.size(), 1000U);
}

TEST_P(JobAfterTest, ALapsedPredecessorCountsLikeACancelledOne) {
  const auto late = add(jobs(), "q", {.expires_in = 1min});
  const auto retried = after(late);
  advance(1min);
  EXPECT_EQ(jobs().claim("q", claiming(), by("alice")).error().code, Errc::empty);
  EXPECT_EQ(reason(retried), "job " + std::to_string(late) + " lapsed;");
  EXPECT_TRUE(fails(jobs().retry(retried), Errc::invalid_argument)) << "its predecessor comes first";
  const auto fresh = after(late);
  EXPECT_EQ(state_of(jobs(), fresh), JobState::cancelled);
  EXPECT_EQ(reason(fresh), "job " + std::to_string(late) + " lapsed;");
  EXPECT_EQ(state_of(jobs(), after(late, IfFailed::run)), JobState::available);
  const auto waits = after(late, IfFailed::wait);
  EXPECT_EQ(state_of(jobs(), waits), JobState::blocked);
  EXPECT_EQ(must(jobs().retry(late)), JobState::available);
  EXPECT_EQ(must(jobs().retry(retried)), JobState::blocked);
  complete(late);
  EXPECT_EQ(state_of(jobs(), waits), JobState::available);
  EXPECT_EQ(state_of(jobs(), retried), JobState::available);
}

}  // namespace
}  // namespace leasehold::support
