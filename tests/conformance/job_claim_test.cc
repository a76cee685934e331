// Enqueueing and claiming: order, time, and what a claim may say. Promises 1, 3, 8, 11 and 13.
#include <gtest/gtest.h>

#include <set>

#include "support/job_helpers.h"
#include "support/store_fixture.h"

namespace leasehold::support {
namespace {

class JobClaimTest : public StoreTest {};
LEASEHOLD_ON_BOTH_STORES(JobClaimTest);

TEST_P(JobClaimTest, AClaimHasTheJobAndTheEndOfItsLease) {
  const auto id = add(jobs(), "mail", {.payload = "to ann", .priority = 7});
  advance(3s);
  const auto grant = claim(jobs(), "mail", claiming(1, 30s), by("alice"));
  ASSERT_EQ(grant.jobs.size(), 1U);
  const auto& job = grant.jobs.front();
  EXPECT_EQ(job.id, id);
  EXPECT_EQ(job.queue, "mail");
  EXPECT_EQ(job.payload, "to ann");
  EXPECT_EQ(job.priority, 7);
  EXPECT_EQ(job.attempt, 1);
  EXPECT_EQ(job.created_at, now() - 3s);
  EXPECT_EQ(job.token, grant.token);
  EXPECT_EQ(grant.holder.name, "alice");
  EXPECT_EQ(grant.ttl, Duration(30s));
  EXPECT_EQ(grant.expires_at, now() + 30s);
  EXPECT_FALSE(grant.replayed);
}

TEST_P(JobClaimTest, HigherPriorityFirstThenEarliest) {
  const auto low = add(jobs(), "q", {.priority = -1});
  const auto first = add(jobs(), "q");
  const auto second = add(jobs(), "q");
  const auto high = add(jobs(), "q", {.priority = 5});
  EXPECT_EQ(ids_of(claim(jobs(), "q", claiming(10), by("alice"))), (std::vector<JobId>{high, first, second, low}));
}

TEST_P(JobClaimTest, QueuesDoNotMix) {
  add(jobs(), "one");
  EXPECT_TRUE(fails(jobs().claim("two", claiming(), by("alice")), Errc::empty));
  EXPECT_TRUE(ok(jobs().claim("one", claiming(), by("alice"))));
}

TEST_P(JobClaimTest, Promise11_EmptyAndHeldNeverLookAlike) {
  EXPECT_TRUE(fails(jobs().claim("q", claiming(), by("alice")), Errc::empty));
  ASSERT_TRUE(ok(queues().set("q", {.max_running = 1})));
  add(jobs(), "q");
  add(jobs(), "q");
  claim_one(jobs(), "q", "alice");
  const auto refused = jobs().claim("q", claiming(), by("bob"));
  ASSERT_TRUE(fails(refused, Errc::at_capacity));
  ASSERT_TRUE(refused.error().held_by.has_value());
  EXPECT_EQ(refused.error().held_by->holder.name, "alice");
  EXPECT_EQ(refused.error().held_by->holder.host, "host-of-alice");
  EXPECT_EQ(refused.error().held_by->expires_at, now() + 30s);
}

TEST_P(JobClaimTest, ADelayedJobIsNotThereBeforeItsTime) {
  const auto id = add(jobs(), "q", {.delay = 10s});
  EXPECT_EQ(state_of(jobs(), id), JobState::deferred);
  const auto early = jobs().claim("q", claiming(), by("alice"));
  ASSERT_TRUE(fails(early, Errc::empty));
  EXPECT_EQ(early.error().retry_at, now() + 10s);
  advance(10s - 1us);
  EXPECT_TRUE(fails(jobs().claim("q", claiming(), by("alice")), Errc::empty));
  advance(1us);
  EXPECT_EQ(claim_one(jobs(), "q", "alice").id, id);
}

TEST_P(JobClaimTest, RunAtIsAMomentOfTheStoresClock) {
  const auto id = add(jobs(), "q", {.run_at = now() + 1h});
  EXPECT_EQ(must(jobs().show(id)).due_at, now() + 1h);
  advance(1h);
  EXPECT_EQ(claim_one(jobs(), "q", "alice").id, id);
  EXPECT_EQ(must(jobs().enqueue("q", {.run_at = now() - 1h})).state, JobState::available);
}

TEST_P(JobClaimTest, ADueJobKeepsItsPriority) {
  const auto late = add(jobs(), "q", {.priority = 9, .delay = 5s});
  const auto early = add(jobs(), "q");
  advance(5s);
  EXPECT_EQ(ids_of(claim(jobs(), "q", claiming(2), by("alice"))), (std::vector<JobId>{late, early}));
}

TEST_P(JobClaimTest, Promise01_StateIsDerivedFromTheLeaseAndTheClock) {
  const auto id = add(jobs(), "q");
  EXPECT_EQ(state_of(jobs(), id), JobState::available);
  claim_one(jobs(), "q", "alice", 30s);
  const auto rows = dump();
  EXPECT_EQ(state_of(jobs(), id), JobState::running);
  advance(30s - 1us);
  EXPECT_EQ(state_of(jobs(), id), JobState::running);
  advance(1us);
  EXPECT_EQ(state_of(jobs(), id), JobState::expired);
  EXPECT_EQ(dump(), rows) << "the passing of time wrote something";
}

TEST_P(JobClaimTest, Promise03_EveryGrantOfAJobHasAGreaterToken) {
  add(jobs(), "q");
  auto job = claim_one(jobs(), "q", "alice");
  auto last = job.token;
  for (int i = 0; i < 3; ++i) {
    ASSERT_TRUE(ok(jobs().release(job.id, job.token)));
    job = claim_one(jobs(), "q", "bob");
    EXPECT_GT(job.token, last);
    last = job.token;
  }
  under_test().advance(-1h);
  ASSERT_TRUE(ok(jobs().release(job.id, job.token)));
  EXPECT_GT(claim_one(jobs(), "q", "carol").token, last) << "the clock fell back, the token may not";
}

TEST_P(JobClaimTest, Promise08_FinishedWorkIsNeverClaimed) {
  const auto done = add(jobs(), "q");
  const auto job = claim_one(jobs(), "q", "alice");
  ASSERT_TRUE(ok(jobs().complete(job.id, job.token)));
  advance(24h);
  EXPECT_TRUE(fails(jobs().claim("q", claiming(), by("bob")), Errc::empty));
  EXPECT_EQ(state_of(jobs(), done), JobState::completed);
  EXPECT_TRUE(fails(jobs().heartbeat(999999, {1}), Errc::not_found));
  EXPECT_TRUE(fails(jobs().complete(999999, {1}), Errc::not_found));
}

TEST_P(JobClaimTest, Promise13_ARepeatedClaimGivesTheSameJobsWithWhatRemains) {
  add_many(jobs(), "q", 3);
  auto options = claiming(2, 30s);
  options.request_id = "request-1";
  const auto first = claim(jobs(), "q", options, by("alice"));
  advance(10s);
  const auto again = claim(jobs(), "q", options, by("alice"));
  EXPECT_TRUE(again.replayed);
  EXPECT_EQ(ids_of(again), ids_of(first));
  EXPECT_EQ(again.token, first.token);
  EXPECT_EQ(again.expires_at, first.expires_at);
  EXPECT_EQ(again.jobs.front().payload, "0");
  EXPECT_EQ(must(queues().show("q")).available, 1) << "nothing more was taken";
}

TEST_P(JobClaimTest, Promise13_ARepeatedClaimWhoseLeaseEndedIsLost) {
  add(jobs(), "q");
  auto options = claiming(1, 30s);
  options.request_id = "request-1";
  const auto grant = claim(jobs(), "q", options, by("alice"));
  ASSERT_TRUE(ok(jobs().complete(grant.jobs[0].id, grant.token)));
  EXPECT_TRUE(fails(jobs().claim("q", options, by("alice")), Errc::lost));
}

TEST_P(JobClaimTest, ABatchIsAllOrNone) {
  const std::string too_big(1024 * 1024 + 1, 'x');
  const std::vector<NewJob> batch{{.payload = "fine"}, {.payload = too_big}};
  EXPECT_TRUE(fails(jobs().enqueue("q", batch), Errc::invalid_argument));
  EXPECT_TRUE(fails(jobs().claim("q", claiming(), by("alice")), Errc::empty));
}

TEST_P(JobClaimTest, AMixedBatchKeepsItsOrder) {
  const std::vector<NewJob> batch{{.payload = "a"},
                                  {.payload = "b", .dedupe_key = "k"},
                                  {.payload = "c", .priority = 1},
                                  {.payload = "d", .dedupe_key = "k"},
                                  {.payload = "e", .delay = 5s}};
  const auto made = must(jobs().enqueue("q", batch));
  ASSERT_EQ(made.size(), 5U);
  EXPECT_FALSE(made[3].created);
  EXPECT_EQ(made[3].id, made[1].id);
  EXPECT_EQ(made[4].state, JobState::deferred);
  std::vector<std::string> payloads;
  for (const auto& job : claim(jobs(), "q", claiming(10), by("alice")).jobs) payloads.push_back(job.payload);
  EXPECT_EQ(payloads, (std::vector<std::string>{"c", "a", "b"}));
}

TEST_P(JobClaimTest, APayloadMayHoldAnyBytes) {
  std::string bytes;
  for (int i = 0; i < 256; ++i) bytes.push_back(static_cast<char>(i));
  const auto id = add(jobs(), "q", {.payload = bytes});
  const std::vector<NewJob> two{{.payload = bytes}, {.payload = ""}};
  ASSERT_TRUE(ok(jobs().enqueue("q", two)));
  const auto grant = claim(jobs(), "q", claiming(3), by("alice"));
  EXPECT_EQ(grant.jobs.at(0).payload, bytes);
  EXPECT_EQ(grant.jobs.at(1).payload, bytes);
  EXPECT_EQ(grant.jobs.at(2).payload, "");
  EXPECT_EQ(must(jobs().payload(id)), bytes);
}

TEST_P(JobClaimTest, AThousandAtOnce) {
  const auto ids = add_many(jobs(), "q", 2500);
  std::set<JobId> seen;
  for (int i = 0; i < 3; ++i) {
    for (const auto& job : claim(jobs(), "q", claiming(1000), by("alice")).jobs) seen.insert(job.id);
  }
  EXPECT_EQ(seen.size(), ids.size());
  EXPECT_TRUE(fails(jobs().claim("q", claiming(1000), by("alice")), Errc::empty));
}

TEST_P(JobClaimTest, APausedQueueGivesNothingAndReportsIt) {
  add(jobs(), "q");
  ASSERT_TRUE(ok(queues().pause("q", "deploy")));
  const auto refused = jobs().claim("q", claiming(), by("alice"));
  ASSERT_TRUE(fails(refused, Errc::paused));
  EXPECT_NE(refused.error().message.find("deploy"), std::string::npos) << refused.error().message;
  ASSERT_TRUE(ok(queues().resume("q")));
  EXPECT_TRUE(ok(jobs().claim("q", claiming(), by("alice"))));
}

TEST_P(JobClaimTest, TheQueuesOwnLeaseIsTheDefault) {
  add_many(jobs(), "q", 2);
  EXPECT_EQ(claim(jobs(), "q", claiming(1, Duration(0)), by("alice")).ttl, Duration(5min));
  ASSERT_TRUE(ok(queues().set("q", {.default_ttl = 90s})));
  EXPECT_EQ(claim(jobs(), "q", claiming(1, Duration(0)), by("alice")).ttl, Duration(90s));
}

}  // namespace
}  // namespace leasehold::support
