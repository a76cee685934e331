// A job that waits for a set: it ends when the set does, in the same commit, and as the set did.
#include <gtest/gtest.h>

#include "support/chunk_fixture.h"

namespace leasehold::support {
namespace {

class ChunkJobTest : public ChunkStoreTest {
 protected:
  /// A job that waits for the set.
  JobId tied() {
    const auto id = add(jobs(), "sync");
    EXPECT_EQ(must(chunks().tie_job("orders", id)), JobState::blocked);
    return id;
  }
  JobState job_state(JobId id) { return state_of(jobs(), id); }
  std::string job_error(JobId id) { return must(jobs().show(id)).error; }
};
LEASEHOLD_ON_BOTH_STORES(ChunkJobTest);

TEST_P(ChunkJobTest, ItCompletesWithItsSetAndHasTheCounts) {
  plan(3);
  const auto id = tied();
  EXPECT_EQ(progress().job_id, id);
  EXPECT_TRUE(fails(jobs().claim("sync", claiming(), by("ann")), Errc::empty)) << "no worker gets it meanwhile";
  load("1", 10);
  load("2", 20);
  EXPECT_EQ(job_state(id), JobState::blocked);
  must(chunks().skip("orders", "3", "not needed"));
  EXPECT_EQ(job_state(id), JobState::completed);
  EXPECT_EQ(must(jobs().result(id)), R"({"set":"orders","chunks":3,"completed":2,"skipped":1,"rows":30})");
  EXPECT_FALSE(progress().job_id);
}

TEST_P(ChunkJobTest, ItFailsWhenTheSetEndsPartial) {
  plan(2);
  const auto id = tied();
  load("1");
  must(fail(claim("ann"), Verdict::fail_finally()));
  EXPECT_EQ(job_state(id), JobState::failed);
  EXPECT_EQ(job_error(id), "partial 1/2 (1 exhausted)");
  EXPECT_EQ(must(jobs().retry(id)), JobState::available) << "a dead letter like any other";
  EXPECT_EQ(claim_one(jobs(), "sync", "ann").id, id);
}

TEST_P(ChunkJobTest, ItFailsWhenTheLastChunkKillsItsLastLoader) {
  plan(1, {.max_crashes = 1});
  const auto id = tied();
  claim("ann");
  advance(31s);
  EXPECT_EQ(job_state(id), JobState::blocked);
  must(store().recover());
  EXPECT_EQ(job_state(id), JobState::failed);
}

TEST_P(ChunkJobTest, ATakeoverByAClaimSettlesItToo) {
  plan(1, {.max_crashes = 1});
  const auto id = tied();
  claim("ann");
  advance(31s);
  EXPECT_TRUE(fails(try_claim("bob"), Errc::empty));
  EXPECT_EQ(job_error(id), "partial 0/1 (1 exhausted)");
}

TEST_P(ChunkJobTest, APlanThatLeavesNothingOpenSettlesIt) {
  plan_as("1", {{"a", "1"}, {"b", "2"}});
  load("a", 5);
  const auto id = tied();
  plan_as("2", {{"a", "1"}});
  EXPECT_EQ(job_state(id), JobState::completed);
}

TEST_P(ChunkJobTest, ASetThatIsFinalAlreadySettlesItAtOnce) {
  plan(0);
  auto id = add(jobs(), "sync");
  EXPECT_EQ(must(chunks().tie_job("orders", id)), JobState::completed) << "a set of no chunks is complete";
  plan(1);
  must(fail(claim("ann"), Verdict::fail_finally()));
  id = add(jobs(), "sync");
  EXPECT_EQ(must(chunks().tie_job("orders", id)), JobState::failed);
  EXPECT_EQ(job_error(id), "partial 0/1 (1 exhausted)");
}

TEST_P(ChunkJobTest, TheJobThatPlansTheSetWaitsForItWithoutBeingCharged) {
  const auto id = add(jobs(), "sync", {.max_failures = 1, .max_crashes = 1});
  const auto held = claim_one(jobs(), "sync", "planner");
  plan(1);
  EXPECT_EQ(must(chunks().tie_job("orders", id, held.token)), JobState::blocked);
  EXPECT_EQ(outcomes_of(jobs(), id), std::vector<std::string>{"snoozed"});
  EXPECT_TRUE(fails(jobs().complete(id, held.token), Errc::lost)) << "its attempt is over";
  advance(1h);
  EXPECT_EQ(must(store().recover()).jobs, 0) << "nothing of it is left to expire";
  load("1");
  EXPECT_EQ(job_state(id), JobState::completed);
}

TEST_P(ChunkJobTest, TyingAHeldJobNeedsItsToken) {
  plan(1);
  const auto id = add(jobs(), "sync");
  const auto held = claim_one(jobs(), "sync", "ann");
  const auto before = dump();
  EXPECT_TRUE(fails(chunks().tie_job("orders", id), Errc::busy)) << "it is running";
  EXPECT_TRUE(fails(chunks().tie_job("orders", id, Token{held.token.value + 1}), Errc::lost));
  EXPECT_EQ(dump(), before);
  advance(31s);
  const auto next = claim_one(jobs(), "sync", "bob");
  EXPECT_TRUE(fails(chunks().tie_job("orders", id, held.token), Errc::lost)) << "another holder has it now";
  EXPECT_TRUE(ok(chunks().tie_job("orders", id, next.token)));
}

TEST_P(ChunkJobTest, TyingTwiceIsTying) {
  plan(1);
  const auto id = add(jobs(), "sync");
  const auto held = claim_one(jobs(), "sync", "ann");
  ASSERT_TRUE(ok(chunks().tie_job("orders", id, held.token)));
  EXPECT_EQ(must(chunks().tie_job("orders", id, held.token)), JobState::blocked) << "Promise 13";
  EXPECT_EQ(must(chunks().tie_job("orders", id)), JobState::blocked);
  load("1");
  EXPECT_EQ(outcomes_of(jobs(), id), (std::vector<std::string>{"snoozed", "completed"}));
}

TEST_P(ChunkJobTest, ADeferredJobMayBeTied) {
  plan(1);
  const auto id = add(jobs(), "sync", {.delay = 1h});
  ASSERT_TRUE(ok(chunks().tie_job("orders", id)));
  load("1");
  EXPECT_EQ(job_state(id), JobState::completed);
}

TEST_P(ChunkJobTest, SomeJobsCannotBeTied) {
  plan(1);
  const auto first = add(jobs(), "sync");
  const auto after_it = add(jobs(), "sync", {.depends_on = {first}});
  EXPECT_TRUE(fails(chunks().tie_job("orders", after_it), Errc::busy)) << "it waits for another job";
  EXPECT_TRUE(fails(chunks().tie_job("nothing", first), Errc::not_found));
  EXPECT_TRUE(fails(chunks().tie_job("orders", 4711), Errc::not_found));
  must(jobs().cancel(first));
  EXPECT_TRUE(fails(chunks().tie_job("orders", first), Errc::terminal));
}

TEST_P(ChunkJobTest, ACancelledJobSimplyNoLongerWaits) {
  plan(1);
  const auto id = tied();
  EXPECT_EQ(must(jobs().cancel(id)), JobState::cancelled);
  EXPECT_FALSE(progress().job_id);
  load("1");
  EXPECT_EQ(job_state(id), JobState::cancelled);
}

TEST_P(ChunkJobTest, ADeletedJobSimplyNoLongerWaits) {
  plan(1);
  const auto id = tied();
  ASSERT_TRUE(ok(jobs().remove(id)));
  load("1");
  EXPECT_TRUE(fails(jobs().show(id), Errc::not_found));
}

TEST_P(ChunkJobTest, SeveralJobsMayWaitForOneSet) {
  plan(1);
  const auto first = tied();
  const auto second = tied();
  load("1");
  EXPECT_EQ(job_state(first), JobState::completed);
  EXPECT_EQ(job_state(second), JobState::completed);
}

TEST_P(ChunkJobTest, ItIsNotDisturbedByWhatUnblocksOtherJobs) {
  plan(1);
  const auto id = tied();
  EXPECT_TRUE(must(jobs().show(id)).waits_for.empty()) << "it waits for no job";
  must(store().recover());
  EXPECT_TRUE(fails(jobs().retry(id), Errc::invalid_argument)) << "like any other job that is blocked";
  EXPECT_EQ(job_state(id), JobState::blocked);
  const auto next = add(jobs(), "sync", {.depends_on = {id}});
  load("1");
  EXPECT_EQ(job_state(next), JobState::available) << "and the jobs that wait for it go on after it";
}

TEST_P(ChunkJobTest, AResetLaterDoesNotTouchTheFinishedJob) {
  plan(1);
  const auto id = tied();
  load("1");
  must(chunks().reset("orders", {.which = ChunkReset::Which::all}));
  must(fail(claim("ann"), Verdict::fail_finally()));
  EXPECT_EQ(job_state(id), JobState::completed);
}

TEST_P(ChunkJobTest, AJobThatWaitsForARemovedSetFails) {
  plan(2);
  load("1");
  const auto id = tied();
  must(chunks().remove("orders"));
  EXPECT_EQ(job_state(id), JobState::failed);
  EXPECT_EQ(job_error(id), "partial 1/2 (removed)");
}

TEST_P(ChunkJobTest, PruneKeepsTheJobThatWaits) {
  plan(1);
  const auto id = tied();
  advance(240h);
  must(store().prune(1h));
  load("1");
  EXPECT_EQ(job_state(id), JobState::completed);
}

}  // namespace
}  // namespace leasehold::support
