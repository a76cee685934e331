// Many verdicts in one call, of every kind: each has its own answer, and a refused one does not touch the others.
#include <gtest/gtest.h>

#include <map>

#include "support/chunk_fixture.h"
#include "support/job_helpers.h"

namespace leasehold::support {
namespace {

class SettlementTest : public ChunkStoreTest {
 protected:
  std::vector<Settlement> claimed(int count) {
    add_many(jobs(), "q", count);
    std::vector<Settlement> settlements;
    for (const auto& job : support::claim(jobs(), "q", claiming(count), by("ann")).jobs) {
      settlements.push_back({.id = job.id, .token = job.token});
    }
    return settlements;
  }
  std::vector<ChunkSettlement> claimed_chunks(int count) {
    plan(count);
    std::vector<ChunkSettlement> settlements;
    for (const auto& chunk : claim_many("ann", count).chunks) {
      settlements.push_back({.set = chunk.set, .key = chunk.key, .token = chunk.token});
    }
    return settlements;
  }
};
LEASEHOLD_ON_BOTH_STORES(SettlementTest);

TEST_P(SettlementTest, Promise15_VerdictsOfEveryKindInOneCall) {
  auto settlements = claimed(6);
  settlements[1].verdict = Verdict::fail("no route");
  settlements[2].verdict = Verdict::fail_finally("never");
  settlements[3].verdict = Verdict::release();
  settlements[4].verdict = Verdict::snooze(1h);
  settlements[5].verdict = Verdict::retry_in(2h, "later");
  const auto answers = must(jobs().settle(settlements));
  const std::vector<JobState> expected = {JobState::completed, JobState::deferred, JobState::failed,
                                          JobState::available, JobState::deferred, JobState::deferred};
  ASSERT_EQ(answers.size(), expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i) {
    ASSERT_TRUE(ok(answers[i])) << i;
    EXPECT_EQ(answers[i]->id, settlements[i].id);
    EXPECT_EQ(answers[i]->state, expected[i]) << i;
    EXPECT_EQ(state_of(jobs(), settlements[i].id), expected[i]) << i;
  }
  EXPECT_EQ(answers[4]->due_at, now() + 1h);
  EXPECT_EQ(answers[5]->due_at, now() + 2h);
  EXPECT_EQ(must(jobs().show(settlements[2].id)).error, "never");
  EXPECT_EQ(must(queues().show("q")).running, 0);
  EXPECT_EQ(under_test().scalar("SELECT count(*) FROM " + under_test().table("job_grant")), "0");
}

TEST_P(SettlementTest, Promise13_TheSameVerdictsAgainChangeNothing) {
  auto settlements = claimed(4);
  settlements[0].verdict = Verdict::fail("no route");
  settlements[1].verdict = Verdict::snooze(1h);
  settlements[2].verdict = Verdict::fail_finally("never");
  for (const auto& answer : must(jobs().settle(settlements))) ASSERT_TRUE(ok(answer));
  const auto rows = dump();
  for (const auto& answer : must(jobs().settle(settlements))) {
    ASSERT_TRUE(ok(answer));
    EXPECT_TRUE(answer->replayed);
  }
  EXPECT_EQ(dump(), rows);
}

TEST_P(SettlementTest, Promise14_ALateFailureAmongManyIsLostAndTheOthersCount) {
  auto settlements = with_verdict(claimed(100), Verdict::fail("no route"));
  settlements[7].token.value -= 1;
  settlements[70].id = 999'999'999;
  const auto answers = must(jobs().settle(settlements));
  for (std::size_t i = 0; i < answers.size(); ++i) {
    if (i == 7) {
      EXPECT_TRUE(fails(answers[i], Errc::lost));
    } else if (i == 70) {
      EXPECT_TRUE(fails(answers[i], Errc::not_found));
    } else {
      ASSERT_TRUE(ok(answers[i])) << i;
      EXPECT_EQ(answers[i]->state, JobState::deferred);
    }
  }
  EXPECT_EQ(state_of(jobs(), settlements[7].id), JobState::running);
}

TEST_P(SettlementTest, TwoVerdictsOnOneJobCountInTheirOrder) {
  auto settlements = claimed(1);
  settlements.push_back(settlements[0]);
  settlements[1].verdict = Verdict::fail("too late");
  const auto answers = must(jobs().settle(settlements));
  EXPECT_TRUE(ok(answers[0]));
  EXPECT_TRUE(lost(answers[1], LostReason::finished));
  EXPECT_EQ(state_of(jobs(), settlements[0].id), JobState::completed);
}

TEST_P(SettlementTest, AVerdictThatAJobCannotHaveIsRefusedAndNothingHappens) {
  const auto settlements = claimed(2);
  const auto rows = dump();
  for (const auto& verdict : {Verdict::skip("not needed"), Verdict::complete().with_rows(7), Verdict::snooze(-1s),
                              Verdict{.cursor = "1"}, Verdict::complete(std::string((1 << 20) + 1, 'x'))}) {
    EXPECT_TRUE(fails(jobs().settle({settlements[1].id, settlements[1].token, verdict}), Errc::invalid_argument));
    EXPECT_TRUE(fails(jobs().settle(with_verdict(settlements, verdict)), Errc::invalid_argument));
  }
  EXPECT_EQ(dump(), rows);
}

TEST_P(SettlementTest, ChunksOfEveryVerdictInOneCall) {
  auto settlements = claimed_chunks(6);
  settlements[0].verdict = Verdict::complete().with_rows(10);
  settlements[1].verdict = Verdict::fail("no route");
  settlements[2].verdict = Verdict::release();
  settlements[3].verdict = Verdict::skip("empty");
  settlements[4].verdict = Verdict::snooze(1h);
  settlements[5].token.value -= 1;
  const auto answers = chunks().settle(settlements);
  ASSERT_EQ(answers.size(), 6U);
  const std::vector<ChunkState> expected = {ChunkState::completed, ChunkState::deferred, ChunkState::available,
                                            ChunkState::skipped};
  for (std::size_t i = 0; i < expected.size(); ++i) {
    ASSERT_TRUE(ok(answers[i])) << i;
    EXPECT_EQ(answers[i]->key, settlements[i].key);
    EXPECT_EQ(answers[i]->state, expected[i]) << i;
    EXPECT_EQ(state(settlements[i].key), expected[i]) << i;
  }
  EXPECT_TRUE(fails(answers[4], Errc::invalid_argument)) << "a chunk cannot be snoozed";
  EXPECT_TRUE(fails(answers[5], Errc::lost));
  EXPECT_EQ(chunk(settlements[0].key).rows, 10);
  EXPECT_EQ(state(settlements[4].key), ChunkState::running);
}

TEST_P(SettlementTest, ACallHasALeaseOnlyWhereItIsAClaim) {
  const auto lease = must(jobs().open_lease(30s, by("ann")));
  const Call attached{.lease = lease};
  const auto rows = dump();
  EXPECT_TRUE(fails(locks().acquire("deploy", {}, attached), Errc::invalid_argument));
  EXPECT_TRUE(fails(store().sessions().open({}, attached), Errc::invalid_argument));
  EXPECT_TRUE(fails(store().schedules().acquire("refresh", {}, attached), Errc::invalid_argument));
  EXPECT_TRUE(fails(store().rates().take("api", {.every = 1ms}, attached), Errc::invalid_argument));
  EXPECT_TRUE(fails(locks().acquire("deploy", {}, {.timeout = 0s}), Errc::invalid_argument));
  EXPECT_EQ(dump(), rows);
}

}  // namespace
}  // namespace leasehold::support
