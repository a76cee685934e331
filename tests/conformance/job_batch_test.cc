// Many jobs in one call: claimed, claimed again, settled, each with the answer that is its own. Promises 13 and 15.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <map>

#include "support/job_helpers.h"
#include "support/store_fixture.h"

namespace leasehold::support {
namespace {

/// "completed", "completed before", "lost expired", "not_found".
std::string summary_of(const Result<JobSettled>& answer) {
  if (answer) return std::string(to_string(answer->state)) + (answer->replayed ? " before" : "");
  const auto& error = answer.error();
  return std::string(to_string(error.code)) +
         (error.lost_reason ? std::string(" ") + to_string(*error.lost_reason) : "");
}

/// The jobs that a claim returns, one line each.
std::string described(const JobGrant& grant) {
  std::string lines;
  for (const auto& job : grant.jobs) {
    lines += std::to_string(job.id) + " " + std::to_string(job.token.value) + " " + job.queue + " " + job.payload +
             " of " + std::to_string(job.priority) + ", attempt " + std::to_string(job.attempt) + ", made at " +
             leasehold::to_string(job.created_at) + "\n";
  }
  return lines;
}

class JobBatchTest : public StoreTest {
 protected:
  using Settle = std::function<Result<JobSettled>(JobId, Token)>;

  /// Jobs of three holders. One of them has gone silent, and what it had was taken back. Of the others' jobs every
  /// tenth was settled before, and another tenth is to be cancelled. One job does not exist.
  void give_out(const Settle& settle) {
    add_many(jobs(), "q", 999);
    const auto late = claim(jobs(), "q", claiming(100, 30s), by("late"));
    const auto alice = claim(jobs(), "q", claiming(700, 1h), by("alice"));
    const auto bob = claim(jobs(), "q", claiming(199, 1h), by("bob"));
    advance(31s);
    ASSERT_TRUE(ok(store().recover()));
    for (const auto& job : late.jobs) note(job.id, job.token, "lost");
    for (const auto* grant : {&alice, &bob}) {
      for (std::size_t i = 0; i < grant->jobs.size(); ++i) {
        const auto& job = grant->jobs[i];
        if (i % 10 == 3) must(settle(job.id, job.token));
        if (i % 10 == 7) must(jobs().cancel(job.id, "not needed"));
        note(job.id, job.token, i % 10 == 3 ? "settled before" : i % 10 == 7 ? "wanted cancelled" : "running");
      }
    }
    note(999'999'999, alice.token, "unknown");
    // In an order that is neither theirs nor that of the grants.
    std::sort(verdicts_.begin(), verdicts_.end(),
              [](const auto& a, const auto& b) { return a.id * 7919 % 1009 < b.id * 7919 % 1009; });
  }

  /// Each verdict has its answer, in its place.
  void expect_answers(const Result<std::vector<Result<JobSettled>>>& answers,
                      const std::map<std::string, std::string>& words) {
    ASSERT_TRUE(ok(answers));
    ASSERT_EQ(answers->size(), verdicts_.size());
    for (std::size_t i = 0; i < answers->size(); ++i) {
      const auto id = verdicts_[i].id;
      EXPECT_EQ(summary_of((*answers)[i]), words.at(kinds_.at(id))) << id << " was " << kinds_.at(id);
    }
  }

  /// Some job of this kind.
  [[nodiscard]] JobId one_that_was(const std::string& kind) const {
    return std::find_if(kinds_.begin(), kinds_.end(), [&](const auto& entry) { return entry.second == kind; })->first;
  }
  std::string count(const std::string& what) {
    return under_test().scalar("SELECT count(*) FROM " + under_test().table(what));
  }

  std::vector<Settlement> verdicts_;

 private:
  void note(JobId id, Token token, const std::string& kind) {
    verdicts_.push_back({.id = id, .token = token, .verdict = Verdict::complete("done")});
    kinds_[id] = kind;
  }

  std::map<JobId, std::string> kinds_;
};
LEASEHOLD_ON_BOTH_STORES(JobBatchTest);

TEST_P(JobBatchTest, Promise15_AThousandCompletionsEachWithItsOwnAnswer) {
  give_out([this](JobId id, Token token) { return jobs().complete(id, token); });
  ASSERT_EQ(verdicts_.size(), 1000U);
  expect_answers(jobs().settle(verdicts_), {{"running", "completed"},
                                            {"settled before", "completed before"},
                                            {"wanted cancelled", "completed"},
                                            {"lost", "lost expired"},
                                            {"unknown", "not_found"}});
  EXPECT_EQ(must(queues().show("q")).available, 100) << "the jobs that were taken back";
  EXPECT_EQ(must(queues().show("q")).running, 0);
  EXPECT_EQ(count("job_grant"), "0");
  EXPECT_EQ(must(jobs().result(one_that_was("running"))), "done");
  EXPECT_EQ(must(jobs().result(one_that_was("wanted cancelled"))), "done");
  EXPECT_TRUE(fails(jobs().result(one_that_was("settled before")), Errc::not_found)) << "it was completed without";
  const auto rows = dump();
  expect_answers(jobs().settle(verdicts_), {{"running", "completed before"},
                                            {"settled before", "completed before"},
                                            {"wanted cancelled", "completed before"},
                                            {"lost", "lost expired"},
                                            {"unknown", "not_found"}});
  EXPECT_EQ(dump(), rows) << "said twice, and something was changed";
}

TEST_P(JobBatchTest, Promise15_AThousandReleasesEachWithItsOwnAnswer) {
  give_out([this](JobId id, Token token) { return jobs().release(id, token); });
  ASSERT_EQ(verdicts_.size(), 1000U);
  expect_answers(jobs().settle(with_verdict(verdicts_, Verdict::release())), {{"running", "available"},
                                                                              {"settled before", "available before"},
                                                                              {"wanted cancelled", "cancelled"},
                                                                              {"lost", "lost expired"},
                                                                              {"unknown", "not_found"}});
  EXPECT_EQ(must(queues().show("q")).available, 909) << "all but the 90 that were wanted cancelled";
  EXPECT_EQ(must(queues().show("q")).running, 0);
  EXPECT_EQ(count("job_grant"), "0");
  EXPECT_EQ(state_of(jobs(), one_that_was("wanted cancelled")), JobState::cancelled);
  EXPECT_EQ(outcomes_of(jobs(), one_that_was("running")), std::vector<std::string>{"released"});
}

TEST_P(JobBatchTest, Promise13_AVerdictGivenTwiceInOneCallCountsOnce) {
  add_many(jobs(), "q", 3);
  const auto grant = claim(jobs(), "q", claiming(3), by("alice"));
  std::vector<Settlement> verdicts;
  for (const std::size_t i : {0U, 1U, 0U, 2U, 1U}) verdicts.push_back({.id = grant.jobs[i].id, .token = grant.token});
  std::vector<std::string> answers;
  for (const auto& answer : must(jobs().settle(verdicts))) answers.push_back(summary_of(answer));
  EXPECT_EQ(answers,
            (std::vector<std::string>{"completed", "completed", "completed before", "completed", "completed before"}));
}

TEST_P(JobBatchTest, AClaimOfAThousandHasAllOfEach) {
  add_many(jobs(), "q", 998);
  const auto urgent = add(jobs(), "q", {.payload = "urgent", .priority = 7});
  advance(5s);
  const auto empty = add(jobs(), "q", {.payload = ""});
  const auto again = claim_one(jobs(), "q", "alice");
  ASSERT_TRUE(ok(jobs().release(again.id, again.token)));
  const auto grant = claim(jobs(), "q", claiming(1000), by("alice"));
  ASSERT_EQ(grant.jobs.size(), 1000U);
  EXPECT_EQ(grant.jobs.front().id, urgent);
  EXPECT_EQ(grant.jobs.front().payload, "urgent");
  EXPECT_EQ(grant.jobs.front().priority, 7);
  EXPECT_EQ(grant.jobs.front().attempt, 2);
  EXPECT_EQ(grant.jobs.front().created_at, now() - 5s);
  EXPECT_EQ(grant.jobs.back().id, empty);
  EXPECT_EQ(grant.jobs.back().payload, "");
  EXPECT_EQ(grant.jobs.back().created_at, now());
  for (std::size_t i = 1; i < 999; ++i) {
    EXPECT_EQ(grant.jobs[i].payload, std::to_string(i - 1));
    EXPECT_EQ(grant.jobs[i].attempt, 1);
    EXPECT_EQ(grant.jobs[i].token, grant.token);
  }
}

TEST_P(JobBatchTest, Promise13_AClaimOfManyRepeatedGivesTheSameJobs) {
  add_many(jobs(), "q", 1000);
  add(jobs(), "q", {.payload = "first of all", .priority = 3});
  auto options = claiming(600, 30s);
  options.request_id = "request-1";
  const auto first = claim(jobs(), "q", options, by("alice"));
  advance(10s);
  const auto again = claim(jobs(), "q", options, by("alice"));
  EXPECT_FALSE(first.replayed);
  EXPECT_TRUE(again.replayed);
  EXPECT_EQ(described(again), described(first));
  EXPECT_EQ(again.lease_id, first.lease_id);
  EXPECT_EQ(again.expires_at, first.expires_at);
  EXPECT_EQ(must(queues().show("q")).available, 401) << "nothing more was taken";
}

TEST_P(JobBatchTest, Promise13_AClaimOfManyRepeatedGivesWhatIsNotSettledYet) {
  add_many(jobs(), "q", 4);
  auto options = claiming(3, 30s);
  options.request_id = "request-1";
  const auto first = claim(jobs(), "q", options, by("alice"));
  ASSERT_TRUE(ok(jobs().complete(first.jobs[1].id, first.token)));
  EXPECT_EQ(ids_of(claim(jobs(), "q", options, by("alice"))), (std::vector<JobId>{first.jobs[0].id, first.jobs[2].id}));
}

TEST_P(JobBatchTest, ConsecutiveClaimsNoticeAPauseAtOnce) {
  add_many(jobs(), "q", 40);
  for (int i = 0; i < 12; ++i) claim_one(jobs(), "q", "alice");
  ASSERT_TRUE(ok(queues().pause("q", "maintenance")));
  EXPECT_TRUE(fails(jobs().claim("q", claiming(), by("alice")), Errc::paused));
  EXPECT_TRUE(fails(jobs().claim("q", claiming(5), by("alice")), Errc::paused));
  ASSERT_TRUE(ok(queues().resume("q")));
  for (int i = 0; i < 9; ++i) claim(jobs(), "q", claiming(2), by("alice"));
  ASSERT_TRUE(ok(queues().set("q", {.max_running = 30})));
  EXPECT_TRUE(fails(jobs().claim("q", claiming(2), by("alice")), Errc::at_capacity));
}

}  // namespace
}  // namespace leasehold::support
