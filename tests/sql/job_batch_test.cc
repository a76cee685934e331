// Many jobs in one call, as psql does it: one answer, two calls with the same jobs at once, and the whole queue's
// rules for a call that starts behind a position.
#include <gtest/gtest.h>

#include "sql/sql_fixture.h"

namespace leasehold::support {
namespace {

class JobBatchSqlTest : public SqlTest {
 protected:
  /// One by one, so that each has a row in `ready`.
  void SetUp() override {
    observer_.run(here("SELECT leasehold_internal.job_enqueue('q', p) FROM unnest('{a,b,c,d,e,f}'::bytea[]) AS p"));
  }

  static std::string claim_of_many(const std::string& call) {
    return "SELECT outcome || coalesce(' ' || job_ids::text, '') || CASE WHEN replayed THEN ' again' ELSE '' END FROM "
           "leasehold_internal." +
           call;
  }
  std::string count(const std::string& what) {
    return observer_.scalar(here("SELECT count(*) FROM leasehold_internal." + what));
  }
  std::string ids(const std::string& what) {
    return observer_.scalar(here("SELECT array_agg(job_id ORDER BY job_id) FROM leasehold_internal." + what));
  }
};

TEST_F(JobBatchSqlTest, AClaimOfManyIsOneAnswer) {
  EXPECT_EQ(alice_.scalar(here("SELECT outcome || ' ' || job_ids::text || ' ' || priorities::text || ' ' || "
                               "attempts::text || ' ' || convert_from(payloads[3], 'UTF8') || ' ' || "
                               "cardinality(created_ats) FROM "
                               "leasehold_internal.job_claim('q', 3, p_request_id => 'r')")),
            "granted {1,2,3} {0,0,0} {1,1,1} c 3");
}

TEST_F(JobBatchSqlTest, AClaimOfOneIsABatchOfOne) {
  EXPECT_EQ(alice_.scalar(here("SELECT outcome || ' ' || job_ids::text || attempts::text || priorities::text || ' ' || "
                               "cardinality(payloads) FROM leasehold_internal.job_claim('q')")),
            "granted {1}{1}{0} 1");
}

TEST_F(JobBatchSqlTest, ARefusalHasNoLists) {
  EXPECT_EQ(alice_.scalar(here("SELECT outcome || ' ' || (job_ids IS NULL) FROM "
                               "leasehold_internal.job_claim('other', 3)")),
            "empty true");
}

TEST_F(JobBatchSqlTest, TwoThatAskTheSameAtOnceGetTheSameJobs) {
  const auto ask = here(claim_of_many("job_claim('q', 2, p_request_id => 'r')"));
  alice_.run("BEGIN");
  EXPECT_EQ(alice_.scalar(ask), "granted {1,2}");
  bob_.send(ask);
  EXPECT_TRUE(bob_.waits(observer_)) << "whether alice's claim is true is not known yet";
  alice_.run("COMMIT");
  EXPECT_EQ(bob_.answer(), "granted {1,2} again");
  EXPECT_EQ(count("lease"), "1");
  EXPECT_EQ(ids("ready"), "{3,4,5,6}") << "what bob had in his hand is back";
  EXPECT_EQ(bob_.scalar(here("SELECT job_ids::text || attempts::text FROM leasehold_internal.job_claim('q', 9)")),
            "{3,4,5,6}{1,1,1,1}");
}

TEST_F(JobBatchSqlTest, AClaimThatWaitedForARolledBackOneKeepsItsOwnJobs) {
  const auto ask = here(claim_of_many("job_claim('q', 2, p_request_id => 'r')"));
  alice_.run("BEGIN");
  alice_.run(ask);
  bob_.send(ask);
  EXPECT_TRUE(bob_.waits(observer_));
  alice_.run("ROLLBACK");
  EXPECT_EQ(bob_.answer(), "granted {3,4}");
  EXPECT_EQ(ids("ready"), "{1,2,5,6}");
}

TEST_F(JobBatchSqlTest, AReturnedJobKeepsItsPriorityKeyAndAttempts) {
  alice_.run(here("SELECT leasehold_internal.job_enqueue('mail', 'x', p_priority => 4, p_job_group => 'k')"));
  alice_.run(here(
      "SELECT leasehold_internal.job_settle(job_ids[1], token, 'release') FROM leasehold_internal.job_claim('mail')"));
  alice_.run(here("SELECT leasehold_internal.job_enqueue('mail', 'y', p_priority => 4, p_job_group => 'l')"));
  const auto rows = [this] {
    return observer_.scalar(
        here("SELECT string_agg(concat_ws(' ', job_id, attempt, priority, solo, job_group), ', ' "
             "ORDER BY job_id) FROM leasehold_internal.ready WHERE queue = 'mail'"));
  };
  const auto before = rows();
  alice_.run("BEGIN");
  alice_.run(here("SELECT leasehold_internal.job_claim('q', 2, p_request_id => 'r')"));
  bob_.send(here(claim_of_many("job_claim('mail', 2, p_request_id => 'r')")));
  EXPECT_TRUE(bob_.waits(observer_));
  alice_.run("COMMIT");
  EXPECT_EQ(bob_.outcome().state, "") << "the same request for another queue, with any answer";
  EXPECT_EQ(rows(), before);
}

TEST_F(JobBatchSqlTest, FromAPositionOnTheJobsBehindItAreGiven) {
  EXPECT_EQ(alice_.scalar(here(claim_of_many("job_claim('q', 2, p_after_priority => 0, p_after_id => 3)"))),
            "granted {4,5}");
  EXPECT_EQ(alice_.scalar(here(
                "SELECT job_ids[1] FROM leasehold_internal.job_claim('q', p_after_priority => 0, p_after_id => 3)")),
            "6");
  EXPECT_EQ(alice_.scalar(here(claim_of_many("job_claim('q', 2, p_after_priority => 0, p_after_id => 6)"))),
            "granted {1,2}")
      << "behind it is nothing: from the head";
}

TEST_F(JobBatchSqlTest, FromAPositionOnAPausedQueueIsRefused) {
  const auto lease = alice_.scalar(here(
      "SELECT lease_id FROM leasehold_internal.lease_open('worker', 'alice', interval '1 hour', p_instance => 'i')"));
  alice_.run(here("SELECT leasehold_internal.queue_pause('q', true)"));
  for (const auto& call :
       {std::string("job_claim('q', p_after_priority => 0, p_after_id => 2)"),
        std::string("job_claim('q', 3, p_after_priority => 0, p_after_id => 2)"),
        "job_claim('q', 3, p_instance => 'i', p_attach => " + lease + ", p_after_priority => 0, p_after_id => 2)",
        std::string("job_claim_each('{q,q}', '{1,1}', '{NULL,NULL}', '{a,b}', '{NULL,NULL}', '{h,h}', '{b,b}', "
                    "'{1,1}', '{1,1}', '{t,t}', '{i,i}', '{NULL,NULL}', '{0,0}', '{2,2}', '{NULL,NULL}')")}) {
    EXPECT_EQ(bob_.scalar(here("SELECT string_agg(DISTINCT outcome, ' ') FROM leasehold_internal." + call)), "paused")
        << call;
  }
  EXPECT_EQ(count("ready"), "6");
}

TEST_F(JobBatchSqlTest, FromAPositionOnANewGroupGetsItsTurn) {
  const auto enqueue_of = [this](const std::string& group) {
    alice_.run(here("SELECT leasehold_internal.job_enqueue('q', 'x', p_job_group => '" + group + "')"));
  };
  alice_.run(here("SELECT leasehold_internal.job_claim('q')"));
  enqueue_of("late");
  EXPECT_EQ(alice_.scalar(here(claim_of_many("job_claim('q', p_after_priority => 0, p_after_id => 1)"))),
            "granted {7}");
  enqueue_of("later");
  EXPECT_EQ(alice_.scalar(here("SELECT string_agg(job_ids::text, ' ') FROM leasehold_internal.job_claim_each('{q,q}', "
                               "'{1,1}', '{NULL,NULL}', '{a,b}', '{NULL,NULL}', '{h,h}', '{b,b}', '{1,1}', '{1,1}', "
                               "'{t,t}', '{i,i}', '{NULL,NULL}', '{0,0}', '{1,1}', '{NULL,NULL}')")),
            "{8} {2}");
}

TEST_F(JobBatchSqlTest, FromAPositionOnALimitHolds) {
  alice_.run(here("SELECT leasehold_internal.queue_set('q', p_max_running => 2)"));
  EXPECT_EQ(alice_.scalar(here(claim_of_many("job_claim('q', 9, p_after_priority => 0, p_after_id => 2)"))),
            "granted {3,4}");
  EXPECT_EQ(alice_.scalar(
                here("SELECT outcome FROM leasehold_internal.job_claim('q', p_after_priority => 0, p_after_id => 4)")),
            "at_capacity");
}

TEST_F(JobBatchSqlTest, DueJobsAreSeenFromTheHead) {
  alice_.run(
      here("SELECT leasehold_internal.job_enqueue('q', 'late', p_priority => 5, p_delay => interval '10 seconds')"));
  store_.advance(10s);
  EXPECT_EQ(alice_.scalar(here(
                "SELECT job_ids[1] FROM leasehold_internal.job_claim('q', p_after_priority => 0, p_after_id => 2)")),
            "3");
  EXPECT_EQ(alice_.scalar(here("SELECT job_ids[1] FROM leasehold_internal.job_claim('q')")), "7");
}

TEST_F(JobBatchSqlTest, AJobToBeClaimedSoloStaysOutOfABatch) {
  alice_.run(here("SELECT leasehold_internal.job_claim('q', 2, p_ttl => interval '30 seconds')"));
  store_.advance(31s);
  alice_.run(here("SELECT leasehold_internal.recover()"));
  EXPECT_EQ(bob_.scalar(here(claim_of_many("job_claim('q', 2, p_after_priority => 0, p_after_id => 1)"))),
            "granted {2}")
      << "2 was with 1 when their holder died";
  EXPECT_EQ(bob_.scalar(here("SELECT job_ids::text || ' ' || solo FROM leasehold_internal.job_claim('q', 9)")),
            "{1} true");
}

TEST_F(JobBatchSqlTest, ManyVerdictsReturnWhatIsSettledAndWhatMayBeTidied) {
  const auto token = alice_.scalar(here("SELECT token FROM leasehold_internal.job_claim('q', 4)"));
  const auto lease = observer_.scalar(here("SELECT lease_id FROM leasehold_internal.job_grant"));
  const auto settle = [&](const std::string& ids, const std::string& tokens) {
    return alice_.scalar(
        here("SELECT settled::text || ' ' || to_tidy::text FROM leasehold_internal.job_settle_many('complete', '" +
             ids + "', '" + tokens + "')"));
  };
  EXPECT_EQ(settle("{3,1}", "{" + token + "," + token + "}"), "{1,3} {}");
  EXPECT_EQ(settle("{3,1,6}", "{" + token + "," + token + ",1}"), "{} {}") << "settled before, and never claimed";
  EXPECT_EQ(settle("{4,2}", "{" + token + "," + token + "}"), "{2,4} {" + lease + "}");
  EXPECT_EQ(alice_.scalar(here("SELECT leasehold_internal.job_tidy(" + lease + ")")), "1");
  EXPECT_EQ(count("lease WHERE ended_at IS NULL"), "0");
  EXPECT_EQ(settle("{}", "{}"), "{} {}");
}

TEST_F(JobBatchSqlTest, AReleaseOfAJobWithACancelRequestIsNotSettledWithTheOthers) {
  const auto token = alice_.scalar(here("SELECT token FROM leasehold_internal.job_claim('q', 3)"));
  alice_.run(here("SELECT leasehold_internal.job_cancel(2)"));
  const auto verdict = "'release', '{1,2,3}', '{" + token + "," + token + "," + token + "}')";
  EXPECT_EQ(alice_.scalar(here("SELECT 2 = ANY (settled) FROM leasehold_internal.job_settle_many(" + verdict)), "f");
  EXPECT_EQ(
      alice_.scalar(here(
          "SELECT string_agg(state, ' ' ORDER BY job_id) FROM leasehold_internal.job_settle_each('{1,2,3}', '{" +
          token + "," + token + "," + token +
          "}', '{release,release,release}', '{NULL,NULL,NULL}', '{NULL,NULL,NULL}', '{t,t,t}', '{NULL,NULL,NULL}')")),
      "available cancelled available");
  EXPECT_EQ(ids("ready"), "{1,3,4,5,6}");
}

}  // namespace
}  // namespace leasehold::support
