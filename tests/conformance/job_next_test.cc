// A verdict and the claim of the next job in one step: each has its own answer, and together they cost one commit.
// Promises 4, 10 and 13.
#include <gtest/gtest.h>

#include <mutex>
#include <set>
#include <thread>

#include "support/broken_store.h"
#include "support/job_helpers.h"
#include "support/store_fixture.h"

namespace leasehold::support {
namespace {

class JobNextTest : public StoreTest {
 protected:
  NextJob hand_in(const Job& job, const Verdict& verdict = Verdict::complete(), const std::string& queue = "q") {
    return jobs().settle_and_claim({job.id, job.token, verdict}, queue, claiming(), by("alice"));
  }
};
LEASEHOLD_ON_BOTH_STORES(JobNextTest);

TEST_P(JobNextTest, TheJobIsSettledAndTheNextIsClaimed) {
  const auto ids = add_many(jobs(), "q", 2);
  const auto job = claim_one(jobs(), "q", "alice");
  const auto next = hand_in(job, Verdict::complete("42"));
  ASSERT_TRUE(ok(next.settled));
  ASSERT_TRUE(ok(next.grant));
  EXPECT_EQ(next.settled->state, JobState::completed);
  EXPECT_EQ(must(jobs().result(ids[0])), "42");
  EXPECT_EQ(ids_of(*next.grant), std::vector<JobId>{ids[1]});
  EXPECT_TRUE(ok(jobs().complete(ids[1], next.grant->token)));
}

TEST_P(JobNextTest, EveryVerdictCanBeFollowedByAClaim) {
  const auto ids = add_many(jobs(), "q", 4);
  auto next = hand_in(claim_one(jobs(), "q", "alice"), Verdict::snooze(1h));
  EXPECT_EQ(must(next.settled).state, JobState::deferred);
  next = hand_in(must(next.grant).jobs[0], Verdict::retry_in(2h, "not yet"));
  EXPECT_EQ(must(next.settled).due_at, now() + 2h);
  next = hand_in(must(next.grant).jobs[0], Verdict::fail_finally("never"));
  EXPECT_EQ(must(next.settled).state, JobState::failed);
  EXPECT_EQ(must(jobs().show(ids[2])).error, "never");
  next = hand_in(must(next.grant).jobs[0], Verdict::release());
  EXPECT_EQ(must(next.settled).state, JobState::available);
  EXPECT_EQ(ids_of(must(next.grant)), std::vector<JobId>{ids[3]}) << "it is the only one that can be had";
}

TEST_P(JobNextTest, WithNothingLeftTheVerdictCounts) {
  const auto id = add(jobs(), "q");
  const auto next = hand_in(claim_one(jobs(), "q", "alice"));
  EXPECT_TRUE(ok(next.settled));
  EXPECT_TRUE(fails(next.grant, Errc::empty));
  EXPECT_EQ(state_of(jobs(), id), JobState::completed);
}

TEST_P(JobNextTest, Promise04_ALateVerdictIsLostAndTheNextJobIsClaimed) {
  const auto ids = add_many(jobs(), "q", 2);
  const auto late = claim_one(jobs(), "q", "alice");
  advance(31s);
  const auto taken_over = claim_one(jobs(), "q", "bob");
  ASSERT_EQ(taken_over.id, ids[0]);
  const auto next = hand_in(late);
  EXPECT_TRUE(lost(next.settled, LostReason::expired));
  EXPECT_EQ(ids_of(must(next.grant)), std::vector<JobId>{ids[1]});
  EXPECT_TRUE(ok(jobs().complete(taken_over.id, taken_over.token)));
}

TEST_P(JobNextTest, ThePlaceThatTheVerdictFreesIsForTheClaim) {
  must(queues().set("q", {.max_running = 1}));
  const auto ids = add_many(jobs(), "q", 2);
  const auto next = hand_in(claim_one(jobs(), "q", "alice"));
  EXPECT_TRUE(ok(next.settled));
  EXPECT_EQ(ids_of(must(next.grant)), std::vector<JobId>{ids[1]});
}

TEST_P(JobNextTest, AJobThatWaitedForThisOneCanBeTheNext) {
  const auto first = add(jobs(), "q");
  const auto second = add(jobs(), "q", {.depends_on = {first}});
  const auto next = hand_in(claim_one(jobs(), "q", "alice"));
  EXPECT_TRUE(ok(next.settled));
  EXPECT_EQ(ids_of(must(next.grant)), std::vector<JobId>{second});
}

TEST_P(JobNextTest, TheNextMayComeFromAnotherQueueAndBeSeveral) {
  add(jobs(), "q");
  const auto ids = add_many(jobs(), "other", 3);
  const auto job = claim_one(jobs(), "q", "alice");
  const auto next =
      jobs().settle_and_claim({job.id, job.token, Verdict::complete()}, "other", claiming(2), by("alice"));
  EXPECT_TRUE(ok(next.settled));
  EXPECT_EQ(ids_of(must(next.grant)), (std::vector<JobId>{ids[0], ids[1]}));
}

TEST_P(JobNextTest, WithBadArgumentsNeitherHappens) {
  add_many(jobs(), "q", 2);
  const auto job = claim_one(jobs(), "q", "alice");
  const auto rows = dump();
  for (const auto& next : {hand_in(job, Verdict::snooze(-1s)), hand_in(job, Verdict::complete(), ""),
                           hand_in(job, Verdict::complete(std::string((1 << 20) + 1, 'x')))}) {
    EXPECT_TRUE(fails(next.settled, Errc::invalid_argument));
    EXPECT_TRUE(fails(next.grant, Errc::invalid_argument));
  }
  EXPECT_EQ(dump(), rows);
}

TEST_P(JobNextTest, TheVerdictCountsWhileItWaitsForTheNextJob) {
  const auto id = add(jobs(), "q");
  const auto job = claim_one(jobs(), "q", "alice");
  std::optional<NextJob> next;
  std::jthread waiting([&] {
    auto options = claiming();
    options.wait = 1min;
    next = jobs().settle_and_claim({job.id, job.token, Verdict::complete()}, "q", options, by("alice"));
  });
  while (state_of(jobs(), id) != JobState::completed) std::this_thread::yield();
  const auto later = add(jobs(), "q");
  waiting.join();
  EXPECT_TRUE(ok(next->settled));
  EXPECT_EQ(ids_of(must(next->grant)), std::vector<JobId>{later});
}

TEST_P(JobNextTest, ManyCallersAtOnceMissNothingAndShareNothing) {
  constexpr std::size_t count = 300;
  const auto ids = add_many(jobs(), "q", count);
  std::mutex mutex;
  std::multiset<JobId> done;
  {
    std::vector<std::jthread> callers;
    for (int i = 0; i < 16; ++i) {
      callers.emplace_back([&, name = "caller-" + std::to_string(i)] {
        auto grant = jobs().claim("q", claiming(), by(name));
        while (grant || grant.error().code == Errc::busy) {
          if (!grant) {
            grant = jobs().claim("q", claiming(), by(name));
            continue;
          }
          const auto job = grant->jobs[0];
          auto next = jobs().settle_and_claim({job.id, job.token, Verdict::complete()}, "q", claiming(), by(name));
          EXPECT_TRUE(ok(next.settled));
          {
            const std::lock_guard lock(mutex);
            done.insert(job.id);
          }
          grant = std::move(next.grant);
        }
        EXPECT_TRUE(fails(grant, Errc::empty));
      });
    }
  }
  EXPECT_EQ(done, std::multiset<JobId>(ids.begin(), ids.end()));
  EXPECT_EQ(must(queues().show("q")).running, 0);
}

TEST_P(JobNextTest, BothAreInOneCommit) {
  if (GetParam() == StoreKind::sqlite) return;  // a row does not tell its transaction; the combiner's test does
  const auto ids = add_many(jobs(), "q", 2);
  const auto next = hand_in(claim_one(jobs(), "q", "alice"));
  const auto token = std::to_string(must(next.grant).token.value);
  EXPECT_EQ(under_test().scalar("SELECT s.xmin = g.xmin FROM " + under_test().table("settled") + " AS s, " +
                                under_test().table("job_grant") + " AS g WHERE s.job_id = " + std::to_string(ids[0]) +
                                " AND g.token = " + token),
            "t");
}

class JobNextDoubtTest : public WithBrokenStore<StoreTest> {
 protected:
  void SetUp() override {
    WithBrokenStore::SetUp();
    add_many(jobs(), "q", 3);
    job_ = claim_one(jobs(), "q", "alice");
  }
  NextJob hand_in() {
    return broken_->jobs().settle_and_claim({job_.id, job_.token, Verdict::complete()}, "q", claiming(), by("alice"));
  }

  Job job_;
};
LEASEHOLD_ON_BOTH_STORES(JobNextDoubtTest);

TEST_P(JobNextDoubtTest, EachIsAskedOnce) {
  EXPECT_TRUE(ok(hand_in().grant));
  EXPECT_EQ(faults_->calls("job_settle"), 1);
  EXPECT_EQ(faults_->calls("job_claim"), 1);
}

TEST_P(JobNextDoubtTest, Promise13_AVerdictWhoseReplyWasLostCountsOnce) {
  faults_->fail_next(Fault::lose_reply, 1, "job_settle");
  const auto next = hand_in();
  EXPECT_EQ(must(next.settled).state, JobState::completed);
  EXPECT_TRUE(must(next.settled).replayed);
  EXPECT_FALSE(must(next.grant).replayed);
  EXPECT_EQ(faults_->calls("job_claim"), 1);
  EXPECT_EQ(outcomes_of(jobs(), job_.id), std::vector<std::string>{"completed"});
}

TEST_P(JobNextDoubtTest, Promise13_AClaimWhoseReplyWasLostTakesNoSecondJob) {
  faults_->fail_next(Fault::lose_reply, 1, "job_claim");
  const auto next = hand_in();
  EXPECT_FALSE(must(next.settled).replayed);
  EXPECT_TRUE(must(next.grant).replayed);
  EXPECT_EQ(must(queues().show("q")).available, 1);
}

TEST_P(JobNextDoubtTest, Promise10_EveryVerdictInDoubtIsReported) {
  faults_->fail_always(Fault::fail_before_send);
  const auto next = hand_in();
  EXPECT_TRUE(fails(next.settled, Errc::unavailable));
  EXPECT_TRUE(fails(next.grant, Errc::unavailable));
  EXPECT_EQ(state_of(jobs(), job_.id), JobState::running);
}

}  // namespace
}  // namespace leasehold::support
