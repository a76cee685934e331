// Bundles, and calls that need one job of a bundle: which call unties which bundle, and which call waits for which.
// Alice does something in a transaction that stays open, bob comes meanwhile. The bundles are 1-3, 4-6 and 7-9.
#include <gtest/gtest.h>

#include "sql/sql_fixture.h"

namespace leasehold::support {
namespace {

class JobBundleLockTest : public SqlTest {
 protected:
  void SetUp() override {
    observer_.run(here("SELECT leasehold_internal.job_enqueue_many('q', '{a,b,c,d,e,f,g,h,i}')"));
  }

  std::string tied() {
    return observer_.scalar(
        here("SELECT coalesce(string_agg(first_id || '-' || last_id, ' ' ORDER BY first_id), '') "
             "FROM leasehold_internal.bundle"));
  }
  std::string untied() {
    return observer_.scalar(
        here("SELECT coalesce(string_agg(job_id::text, ' ' ORDER BY job_id), '') FROM leasehold_internal.ready"));
  }
  std::string claim_of(int max) const {
    return here(
        "SELECT CASE outcome WHEN 'granted' THEN job_ids::text ELSE outcome END FROM "
        "leasehold_internal.job_claim('q', " +
        std::to_string(max) + ")");
  }
  std::string claim_of_one() const {
    return here("SELECT coalesce(job_ids[1]::text, outcome) FROM leasehold_internal.job_claim('q')");
  }
  std::string call(const std::string& what) const { return here("SELECT leasehold_internal." + what); }
  std::string state_of(int job) {
    return observer_.scalar(here("SELECT state FROM leasehold_internal.job_show(" + std::to_string(job) + ")"));
  }
  /// Every job is in one place.
  void expect_nothing_lost() {
    EXPECT_EQ(observer_.scalar(here(
                  "SELECT string_agg(j.id::text, ' ') FROM leasehold_internal.job AS j WHERE 1 <> "
                  "(SELECT count(*) FROM leasehold_internal.ready AS r WHERE r.job_id = j.id) + "
                  "(SELECT count(*) FROM leasehold_internal.bundle AS b WHERE j.id BETWEEN b.first_id AND b.last_id) + "
                  "(SELECT count(DISTINCT b.job_id) FROM leasehold_internal.blocked AS b WHERE b.job_id = j.id) + "
                  "(SELECT count(*) FROM leasehold_internal.settled AS s WHERE s.job_id = j.id AND s.final) + "
                  "(SELECT count(*) FROM leasehold_internal.job_grant AS g WHERE j.id = ANY (g.jobs) AND NOT EXISTS "
                  "(SELECT FROM leasehold_internal.settled AS s WHERE s.job_id = j.id AND s.token = g.token))")),
              "NULL");
  }
};

TEST_F(JobBundleLockTest, ACancelUntiesTheBundleOfItsJob) {
  EXPECT_EQ(bob_.scalar(here("SELECT outcome FROM leasehold_internal.job_cancel(5)")), "cancelled");
  EXPECT_EQ(tied(), "1-3 7-9");
  EXPECT_EQ(untied(), "4 6");
  EXPECT_EQ(bob_.scalar(claim_of(100)), "{1,2,3,4,6,7,8,9}");
  expect_nothing_lost();
}

TEST_F(JobBundleLockTest, ADeletedJobIsGoneAndItsNeighboursStay) {
  EXPECT_EQ(bob_.scalar(call("job_remove(4)")), "removed");
  EXPECT_EQ(untied(), "5 6");
  EXPECT_EQ(bob_.scalar(call("job_remove(4)")), "not_found");
  EXPECT_EQ(bob_.scalar(claim_of(100)), "{1,2,3,5,6,7,8,9}");
}

TEST_F(JobBundleLockTest, APurgeCancelsTiedJobsUpToItsNumber) {
  EXPECT_EQ(bob_.scalar(call("queue_purge('q', 4)")), "4");
  EXPECT_EQ(tied(), "5-6 7-9");
  EXPECT_EQ(state_of(4), "cancelled");
  EXPECT_EQ(bob_.scalar(call("queue_purge('q', 100)")), "5");
  EXPECT_EQ(bob_.scalar(call("queue_purge('q', 100)")), "0");
  EXPECT_EQ(bob_.scalar(claim_of(100)), "empty");
  expect_nothing_lost();
}

TEST_F(JobBundleLockTest, CancelledAndPurgedJobsCanBeRetried) {
  bob_.run(call("job_cancel(2)"));
  bob_.run(call("queue_purge('q', 100)"));
  EXPECT_EQ(bob_.scalar(call("job_retry(2)")), "retried");
  EXPECT_EQ(bob_.scalar(call("job_retry(8)")), "retried");
  EXPECT_EQ(bob_.scalar(call("job_retry(8)")), "available");
  EXPECT_EQ(bob_.scalar(claim_of(100)), "{2,8}");
}

TEST_F(JobBundleLockTest, ATiedJobIsAvailableAndNeedsNoRetry) {
  EXPECT_EQ(bob_.scalar(call("job_retry(5)")), "available");
  EXPECT_EQ(tied(), "1-3 4-6 7-9");
}

TEST_F(JobBundleLockTest, AJobThatDependsOnABundledJobRunsWhenItHasCompleted) {
  EXPECT_EQ(
      bob_.scalar(here("SELECT state FROM leasehold_internal.job_enqueue('after', 'x', p_depends_on => '{5,8}')")),
      "blocked");
  EXPECT_EQ(tied(), "1-3 4-6 7-9") << "it was only locked";
  EXPECT_EQ(bob_.scalar(claim_of(9)), "{1,2,3,4,5,6,7,8,9}");
  for (const auto* job : {"5", "8"}) {
    EXPECT_EQ(state_of(10), "blocked");
    bob_.run(here(std::string("SELECT leasehold_internal.job_settle(") + job +
                  ", (SELECT token FROM leasehold_internal.job_grant), 'complete')"));
  }
  EXPECT_EQ(state_of(10), "available");
}

TEST_F(JobBundleLockTest, AClaimSkipsABundleThatIsWaitedFor) {
  alice_.run("BEGIN");
  alice_.run(call("job_enqueue('after', 'x', p_depends_on => '{2}')"));
  bob_.run("BEGIN");
  EXPECT_EQ(bob_.scalar(claim_of(4)), "{4,5,6,7}");
  EXPECT_EQ(bob_.scalar(claim_of_one()), "8");
  bob_.run("COMMIT");
  EXPECT_EQ(bob_.scalar(claim_of_one()), "9");
  EXPECT_EQ(bob_.scalar(claim_of_one()), "busy") << "not empty: 1 to 3 are there";
  EXPECT_EQ(bob_.scalar(claim_of(4)), "busy");
  alice_.run("COMMIT");
  EXPECT_EQ(bob_.scalar(claim_of(4)), "{1,2,3}");
  EXPECT_EQ(state_of(10), "blocked");
  expect_nothing_lost();
}

TEST_F(JobBundleLockTest, AClaimPassesOverWhatAnotherClaimTakes) {
  alice_.run("BEGIN");
  EXPECT_EQ(alice_.scalar(claim_of(2)), "{1,2}");
  EXPECT_EQ(bob_.scalar(claim_of(100)), "{7,8,9}") << "alice has looked at two bundles, and keeps the rest of one";
  EXPECT_EQ(bob_.scalar(claim_of(100)), "busy");
  EXPECT_EQ(bob_.scalar(claim_of_one()), "busy");
  alice_.run("ROLLBACK");
  EXPECT_EQ(bob_.scalar(claim_of(100)), "{1,2,3,4,5,6}");
}

TEST_F(JobBundleLockTest, AClaimOfManyLeavesSingleJobsBehindItsBundlesToOthers) {
  observer_.run(call("job_enqueue('q', 'single')"));
  alice_.run("BEGIN");
  EXPECT_EQ(alice_.scalar(claim_of(9)), "{1,2,3,4,5,6,7,8,9}");
  EXPECT_EQ(bob_.scalar(claim_of(9)), "{10}");
  alice_.run("COMMIT");
  expect_nothing_lost();
}

TEST_F(JobBundleLockTest, ACancelWaitsForAClaimAndAsksTheHolderThen) {
  alice_.run("BEGIN");
  EXPECT_EQ(alice_.scalar(claim_of(2)), "{1,2}");
  bob_.send(here("SELECT outcome FROM leasehold_internal.job_cancel(2)"));
  EXPECT_TRUE(bob_.waits(observer_)) << "whether it is claimed is not known yet";
  alice_.run("COMMIT");
  EXPECT_EQ(bob_.answer(), "requested");
  expect_nothing_lost();
}

TEST_F(JobBundleLockTest, ACancelFindsItsJobInTheRestOfASplitBundle) {
  alice_.run("BEGIN");
  EXPECT_EQ(alice_.scalar(claim_of(2)), "{1,2}");
  bob_.send(here("SELECT outcome FROM leasehold_internal.job_cancel(3)"));
  EXPECT_TRUE(bob_.waits(observer_));
  alice_.run("COMMIT");
  EXPECT_EQ(bob_.answer(), "cancelled");
  EXPECT_EQ(tied(), "4-6 7-9");
  expect_nothing_lost();
}

TEST_F(JobBundleLockTest, TwoCancelsOfOneBundleBothHappen) {
  alice_.run("BEGIN");
  alice_.run(call("job_cancel(4)"));
  bob_.send(here("SELECT outcome FROM leasehold_internal.job_cancel(5)"));
  EXPECT_TRUE(bob_.waits(observer_));
  alice_.run("COMMIT");
  EXPECT_EQ(bob_.answer(), "cancelled");
  EXPECT_EQ(untied(), "6");
  expect_nothing_lost();
}

TEST_F(JobBundleLockTest, ADependentFindsAJobWhereverAnOperatorPutIt) {
  alice_.run("BEGIN");
  alice_.run(call("job_cancel(4)"));
  bob_.send(here("SELECT state FROM leasehold_internal.job_enqueue('after', 'x', p_depends_on => '{5}')"));
  EXPECT_TRUE(bob_.waits(observer_));
  alice_.run("COMMIT");
  EXPECT_EQ(bob_.answer(), "blocked");
  expect_nothing_lost();
}

TEST_F(JobBundleLockTest, APurgeSkipsJobsThatAreBeingClaimed) {
  alice_.run("BEGIN");
  EXPECT_EQ(alice_.scalar(claim_of(2)), "{1,2}");
  EXPECT_EQ(bob_.scalar(call("queue_purge('q', 100)")), "3");
  alice_.run("COMMIT");
  EXPECT_EQ(bob_.scalar(call("queue_purge('q', 100)")), "4");
  EXPECT_EQ(state_of(1), "running");
  expect_nothing_lost();
}

TEST_F(JobBundleLockTest, AClaimLetGoOfByADeadHolderComesBackSingly) {
  bob_.run(here("SELECT leasehold_internal.job_claim('q', 4, p_ttl => interval '30 seconds')"));
  store_.advance(31s);
  EXPECT_EQ(bob_.scalar(claim_of(100)), "{1}") << "those of a dead holder go alone";
  EXPECT_EQ(untied(), "2 3 4");
  EXPECT_EQ(tied(), "5-6 7-9");
  for (const auto* alone : {"{2}", "{3}", "{4}"}) EXPECT_EQ(bob_.scalar(claim_of(100)), alone);
  EXPECT_EQ(bob_.scalar(claim_of(100)), "{5,6,7,8,9}");
  expect_nothing_lost();
}

}  // namespace
}  // namespace leasehold::support
