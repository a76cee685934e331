// What an enqueue does with a job that has its dedupe key.
#include <gtest/gtest.h>

#include <array>
#include <thread>
#include <vector>

#include "support/job_helpers.h"
#include "support/store_fixture.h"

namespace leasehold::support {
namespace {

class JobDedupeTest : public StoreTest {
 protected:
  Enqueued put(NewJob job) {
    job.dedupe_key = "k";
    return must(jobs().enqueue("q", job));
  }
};
LEASEHOLD_ON_BOTH_STORES(JobDedupeTest);

TEST_P(JobDedupeTest, KeepLeavesTheJobAsItIs) {
  const auto first = put({.payload = "old", .delay = 1h});
  const auto second = put({.payload = "new", .priority = 5});
  EXPECT_EQ(second.id, first.id);
  EXPECT_FALSE(second.created);
  EXPECT_FALSE(second.updated);
  EXPECT_EQ(second.state, JobState::deferred);
}

TEST_P(JobDedupeTest, ReplaceChangesAWaitingJob) {
  const auto first = put({.payload = "old", .timeout = 1min, .metadata = R"({"a":1})"});
  const auto other = add(jobs(), "q", {.priority = 3});
  const auto second =
      put({.payload = "new", .priority = 5, .dedupe_mode = DedupeMode::replace, .metadata = R"({"b":2})"});
  EXPECT_EQ(second.id, first.id);
  EXPECT_FALSE(second.created);
  EXPECT_TRUE(second.updated);
  EXPECT_EQ(second.state, JobState::available);
  const auto job = claim_one(jobs(), "q", "alice");
  EXPECT_EQ(job.id, first.id) << "it has the higher priority now";
  EXPECT_EQ(job.payload, "new");
  EXPECT_EQ(job.metadata, R"({"b":2})");
  EXPECT_FALSE(job.timeout);
  EXPECT_EQ(claim_one(jobs(), "q", "alice").id, other);
}

TEST_P(JobDedupeTest, ReplaceMovesTheTimeBothWays) {
  const auto first = put({.payload = "old"});
  EXPECT_EQ(put({.payload = "later", .delay = 1h, .dedupe_mode = DedupeMode::replace}).state, JobState::deferred);
  EXPECT_TRUE(fails(jobs().claim("q", claiming(), by("alice")), Errc::empty));
  EXPECT_EQ(put({.payload = "now", .dedupe_mode = DedupeMode::replace}).state, JobState::available);
  const auto job = claim_one(jobs(), "q", "alice");
  EXPECT_EQ(job.id, first.id);
  EXPECT_EQ(job.payload, "now");
}

TEST_P(JobDedupeTest, AJobWithAHolderStaysAsItIs) {
  const auto first = put({.payload = "old"});
  const auto held = claim_one(jobs(), "q", "alice", 30s);
  for (const auto mode : {DedupeMode::replace, DedupeMode::debounce}) {
    const auto second = put({.payload = "new", .delay = 1h, .dedupe_mode = mode});
    EXPECT_EQ(second.id, first.id);
    EXPECT_FALSE(second.updated);
    EXPECT_EQ(second.state, JobState::running);
  }
  advance(31s);
  const auto late = put({.payload = "new", .dedupe_mode = DedupeMode::replace});
  EXPECT_FALSE(late.updated);
  EXPECT_EQ(late.state, JobState::expired);
  EXPECT_EQ(claim_one(jobs(), "q", "bob").payload, "old");
}

TEST_P(JobDedupeTest, AJobThatComesBackCanBeReplacedAndKeepsItsHistory) {
  const auto first = put({.payload = "old", .max_failures = 2});
  const auto held = claim_one(jobs(), "q", "alice");
  ASSERT_TRUE(ok(jobs().settle({held.id, held.token, Verdict::retry_in(1h, "no luck")})));
  const auto second = put({.payload = "new", .dedupe_mode = DedupeMode::replace});
  EXPECT_TRUE(second.updated);
  const auto again = claim_one(jobs(), "q", "alice");
  EXPECT_EQ(again.id, first.id);
  EXPECT_EQ(again.payload, "new");
  EXPECT_EQ(again.attempt, 2);
  EXPECT_GT(again.token, held.token);
  EXPECT_EQ(must(jobs().fail(again.id, again.token)).state, JobState::failed) << "the failure before counts";
}

TEST_P(JobDedupeTest, ABlockedJobIsReplacedAndStillWaits) {
  const auto before = add(jobs(), "first");
  NewJob job{.payload = "old"};
  job.depends_on = {before};
  const auto first = put(job);
  const auto second = put({.payload = "new", .delay = 1h, .dedupe_mode = DedupeMode::replace});
  EXPECT_EQ(second.id, first.id);
  EXPECT_TRUE(second.updated);
  EXPECT_EQ(second.state, JobState::blocked);
  const auto done = claim_one(jobs(), "first", "alice");
  ASSERT_TRUE(ok(jobs().complete(done.id, done.token)));
  EXPECT_EQ(state_of(jobs(), first.id), JobState::deferred);
  advance(1h);
  EXPECT_EQ(claim_one(jobs(), "q", "alice").payload, "new");
}

TEST_P(JobDedupeTest, AJobOfAGroupKeepsItsGroup) {
  put({.payload = "old", .group = "g"});
  EXPECT_TRUE(put({.payload = "new", .priority = 2, .dedupe_mode = DedupeMode::replace}).updated);
  const auto job = claim_one(jobs(), "q", "alice");
  EXPECT_EQ(job.payload, "new");
  EXPECT_EQ(job.group, "g");
}

TEST_P(JobDedupeTest, DebounceMovesTheTimeAndNothingElse) {
  const auto first = put({.payload = "old", .delay = 10s});
  for (int i = 0; i < 3; ++i) {
    advance(8s);
    const auto again = put({.payload = "new", .priority = 5, .delay = 10s, .dedupe_mode = DedupeMode::debounce});
    EXPECT_EQ(again.id, first.id);
    EXPECT_TRUE(again.updated);
    EXPECT_EQ(again.state, JobState::deferred);
  }
  advance(9s);
  EXPECT_TRUE(fails(jobs().claim("q", claiming(), by("alice")), Errc::empty));
  advance(1s);
  const auto job = claim_one(jobs(), "q", "alice");
  EXPECT_EQ(job.payload, "old");
  EXPECT_EQ(job.priority, 0);
}

TEST_P(JobDedupeTest, AKeyStaysTakenForItsPeriodAlsoAfterTheEnd) {
  const auto first = put({.payload = "a", .dedupe_for = 10min});
  const auto held = claim_one(jobs(), "q", "alice");
  ASSERT_TRUE(ok(jobs().complete(held.id, held.token)));
  advance(9min);
  for (const auto mode : {DedupeMode::keep, DedupeMode::replace}) {
    const auto second = put({.payload = "b", .dedupe_mode = mode, .dedupe_for = 10min});
    EXPECT_EQ(second.id, first.id);
    EXPECT_FALSE(second.created || second.updated);
    EXPECT_EQ(second.state, JobState::completed);
  }
  advance(1min);
  const auto third = put({.payload = "c", .dedupe_for = 10min});
  EXPECT_TRUE(third.created);
  EXPECT_NE(third.id, first.id);
  EXPECT_FALSE(put({.payload = "d"}).created);
}

TEST_P(JobDedupeTest, AnUnfinishedJobKeepsItsKeyBeyondThePeriod) {
  const auto first = put({.payload = "a", .dedupe_for = 1min});
  advance(1h);
  EXPECT_EQ(put({.payload = "b"}).id, first.id);
  const auto held = claim_one(jobs(), "q", "alice");
  ASSERT_TRUE(ok(jobs().complete(held.id, held.token)));
  EXPECT_TRUE(put({.payload = "c"}).created);
}

TEST_P(JobDedupeTest, ADeadLetterKeepsItsKeyForThePeriodAndCanBeRetriedWithIt) {
  const auto first = put({.payload = "a", .dedupe_for = 10min});
  const auto held = claim_one(jobs(), "q", "alice");
  ASSERT_TRUE(ok(jobs().settle({held.id, held.token, Verdict::fail_finally("broken")})));
  EXPECT_EQ(put({.payload = "b"}).state, JobState::failed);
  EXPECT_EQ(must(jobs().redrive("q")), 1);
  EXPECT_EQ(put({.payload = "b"}).state, JobState::available);
  ASSERT_TRUE(ok(jobs().cancel(first.id)));
  advance(10min);
  EXPECT_TRUE(put({.payload = "c"}).created);
  EXPECT_TRUE(fails(jobs().retry(first.id), Errc::invalid_argument)) << "another job has its key now";
}

TEST_P(JobDedupeTest, ARetryTakesTheKeyOfAJobThatWasNotStartedInTime) {
  const auto first = put({});
  ASSERT_TRUE(ok(jobs().cancel(first.id)));
  const auto second = put({.expires_in = 1min});
  ASSERT_TRUE(second.created);
  EXPECT_TRUE(fails(jobs().retry(first.id), Errc::invalid_argument)) << "the second has the key";
  advance(1min);
  EXPECT_EQ(must(jobs().retry(first.id)), JobState::available);
  EXPECT_EQ(must(jobs().show(second.id)).state, JobState::lapsed);
  EXPECT_EQ(put({}).id, first.id);
}

TEST_P(JobDedupeTest, PruningKeepsAJobWhoseKeyIsTaken) {
  const auto first = put({.payload = "a", .dedupe_for = 3h});
  const auto held = claim_one(jobs(), "q", "alice");
  ASSERT_TRUE(ok(jobs().complete(held.id, held.token)));
  advance(2h);
  must(store().prune(1h));
  EXPECT_EQ(put({.payload = "b"}).id, first.id);
  advance(2h);
  must(store().prune(1h));
  EXPECT_TRUE(fails(jobs().show(first.id), Errc::not_found));
  EXPECT_TRUE(put({.payload = "c"}).created);
}

TEST_P(JobDedupeTest, ModesAndPeriodsNeedAKey) {
  EXPECT_TRUE(fails(jobs().enqueue("q", NewJob{.dedupe_mode = DedupeMode::replace}), Errc::invalid_argument));
  EXPECT_TRUE(fails(jobs().enqueue("q", NewJob{.dedupe_for = Duration(1min)}), Errc::invalid_argument));
}

TEST_P(JobDedupeTest, AClaimGetsTheWholeReplacementOrTheReplacementFindsItRunning) {
  for (int round = 0; round < 20; ++round) {
    const auto queue = "race" + std::to_string(round);
    const auto first = must(jobs().enqueue(queue, NewJob{.payload = "old", .dedupe_key = "k"}));
    std::optional<Enqueued> replaced;
    std::optional<Job> claimed;
    {
      std::jthread replacer([&] {
        replaced = must(open().jobs().enqueue(
            queue, NewJob{.payload = "new", .priority = 1, .dedupe_key = "k", .dedupe_mode = DedupeMode::replace}));
      });
      std::jthread claimer([&] {
        const auto own = open().jobs();
        while (!claimed) {
          const auto grant = own.claim(queue, claiming(), by("alice"));
          if (grant) claimed = grant->jobs.at(0);
        }
      });
    }
    EXPECT_EQ(replaced->id, first.id);
    EXPECT_EQ(claimed->id, first.id);
    EXPECT_EQ(claimed->payload, replaced->updated ? "new" : "old");
    EXPECT_EQ(claimed->priority, replaced->updated ? 1 : 0);
  }
}

TEST_P(JobDedupeTest, OfTwoReplacementsAtTheSameTimeOneIsTheLastAndWhole) {
  for (int round = 0; round < 20; ++round) {
    const auto queue = "race" + std::to_string(round);
    const auto first = must(jobs().enqueue(queue, NewJob{.payload = "0", .dedupe_key = "k"}));
    std::array<Enqueued, 2> replaced;
    {
      std::vector<std::jthread> replacers;
      for (int i = 0; i < 2; ++i) {
        replacers.emplace_back([&, i] {
          replaced.at(i) = must(open().jobs().enqueue(queue, NewJob{.payload = std::to_string(i + 1),
                                                                    .priority = i + 1,
                                                                    .dedupe_key = "k",
                                                                    .dedupe_mode = DedupeMode::replace}));
        });
      }
    }
    for (const auto& one : replaced) {
      EXPECT_EQ(one.id, first.id);
      EXPECT_TRUE(one.updated);
    }
    const auto job = claim_one(jobs(), queue, "alice");
    EXPECT_EQ(job.id, first.id);
    EXPECT_NE(job.payload, "0");
    EXPECT_EQ(job.payload, std::to_string(job.priority));
    EXPECT_TRUE(fails(jobs().claim(queue, claiming(), by("bob")), Errc::empty)) << "it is in one place";
  }
}

TEST_P(JobDedupeTest, OneOfTwoTakesAKeyWhosePeriodIsOver) {
  for (int round = 0; round < 20; ++round) {
    const auto queue = "race" + std::to_string(round);
    const NewJob job{.dedupe_key = "k", .dedupe_for = 10min};
    const auto first = must(jobs().enqueue(queue, job));
    const auto held = claim_one(jobs(), queue, "alice");
    ASSERT_TRUE(ok(jobs().complete(held.id, held.token)));
    advance(10min);
    std::array<Enqueued, 2> taken;
    {
      std::vector<std::jthread> takers;
      for (int i = 0; i < 2; ++i) {
        takers.emplace_back([&, i] { taken.at(i) = must(open().jobs().enqueue(queue, job)); });
      }
    }
    EXPECT_NE(taken[0].created, taken[1].created);
    EXPECT_EQ(taken[0].id, taken[1].id);
    EXPECT_NE(taken[0].id, first.id);
    advance(10min - 1s);
    EXPECT_EQ(must(jobs().enqueue(queue, job)).id, taken[0].id) << "the period began anew";
  }
}

}  // namespace
}  // namespace leasehold::support
