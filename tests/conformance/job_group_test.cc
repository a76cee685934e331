// Claims take turns between the groups of a queue.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <map>
#include <mutex>
#include <thread>

#include "support/job_helpers.h"
#include "support/store_fixture.h"

namespace leasehold::support {
namespace {

class JobGroupTest : public StoreTest {
 protected:
  std::vector<JobId> add_of(const std::string& group, int count, int priority = 0) {
    std::vector<JobId> ids;
    for (int i = 0; i < count; ++i) ids.push_back(add(jobs(), "q", {.priority = priority, .group = group}));
    return ids;
  }
  /// The groups of the next claims of one job each, in order.
  std::string claimed_groups(int claims) {
    std::string groups;
    for (int i = 0; i < claims; ++i) groups += claim_one(jobs(), "q", "alice").group + " ";
    return groups;
  }
};
LEASEHOLD_ON_BOTH_STORES(JobGroupTest);

TEST_P(JobGroupTest, ClaimsTakeTurnsBetweenGroups) {
  const auto a = add_of("a", 4);
  const auto b = add_of("b", 2);
  const auto c = add_of("c", 1);
  std::vector<JobId> claimed;
  for (int i = 0; i < 7; ++i) claimed.push_back(claim_one(jobs(), "q", "alice").id);
  EXPECT_EQ(claimed, (std::vector<JobId>{a[0], b[0], c[0], a[1], b[1], a[2], a[3]}));
  EXPECT_TRUE(fails(jobs().claim("q", claiming(), by("alice")), Errc::empty));
}

TEST_P(JobGroupTest, ABatchTakesOneJobOfEachGroupThenASecondOne) {
  const auto a = add_of("a", 4);
  const auto b = add_of("b", 2);
  const auto c = add_of("c", 1);
  EXPECT_EQ(ids_of(claim(jobs(), "q", claiming(4), by("alice"))), (std::vector<JobId>{a[0], b[0], c[0], a[1]}));
  EXPECT_EQ(ids_of(claim(jobs(), "q", claiming(9), by("bob"))), (std::vector<JobId>{b[1], a[2], a[3]}));
}

TEST_P(JobGroupTest, ABatchIsFilledFromTheGroupsThatHaveJobsLeft) {
  const auto a = add_of("a", 1);
  const auto b = add_of("b", 4);
  EXPECT_EQ(ids_of(claim(jobs(), "q", claiming(3), by("alice"))), (std::vector<JobId>{a[0], b[0], b[1]}));
}

TEST_P(JobGroupTest, ANewGroupStartsWithinTwoClaimsBesideAThousandJobsOfAnother) {
  std::vector<NewJob> crowd(1000, NewJob{.payload = "x", .group = "crowd"});
  must(jobs().enqueue("q", crowd));
  // More than a handle needs to start behind the job that it claimed last.
  const auto handle = jobs();
  for (int i = 0; i < 12; ++i) claim_one(handle, "q", "alice");
  for (const auto* group : {"zebra", "ant"}) {
    const auto late = add(jobs(), "q", {.group = group});
    const std::vector<JobId> next = {claim_one(handle, "q", "alice").id, claim_one(handle, "q", "alice").id};
    EXPECT_NE(std::find(next.begin(), next.end(), late), next.end()) << group;
  }
  const auto batched = add(jobs(), "q", {.group = "batched"});
  const auto ids = ids_of(claim(handle, "q", claiming(100), by("alice")));
  EXPECT_NE(std::find(ids.begin(), ids.begin() + 2, batched), ids.begin() + 2);
}

TEST_P(JobGroupTest, ANewGroupStartsWithinTwoClaimsBesideJobsWithoutAGroup) {
  add_many(jobs(), "q", 300);
  const auto handle = jobs();
  for (int i = 0; i < 12; ++i) claim_one(handle, "q", "alice");
  const auto late = add(jobs(), "q", {.group = "late"});
  const std::vector<JobId> next = {claim_one(handle, "q", "alice").id, claim_one(handle, "q", "alice").id};
  EXPECT_NE(std::find(next.begin(), next.end(), late), next.end());
}

TEST_P(JobGroupTest, AHigherPriorityGoesFirstAndTurnsAreWithinAPriority) {
  add_of("a", 2);
  add_of("b", 2);
  add_of("c", 2, 5);
  add_of("a", 1, 5);
  EXPECT_EQ(claimed_groups(3), "a c c ");
  EXPECT_EQ(claimed_groups(4), "a b a b ");
}

TEST_P(JobGroupTest, JobsWithoutAGroupAreOneMoreGroup) {
  add_many(jobs(), "q", 300);
  add_of("a", 3);
  add_of("b", 1);
  EXPECT_EQ(claimed_groups(6), "a b  a  a ") << "a b - a - a";
  EXPECT_EQ(claim(jobs(), "q", claiming(298), by("alice")).jobs.size(), 298U);
  EXPECT_TRUE(fails(jobs().claim("q", claiming(), by("alice")), Errc::empty));
}

TEST_P(JobGroupTest, AClaimOfManyMixesBundlesAndGroups) {
  const auto plain = add_many(jobs(), "q", 300);
  const auto a = add_of("a", 2);
  const auto got = ids_of(claim(jobs(), "q", claiming(6), by("alice")));
  EXPECT_EQ(got, (std::vector<JobId>{a[0], plain[0], a[1], plain[1], plain[2], plain[3]}));
}

TEST_P(JobGroupTest, AFullGroupLosesItsTurnNotItsPlace) {
  ASSERT_TRUE(ok(queues().set("q", {.max_per_group = 1})));
  const auto a = add_of("a", 150);
  add_of("b", 2);
  EXPECT_EQ(claimed_groups(2), "a b ");
  const auto refused = jobs().claim("q", claiming(5), by("bob"));
  ASSERT_TRUE(fails(refused, Errc::at_capacity));
  EXPECT_EQ(refused.error().message.find("every waiting group of queue \"q\" is at its limit: job " +
                                         std::to_string(a.front()) + " of group \"a\" is held by alice"),
            0U)
      << refused.error().message;
  const auto c = add(jobs(), "q", {.group = "c"});
  EXPECT_EQ(ids_of(claim(jobs(), "q", claiming(5), by("bob"))), std::vector<JobId>{c});
}

TEST_P(JobGroupTest, ACapCountsTheRunningJobs) {
  ASSERT_TRUE(ok(queues().set("q", {.max_per_group = 2})));
  const auto a = add_of("a", 4);
  const auto first = claim_one(jobs(), "q", "alice");
  EXPECT_EQ(ids_of(claim(jobs(), "q", claiming(3), by("bob"))), std::vector<JobId>{a[1]});
  EXPECT_TRUE(fails(jobs().claim("q", claiming(3), by("carol")), Errc::at_capacity));
  ASSERT_TRUE(ok(jobs().complete(first.id, first.token)));
  EXPECT_EQ(ids_of(claim(jobs(), "q", claiming(3), by("carol"))), std::vector<JobId>{a[2]});
}

TEST_P(JobGroupTest, ACapCountsAcrossPriorities) {
  ASSERT_TRUE(ok(queues().set("q", {.max_per_group = 2})));
  const auto low = add_of("a", 3);
  const auto high = add_of("a", 1, 5);
  const auto b = add_of("b", 1);
  EXPECT_EQ(ids_of(claim(jobs(), "q", claiming(9), by("alice"))), (std::vector<JobId>{high[0], low[0], b[0]}));
}

TEST_P(JobGroupTest, AJobThatIsClaimedSoloGetsItsTurn) {
  add_of("a", 1);
  add_of("b", 1);
  const auto together = claim(jobs(), "q", claiming(2, 30s), by("alice"));
  ASSERT_EQ(together.jobs.size(), 2U);
  advance(31s);
  add_of("c", 20);
  add_of("d", 20);
  std::map<std::string, int> solo;
  for (int i = 0; i < 6; ++i) {
    const auto grant = claim(jobs(), "q", claiming(3), by("bob"));
    if (grant.solo) ++solo[grant.jobs.at(0).group];
    EXPECT_TRUE(!grant.solo || grant.jobs.size() == 1);
  }
  EXPECT_EQ(solo, (std::map<std::string, int>{{"a", 1}, {"b", 1}}));
}

TEST_P(JobGroupTest, AJobThatComesBackWaitsForTheTurnOfItsGroup) {
  const auto a = add_of("a", 2);
  add_of("b", 1);
  const auto first = claim_one(jobs(), "q", "alice");
  ASSERT_EQ(first.id, a[0]);
  ASSERT_TRUE(ok(jobs().release(first.id, first.token)));
  EXPECT_EQ(claimed_groups(1), "b ");
  EXPECT_EQ(claim_one(jobs(), "q", "alice").id, a[0]);
}

TEST_P(JobGroupTest, ManyClaimersTakeEveryJobOnceAndNeverOvershootTheCap) {
  constexpr int groups = 6, each = 20, cap = 2;
  ASSERT_TRUE(ok(queues().set("q", {.max_per_group = cap})));
  for (int i = 0; i < each; ++i) {
    for (int group = 0; group < groups; ++group) add(jobs(), "q", {.group = "g" + std::to_string(group)});
  }
  std::mutex mutex;
  std::map<std::string, int> running;
  std::map<JobId, int> times;
  std::atomic<bool> overshot = false;
  const auto work = [&](const std::string& name) {
    const auto own = open().jobs();
    for (;;) {
      const auto grant = own.claim("q", claiming(3), by(name));
      if (!grant && grant.error().code == Errc::empty) return;
      if (!grant) continue;
      {
        const std::lock_guard lock(mutex);
        for (const auto& job : grant->jobs) {
          ++times[job.id];
          if (++running[job.group] > cap) overshot = true;
        }
      }
      for (const auto& job : grant->jobs) {
        {
          const std::lock_guard lock(mutex);
          --running[job.group];
        }
        must(own.complete(job.id, job.token));
      }
    }
  };
  {
    std::vector<std::jthread> claimers;
    for (int i = 0; i < 6; ++i) claimers.emplace_back(work, "claimer" + std::to_string(i));
  }
  EXPECT_FALSE(overshot);
  EXPECT_EQ(times.size(), static_cast<std::size_t>(groups * each));
  EXPECT_TRUE(std::all_of(times.begin(), times.end(), [](const auto& one) { return one.second == 1; }));
}

}  // namespace
}  // namespace leasehold::support
