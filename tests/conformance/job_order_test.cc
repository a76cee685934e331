// Jobs that know each other: dedupe keys and predecessors.
#include <gtest/gtest.h>

#include "support/job_helpers.h"
#include "support/store_fixture.h"

namespace leasehold::support {
namespace {

class JobOrderTest : public StoreTest {};
LEASEHOLD_ON_BOTH_STORES(JobOrderTest);

TEST_P(JobOrderTest, ADedupeKeyIsUniqueWhileItsJobIsNotFinal) {
  const auto first = must(jobs().enqueue("q", {.payload = "a", .dedupe_key = "k"}));
  const auto rows = dump();
  const auto second = must(jobs().enqueue("q", {.payload = "b", .dedupe_key = "k"}));
  EXPECT_TRUE(first.created);
  EXPECT_FALSE(second.created);
  EXPECT_EQ(second.id, first.id);
  EXPECT_EQ(dump(), rows);
  EXPECT_TRUE(must(jobs().enqueue("other", {.dedupe_key = "k"})).created) << "another queue, another key";

  const auto job = claim_one(jobs(), "q", "alice");
  EXPECT_FALSE(must(jobs().enqueue("q", {.dedupe_key = "k"})).created) << "running is not final";
  ASSERT_TRUE(ok(jobs().complete(job.id, job.token)));
  EXPECT_TRUE(must(jobs().enqueue("q", {.dedupe_key = "k"})).created);
}

TEST_P(JobOrderTest, EveryEndFreesTheDedupeKey) {
  const auto failed = add(jobs(), "q", {.dedupe_key = "failed"});
  const auto job = claim_one(jobs(), "q", "alice");
  ASSERT_TRUE(ok(jobs().settle({failed, job.token, Verdict::fail_finally()})));
  const auto cancelled = add(jobs(), "q", {.dedupe_key = "cancelled"});
  ASSERT_TRUE(ok(jobs().cancel(cancelled)));
  const auto deleted = add(jobs(), "q", {.dedupe_key = "deleted"});
  ASSERT_TRUE(ok(jobs().remove(deleted)));
  const auto crashed = add(jobs(), "crash", {.dedupe_key = "crashed", .max_crashes = 1});
  claim_one(jobs(), "crash", "alice", 30s);
  advance(31s);
  ASSERT_TRUE(ok(store().recover()));
  EXPECT_EQ(state_of(jobs(), crashed), JobState::failed);
  for (const auto* key : {"failed", "cancelled", "deleted"}) {
    EXPECT_TRUE(must(jobs().enqueue("q", {.dedupe_key = key})).created) << key;
  }
  EXPECT_TRUE(must(jobs().enqueue("crash", {.dedupe_key = "crashed"})).created);
}

TEST_P(JobOrderTest, ARetriedJobTakesItsKeyAgainOrIsRefused) {
  const auto first = add(jobs(), "q", {.dedupe_key = "k"});
  ASSERT_TRUE(ok(jobs().cancel(first)));
  ASSERT_TRUE(ok(jobs().retry(first)));
  EXPECT_EQ(must(jobs().enqueue("q", {.dedupe_key = "k"})).id, first);
  ASSERT_TRUE(ok(jobs().cancel(first)));
  const auto second = add(jobs(), "q", {.dedupe_key = "k"});
  EXPECT_NE(second, first);
  EXPECT_TRUE(fails(jobs().retry(first), Errc::invalid_argument));
}

TEST_P(JobOrderTest, AJobWaitsForAllItsPredecessors) {
  const auto a = add(jobs(), "q");
  const auto b = add(jobs(), "q");
  const auto last = must(jobs().enqueue("q", {.priority = 9, .depends_on = {a, b}}));
  EXPECT_EQ(last.state, JobState::blocked);
  EXPECT_EQ(must(jobs().show(last.id)).waits_for, (std::vector<JobId>{a, b}));
  const auto grant = claim(jobs(), "q", claiming(10), by("alice"));
  EXPECT_EQ(ids_of(grant), (std::vector<JobId>{a, b}));
  ASSERT_TRUE(ok(jobs().complete(a, grant.token)));
  EXPECT_EQ(state_of(jobs(), last.id), JobState::blocked);
  ASSERT_TRUE(ok(jobs().complete(b, grant.token)));
  EXPECT_EQ(claim_one(jobs(), "q", "alice").id, last.id);
}

TEST_P(JobOrderTest, PredecessorsCompletedInOneBatchFreeTheirSuccessor) {
  const auto ids = add_many(jobs(), "q", 3);
  const auto last = add(jobs(), "q", {.depends_on = ids});
  const auto grant = claim(jobs(), "q", claiming(10), by("alice"));
  std::vector<Settlement> verdicts;
  for (const auto& job : grant.jobs) verdicts.push_back({.id = job.id, .token = job.token});
  for (const auto& answer : must(jobs().settle(verdicts))) EXPECT_TRUE(ok(answer));
  EXPECT_EQ(claim_one(jobs(), "q", "alice").id, last);
}

TEST_P(JobOrderTest, CompletedPredecessorsDoNotBlock) {
  add(jobs(), "q");
  const auto job = claim_one(jobs(), "q", "alice");
  ASSERT_TRUE(ok(jobs().complete(job.id, job.token)));
  EXPECT_EQ(must(jobs().enqueue("q", {.depends_on = {job.id}})).state, JobState::available);
}

TEST_P(JobOrderTest, ADelayedSuccessorStillWaitsForItsTime) {
  const auto first = add(jobs(), "q");
  const auto second = add(jobs(), "q", {.delay = 1h, .depends_on = {first}});
  const auto job = claim_one(jobs(), "q", "alice");
  ASSERT_TRUE(ok(jobs().complete(first, job.token)));
  EXPECT_EQ(state_of(jobs(), second), JobState::deferred);
  advance(1h);
  EXPECT_EQ(claim_one(jobs(), "q", "alice").id, second);
}

TEST_P(JobOrderTest, AnUnknownPredecessorIsRefused) {
  const auto refused = jobs().enqueue("q", {.depends_on = {424242}});
  ASSERT_TRUE(fails(refused, Errc::invalid_argument));
  EXPECT_NE(refused.error().message.find("424242"), std::string::npos);
  EXPECT_TRUE(fails(jobs().claim("q", claiming(), by("alice")), Errc::empty));
}

}  // namespace
}  // namespace leasehold::support
