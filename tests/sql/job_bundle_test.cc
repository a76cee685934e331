// Jobs that were enqueued together wait in bundles: how they are tied, which claims take them whole, and that every act
// on one of them finds it. Test stores tie from two jobs on, three to a bundle.
#include <gtest/gtest.h>

#include "sql/sql_fixture.h"

namespace leasehold::support {
namespace {

/// The rows of `bundle` and of `ready`, as text: "1-3 4-6", "7 8".
class JobBundleSqlTest : public SqlTest {
 protected:
  void enqueue(int jobs, const std::string& more = {}) {
    alice_.run(here("SELECT leasehold_internal.job_enqueue_many('q', array_fill('x'::bytea, ARRAY[" +
                    std::to_string(jobs) + "])" + more + ")"));
  }
  void enqueue_single(const std::string& more = {}) {
    alice_.run(here("SELECT leasehold_internal.job_enqueue('q', 'x'" + more + ")"));
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
  /// The result of a claim of so many jobs, or the reason for none.
  static std::string claim_of(int max, const std::string& more = {}) {
    return "SELECT CASE outcome WHEN 'granted' THEN job_ids::text ELSE outcome END FROM "
           "leasehold_internal.job_claim('q', " +
           std::to_string(max) + more + ")";
  }
  std::string claimed(int max, const std::string& more = {}) { return bob_.scalar(here(claim_of(max, more))); }
  std::string claimed_one(const std::string& more = {}) {
    return bob_.scalar(
        here("SELECT CASE outcome WHEN 'granted' THEN job_ids[1]::text ELSE outcome END FROM "
             "leasehold_internal.job_claim('q'" +
             more + ")"));
  }
  std::string reported(const std::string& call) { return bob_.scalar(here("SELECT leasehold_internal." + call)); }
};

TEST_F(JobBundleSqlTest, JobsEnqueuedTogetherAreTiedInPieces) {
  enqueue(7);
  EXPECT_EQ(tied(), "1-3 4-6 7-7");
  EXPECT_EQ(untied(), "");
}

TEST_F(JobBundleSqlTest, ABundleEndsAtAGapInItsIds) {
  alice_.run(here("SELECT leasehold_internal.bundle_tie('q', 0, '{1,2,5,6,7,8,10}')"));
  EXPECT_EQ(tied(), "1-2 5-7 8-8 10-10");
}

TEST_F(JobBundleSqlTest, AJobWithSettingsIsNotTied) {
  enqueue(4, ", p_delay => interval '1 hour'");
  enqueue(1);
  enqueue_single();
  EXPECT_EQ(tied(), "");
  EXPECT_EQ(untied(), "5 6");
}

TEST_F(JobBundleSqlTest, AClaimOfManyTakesWholeBundlesAndSplitsTheLast) {
  enqueue(9);
  EXPECT_EQ(claimed(5), "{1,2,3,4,5}");
  EXPECT_EQ(tied(), "6-6 7-9");
  EXPECT_EQ(untied(), "") << "nothing had to be untied";
  EXPECT_EQ(claimed(9), "{6,7,8,9}");
  EXPECT_EQ(tied(), "");
  EXPECT_EQ(claimed(9), "empty");
}

TEST_F(JobBundleSqlTest, JobsOfARolledBackClaimAreBundledAsBefore) {
  enqueue(6);
  bob_.run("BEGIN");
  EXPECT_EQ(claimed(4), "{1,2,3,4}");
  bob_.run("ROLLBACK");
  EXPECT_EQ(tied(), "1-3 4-6");
  EXPECT_EQ(claimed(9), "{1,2,3,4,5,6}");
}

TEST_F(JobBundleSqlTest, SingleJobsAndBundlesComeInOneOrder) {
  enqueue_single();                      // 1
  enqueue(4);                            // 2-4 5-5
  enqueue_single();                      // 6
  enqueue(3, ", p_priority => 5");       // 7-9
  enqueue_single(", p_priority => 5");   // 10
  enqueue_single(", p_priority => 9");   // 11
  enqueue(2, ", p_priority => -1");      // 12-13
  enqueue_single(", p_priority => -1");  // 14
  bob_.run("BEGIN");
  EXPECT_EQ(claimed(100), "{11,7,8,9,10,1,2,3,4,5,6,12,13,14}");
  bob_.run("ROLLBACK");
  EXPECT_EQ(claimed(3), "{11,7,8}");
  EXPECT_EQ(claimed_one(), "9");
  EXPECT_EQ(claimed(3), "{10,1,2}");
  EXPECT_EQ(claimed_one(), "3");
  EXPECT_EQ(claimed(100), "{4,5,6,12,13,14}");
}

TEST_F(JobBundleSqlTest, ManyTurnsOfSingleJobsAndBundlesAreOneOrder) {
  std::string expected;
  for (int i = 0; i < 30; ++i) {
    enqueue_single();
    enqueue(2);
    for (int j = 1; j <= 3; ++j) expected += (expected.empty() ? "{" : ",") + std::to_string(3 * i + j);
  }
  enqueue(3);
  EXPECT_EQ(claimed(90), expected + "}");
  EXPECT_EQ(claimed(90), "{91,92,93}");
}

TEST_F(JobBundleSqlTest, ABatchEndsBeforeASoloJob) {
  enqueue_single();
  enqueue_single();
  EXPECT_EQ(claimed(2, ", p_ttl => interval '30 seconds'"), "{1,2}");
  store_.advance(31s);
  bob_.run(here("SELECT leasehold_internal.recover()"));
  enqueue_single();                     // 3
  enqueue(4);                           // 4-6 7-7
  enqueue_single(", p_priority => 5");  // 8
  EXPECT_EQ(claimed(9), "{8}");
  EXPECT_EQ(claimed(9), "{1}");
  EXPECT_EQ(claimed(9), "{2}");
  EXPECT_EQ(claimed(9), "{3,4,5,6,7}");
}

TEST_F(JobBundleSqlTest, AClaimOfOneUntiesTheNextBundleOnly) {
  enqueue(6);
  EXPECT_EQ(claimed_one(), "1");
  EXPECT_EQ(untied(), "2 3");
  EXPECT_EQ(tied(), "4-6");
  EXPECT_EQ(claimed_one(), "2");
  EXPECT_EQ(claimed_one(), "3");
  EXPECT_EQ(tied(), "4-6") << "single ones come first";
  EXPECT_EQ(claimed_one(), "4");
}

TEST_F(JobBundleSqlTest, SeveralCallersClaimFromOneBundle) {
  enqueue_single();
  enqueue(5);
  EXPECT_EQ(bob_.scalar(here(
                "SELECT array_agg(job_ids[1] ORDER BY job_ids[1]) FROM leasehold_internal.job_claim_each('{q,q,q}', "
                "'{1,1,1}', '{NULL,NULL,NULL}', '{a,b,c}', '{NULL,NULL,NULL}', '{h,h,h}', '{b,b,b}', "
                "'{1,1,1}', '{1,1,1}', '{t,t,t}', '{i,i,i}', '{NULL,NULL,NULL}', '{NULL,NULL,NULL}', "
                "'{NULL,NULL,NULL}', '{NULL,NULL,NULL}')")),
            "{1,2,3}");
  EXPECT_EQ(untied(), "4");
  EXPECT_EQ(tied(), "5-6");
}

TEST_F(JobBundleSqlTest, AWorkerTakesBundlesForTheLeaseItHas) {
  enqueue(7);
  const auto attached =
      ", p_instance => 'i', p_attach => " +
      alice_.scalar(here("SELECT lease_id FROM leasehold_internal.lease_open('worker', 'alice', interval "
                         "'1 hour', p_instance => 'i')"));
  EXPECT_EQ(claimed(4, attached), "{1,2,3,4}");
  EXPECT_EQ(claimed(1, attached), "{5}");
  EXPECT_EQ(claimed(9, attached), "{6,7}");
  EXPECT_EQ(claimed(9, attached), "empty");
}

TEST_F(JobBundleSqlTest, FromAPositionOnBundlesAreTakenAndSingleJobsBehindIt) {
  enqueue_single();  // 1
  enqueue(3);        // 2-4
  enqueue_single();  // 5
  enqueue_single();  // 6
  const std::string behind = ", p_after_priority => 0, p_after_id => 5";
  bob_.run("BEGIN");
  EXPECT_EQ(claimed(9, behind), "{2,3,4,6}") << "what is single and before the position waits for a look from the head";
  bob_.run("ROLLBACK");
  EXPECT_EQ(claimed_one(behind), "6");
  EXPECT_EQ(claimed_one(behind), "1") << "nothing is left behind it: from the head";
  EXPECT_EQ(claimed(9), "{2,3,4,5}");
}

TEST_F(JobBundleSqlTest, ARefusedClaimUntiesNothing) {
  enqueue(6);
  const auto each = here(
      "SELECT string_agg(DISTINCT outcome, ' ') FROM leasehold_internal.job_claim_each('{q,q}', '{1,1}', "
      "'{NULL,NULL}', "
      "'{a,b}', '{NULL,NULL}', '{h,h}', '{b,b}', '{1,1}', '{1,1}', '{t,t}', '{i,i}', '{NULL,NULL}', '{NULL,NULL}', "
      "'{NULL,NULL}', '{NULL,NULL}')");
  bob_.run(here("SELECT leasehold_internal.queue_pause('q', true)"));
  for (const auto& answer : {claimed_one(), claimed(4), bob_.scalar(each)}) EXPECT_EQ(answer, "paused");
  EXPECT_EQ(tied(), "1-3 4-6");
  bob_.run(here("SELECT leasehold_internal.queue_pause('q', false)"));
  bob_.run(here("SELECT leasehold_internal.queue_set('q', p_max_running => 1)"));
  EXPECT_EQ(claimed(4), "{1}");
  for (const auto& answer : {claimed_one(), claimed(4), bob_.scalar(each)}) EXPECT_EQ(answer, "at_capacity");
  EXPECT_EQ(tied(), "4-6");
}

TEST_F(JobBundleSqlTest, LimitsAndRatesHoldForBundles) {
  enqueue(6);
  bob_.run(here("SELECT leasehold_internal.queue_set('q', p_max_per_group => 1)"));
  enqueue_single(", p_job_group => 'k'");
  enqueue_single(", p_job_group => 'k'");
  EXPECT_EQ(claimed(4), "{7,1,2,3}") << "of the group, one";
  EXPECT_EQ(claimed(4), "{4,5,6}");
  EXPECT_EQ(claimed(4), "at_capacity");
  bob_.run(here(
      "SELECT leasehold_internal.queue_set('q', p_max_per_group => 0, p_rate_count => 2, p_rate_period => interval '1 "
      "hour')"));
  enqueue(5);
  EXPECT_EQ(claimed(4), "{8,9}");
  EXPECT_EQ(claimed(4), "rate_limited");
}

TEST_F(JobBundleSqlTest, ReadersSeeBundledJobs) {
  enqueue(4, ", p_tags => '{blue}'");
  enqueue_single();
  EXPECT_EQ(reported("job_show(3)").substr(0, 14), "(3,q,available");
  EXPECT_EQ(bob_.scalar(here("SELECT string_agg(state, ' ') FROM leasehold.jobs")),
            "available available available available available");
  const auto listed = [&](const std::string& wanted) {
    return bob_.scalar(here("SELECT string_agg(id::text, ' ') FROM leasehold.job_list('q', " + wanted + ")"));
  };
  EXPECT_EQ(listed("'available', NULL, 10"), "5 4 3 2 1");
  EXPECT_EQ(listed("'available', NULL, 10, 3"), "2 1") << "before 3, in the middle of a bundle";
  EXPECT_EQ(listed("'available', 'blue', 2"), "4 3");
  EXPECT_EQ(listed("'available', 'green', 2"), "NULL");
  EXPECT_EQ(listed("NULL, NULL, 3"), "5 4 3");
  EXPECT_EQ(bob_.scalar(here("SELECT available || ' ' || running || ' ' || (oldest_at IS NOT NULL) FROM "
                             "leasehold_internal.queue_list('q')")),
            "5 0 true");
  EXPECT_EQ(claimed(2), "{1,2}");
  EXPECT_EQ(bob_.scalar(here("SELECT available || ' ' || running FROM leasehold_internal.queue_list()")), "3 2");
  EXPECT_EQ(bob_.scalar(here("SELECT string_agg(state, ' ' ORDER BY id) FROM leasehold.jobs")),
            "running running available available available");
}

TEST_F(JobBundleSqlTest, AReaderSeesTiedJobsToo) {
  enqueue(2);
  const auto role = "reader_" + store_.schema();
  observer_.run("CREATE ROLE " + role);
  observer_.run(here("SELECT leasehold_internal.grant_scope('" + role + "', 'read')"));
  observer_.run(here("GRANT SELECT ON leasehold_internal.test_clock TO " + role));
  bob_.run("SET ROLE " + role);
  EXPECT_EQ(bob_.fail(here("SELECT * FROM leasehold.jobs")).message, "");
  EXPECT_EQ(bob_.fail(here("SELECT * FROM leasehold_internal.job_show(1)")).message, "");
  EXPECT_EQ(bob_.fail(here("SELECT * FROM leasehold_internal.bundle")).state, "42501") << "but not the table";
  bob_.run("RESET ROLE");
  observer_.run("DROP OWNED BY " + role + "; DROP ROLE " + role);
}

TEST(JobBundleSizeTest, JobsFewerThan256AreNotWorthTyingAndNoBundleHasMoreThan64) {
  TestStore store(StoreKind::postgres, {.real_time = true});
  const auto enqueue = [&](const std::string& jobs) {
    store.run("SELECT " + store.table("job_enqueue_many") + "('q', array_fill('x'::bytea, ARRAY[" + jobs + "]))");
    return store.scalar("SELECT string_agg(first_id || '-' || last_id, ' ' ORDER BY first_id) FROM " +
                        store.table("bundle"));
  };
  EXPECT_EQ(enqueue("255"), "NULL");
  EXPECT_EQ(enqueue("256"), "256-319 320-383 384-447 448-511");
}

}  // namespace
}  // namespace leasehold::support
