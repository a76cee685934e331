// Rates that never overshoot: running at once, per key, and per time.
#include <gtest/gtest.h>

#include "support/job_helpers.h"
#include "support/store_fixture.h"

namespace leasehold::support {
namespace {

class JobLimitTest : public StoreTest {};
LEASEHOLD_ON_BOTH_STORES(JobLimitTest);

TEST_P(JobLimitTest, TheSerialProcessorRunsOneAtATime) {
  ASSERT_TRUE(ok(queues().set("merge", {.max_running = 1})));
  const auto ids = add_many(jobs(), "merge", 2);
  const auto first = claim_one(jobs(), "merge", "alice");
  EXPECT_TRUE(fails(jobs().claim("merge", claiming(), by("bob")), Errc::at_capacity));
  ASSERT_TRUE(ok(jobs().complete(first.id, first.token)));
  EXPECT_EQ(claim_one(jobs(), "merge", "bob").id, ids[1]);
}

TEST_P(JobLimitTest, ACrashedProcessorFreesThePlaceWithItsJob) {
  ASSERT_TRUE(ok(queues().set("merge", {.max_running = 1})));
  const auto ids = add_many(jobs(), "merge", 2);
  claim_one(jobs(), "merge", "alice", 30s);
  advance(31s);
  EXPECT_EQ(claim_one(jobs(), "merge", "bob", 30s).id, ids[0]);
  EXPECT_TRUE(fails(jobs().claim("merge", claiming(), by("carol")), Errc::at_capacity));
}

TEST_P(JobLimitTest, AnEmptySerialQueueIsEmptyOnceItsJobIsDone) {
  ASSERT_TRUE(ok(queues().set("merge", {.max_running = 1})));
  add(jobs(), "merge");
  const auto job = claim_one(jobs(), "merge", "alice");
  EXPECT_FALSE(jobs().claim("merge", claiming(), by("bob")).ok());
  ASSERT_TRUE(ok(jobs().complete(job.id, job.token)));
  EXPECT_TRUE(fails(jobs().claim("merge", claiming(), by("bob")), Errc::empty));
}

TEST_P(JobLimitTest, ABatchStopsAtTheLimit) {
  ASSERT_TRUE(ok(queues().set("q", {.max_running = 3})));
  add_many(jobs(), "q", 10);
  EXPECT_EQ(claim(jobs(), "q", claiming(2), by("alice")).jobs.size(), 2U);
  EXPECT_EQ(claim(jobs(), "q", claiming(10), by("bob")).jobs.size(), 1U);
  EXPECT_TRUE(fails(jobs().claim("q", claiming(10), by("carol")), Errc::at_capacity));
}

TEST_P(JobLimitTest, RaisingOrDroppingTheLimitTakesEffectAtOnce) {
  ASSERT_TRUE(ok(queues().set("q", {.max_running = 1})));
  add_many(jobs(), "q", 3);
  claim_one(jobs(), "q", "alice");
  ASSERT_TRUE(ok(queues().set("q", {.max_running = 2})));
  claim_one(jobs(), "q", "bob");
  EXPECT_TRUE(fails(jobs().claim("q", claiming(), by("carol")), Errc::at_capacity));
  ASSERT_TRUE(ok(queues().set("q", {.max_running = 0})));
  EXPECT_TRUE(ok(jobs().claim("q", claiming(), by("carol"))));
}

TEST_P(JobLimitTest, OneJobPerKeyAndOthersPassBy) {
  ASSERT_TRUE(ok(queues().set("q", {.max_per_group = 1})));
  const auto a1 = add(jobs(), "q", {.group = "a"});
  const auto a2 = add(jobs(), "q", {.group = "a"});
  const auto b1 = add(jobs(), "q", {.group = "b"});
  const auto free = add(jobs(), "q");
  const auto grant = claim(jobs(), "q", claiming(10), by("alice"));
  EXPECT_EQ(ids_of(grant), (std::vector<JobId>{a1, b1, free}));
  EXPECT_TRUE(fails(jobs().claim("q", claiming(10), by("bob")), Errc::at_capacity));
  ASSERT_TRUE(ok(jobs().complete(a1, grant.token)));
  EXPECT_EQ(claim_one(jobs(), "q", "bob").id, a2);
}

TEST_P(JobLimitTest, AFullGroupInFrontDoesNotHideTheOthers) {
  ASSERT_TRUE(ok(queues().set("q", {.max_per_group = 2})));
  for (int i = 0; i < 150; ++i) add(jobs(), "q", {.priority = 1, .group = "crowd"});
  const auto b = add(jobs(), "q", {.group = "b"});
  const auto free = add(jobs(), "q");
  const auto c = add(jobs(), "q", {.group = "c"});
  const auto urgent = add(jobs(), "q", {.priority = 5, .group = "c"});
  EXPECT_EQ(claim_one(jobs(), "q", "alice").id, urgent);
  EXPECT_EQ(claim(jobs(), "q", claiming(2), by("alice")).jobs.size(), 2U) << "the crowd fills its places";
  EXPECT_EQ(ids_of(claim(jobs(), "q", claiming(2), by("bob"))), (std::vector<JobId>{free, b}));
  EXPECT_EQ(ids_of(claim(jobs(), "q", claiming(10), by("bob"))), std::vector<JobId>{c});
  EXPECT_TRUE(fails(jobs().claim("q", claiming(10), by("bob")), Errc::at_capacity));
}

TEST_P(JobLimitTest, ABatchFillsThePlacesOfEveryGroup) {
  ASSERT_TRUE(ok(queues().set("q", {.max_per_group = 2})));
  std::vector<std::vector<JobId>> ids;
  for (const auto* group : {"a", "b", "c"}) {
    ids.emplace_back();
    for (int i = 0; i < 60; ++i) ids.back().push_back(add(jobs(), "q", {.group = group}));
  }
  const std::vector<JobId> wanted = {ids[0][0], ids[1][0], ids[2][0], ids[0][1], ids[1][1], ids[2][1]};
  EXPECT_EQ(ids_of(claim(jobs(), "q", claiming(100), by("alice"))), wanted);
}

TEST_P(JobLimitTest, ACapPerGroupThatComesLaterCountsForWaitingJobs) {
  const auto a1 = add(jobs(), "q", {.group = "a"});
  const auto a2 = add(jobs(), "q", {.group = "a"});
  const auto b = add(jobs(), "q", {.group = "b"});
  ASSERT_TRUE(ok(queues().set("q", {.max_per_group = 1})));
  EXPECT_EQ(ids_of(claim(jobs(), "q", claiming(10), by("alice"))), (std::vector<JobId>{a1, b}));
  EXPECT_TRUE(fails(jobs().claim("q", claiming(), by("bob")), Errc::at_capacity));
  ASSERT_TRUE(ok(queues().set("q", {.max_per_group = 0})));
  EXPECT_EQ(claim_one(jobs(), "q", "bob").id, a2);
}

TEST_P(JobLimitTest, AJobThatComesBackToAFullQueueKeepsItsGroup) {
  ASSERT_TRUE(ok(queues().set("q", {.max_per_group = 1})));
  const auto a1 = add(jobs(), "q", {.group = "a"});
  const auto a2 = add(jobs(), "q", {.group = "a"});
  const auto first = claim_one(jobs(), "q", "alice");
  ASSERT_EQ(first.id, a1);
  ASSERT_TRUE(ok(jobs().release(first.id, first.token)));
  const auto again = claim_one(jobs(), "q", "alice", 30s);
  EXPECT_EQ(again.id, a1);
  EXPECT_TRUE(fails(jobs().claim("q", claiming(), by("bob")), Errc::at_capacity));
  advance(31s);
  EXPECT_EQ(claim_one(jobs(), "q", "bob").id, a1) << "a crash gives the place back";
  EXPECT_TRUE(ok(jobs().cancel(a2)));
  EXPECT_EQ(must(queues().show("q")).available, 0);
}

TEST_P(JobLimitTest, TheRateIsKept) {
  ASSERT_TRUE(ok(queues().set("q", {.rate_count = 2, .rate_period = 10s})));
  add_many(jobs(), "q", 6);
  EXPECT_EQ(claim(jobs(), "q", claiming(10, 1h), by("alice")).jobs.size(), 2U);
  const auto refused = jobs().claim("q", claiming(1, 1h), by("alice"));
  ASSERT_TRUE(fails(refused, Errc::rate_limited));
  EXPECT_EQ(refused.error().retry_at, now() + 5s);
  advance(5s);
  EXPECT_EQ(claim(jobs(), "q", claiming(10, 1h), by("alice")).jobs.size(), 1U);
  EXPECT_TRUE(fails(jobs().claim("q", claiming(1, 1h), by("alice")), Errc::rate_limited));
  advance(1min);
  EXPECT_EQ(claim(jobs(), "q", claiming(10, 1h), by("alice")).jobs.size(), 2U) << "rest does not pile up";
}

TEST_P(JobLimitTest, TheQuickestRateIsOneClaimPerMicrosecond) {
  EXPECT_TRUE(fails(queues().set("q", {.rate_count = 1'000'001, .rate_period = 1s}), Errc::invalid_argument));
  ASSERT_TRUE(ok(queues().set("q", {.rate_count = 1'000'000, .rate_period = 1s})));
  const auto id = add(jobs(), "q");
  EXPECT_EQ(claim_one(jobs(), "q", "alice").id, id);
}

TEST_P(JobLimitTest, AnEmptyQueueSpendsNoRate) {
  ASSERT_TRUE(ok(queues().set("q", {.rate_count = 1, .rate_period = 10s})));
  EXPECT_TRUE(fails(jobs().claim("q", claiming(), by("alice")), Errc::empty));
  add(jobs(), "q");
  EXPECT_TRUE(ok(jobs().claim("q", claiming(), by("alice"))));
}

TEST_P(JobLimitTest, ShowPrintsTheSettings) {
  ASSERT_TRUE(ok(queues().set(
      "q", {.max_running = 4, .max_per_group = 2, .rate_count = 10, .rate_period = 1min, .default_ttl = 2min})));
  ASSERT_TRUE(ok(queues().set("q", {.max_per_group = 0})));
  const auto info = must(queues().show("q"));
  EXPECT_EQ(info.max_running, 4);
  EXPECT_EQ(info.max_per_group, 0);
  EXPECT_EQ(info.rate_count, 10);
  EXPECT_EQ(info.rate_period, Duration(1min));
  EXPECT_EQ(info.default_ttl, Duration(2min));
  EXPECT_TRUE(fails(queues().show("never-heard-of"), Errc::not_found));
}

}  // namespace
}  // namespace leasehold::support
