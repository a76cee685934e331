// Claims of a queue that has a limit for all its jobs: one after the other, each for a moment only.
#include <gtest/gtest.h>

#include "sql/sql_fixture.h"

namespace leasehold::support {
namespace {

class LimitedQueueTest : public SqlTest {
 protected:
  void SetUp() override {
    for (const auto* queue : {"mail", "other"}) {
      observer_.run(here("SELECT leasehold_internal.queue_set('" + std::string(queue) + "', p_max_running => 2)"));
      observer_.run(here("SELECT leasehold_internal.job_enqueue('" + std::string(queue) +
                         "', p) FROM unnest('{a,b,c}'::bytea[]) AS p"));
    }
  }
  std::string claim(const std::string& queue = "mail") {
    return here("SELECT concat_ws(' ', outcome, job_ids[1]) FROM leasehold_internal.job_claim('" + queue + "')");
  }
  /// For tests in which somebody waits while others act.
  void wait_long() {
    observer_.run(here("ALTER FUNCTION leasehold_internal.queue_wait_for_row(text) SET lock_timeout = '1min'"));
  }
};

TEST_F(LimitedQueueTest, AClaimWaitsForAnotherThatCommits) {
  wait_long();
  alice_.run("BEGIN");
  EXPECT_EQ(alice_.scalar(claim()), "granted 1");
  bob_.send(claim());
  ASSERT_TRUE(bob_.waits(observer_));
  alice_.run("COMMIT");
  EXPECT_EQ(bob_.answer(), "granted 2");
  EXPECT_EQ(bob_.scalar(claim()), "at_capacity") << "it counted alice's job";
}

TEST_F(LimitedQueueTest, AClaimThatWaitsLeavesTheJobsToTheOthers) {
  wait_long();
  alice_.run("BEGIN");
  alice_.run(here("SELECT FROM leasehold_internal.queue WHERE name = 'mail' FOR UPDATE"));
  bob_.send(claim());
  ASSERT_TRUE(bob_.waits(observer_));
  EXPECT_EQ(alice_.scalar(claim()), "granted 1") << "the first one: bob has not locked it";
  alice_.run("COMMIT");
  EXPECT_EQ(bob_.answer(), "granted 2");
}

TEST_F(LimitedQueueTest, ClaimsOfSeveralCallersThatWaitLeaveTheJobsToTheOthers) {
  wait_long();
  alice_.run("BEGIN");
  alice_.run(here("SELECT FROM leasehold_internal.queue WHERE name = 'mail' FOR UPDATE"));
  bob_.send(
      here("SELECT string_agg(concat_ws(' ', outcome, job_ids[1]), ', ' ORDER BY call) "
           "FROM leasehold_internal.job_claim_each('{mail,mail}', '{1,1}', '{NULL,NULL}', '{ann,ben}', "
           "'{NULL,NULL}', '{h,h}', '{b,b}', '{0,0}', '{0,0}', '{\"\",\"\"}', '{\"\",\"\"}', '{NULL,NULL}', "
           "'{NULL,NULL}', '{NULL,NULL}', '{NULL,NULL}')"));
  ASSERT_TRUE(bob_.waits(observer_));
  EXPECT_EQ(alice_.scalar(claim()), "granted 1");
  alice_.run("COMMIT");
  EXPECT_EQ(bob_.answer(), "granted 2, at_capacity");
}

TEST_F(LimitedQueueTest, ATransactionThatStaysOpenIsNotWaitedForLong) {
  alice_.run("BEGIN");
  EXPECT_EQ(alice_.scalar(claim()), "granted 1");
  EXPECT_EQ(bob_.scalar(claim()), "busy");
  bob_.run("BEGIN");
  EXPECT_EQ(bob_.scalar(claim()), "busy");
  EXPECT_EQ(bob_.scalar("SELECT 'the transaction goes on, with its settings: ' || current_setting('lock_timeout')"),
            "the transaction goes on, with its settings: 0");
  bob_.run("COMMIT");
  alice_.run("ROLLBACK");
  EXPECT_EQ(bob_.scalar(claim()), "granted 1");
}

TEST_F(LimitedQueueTest, TwoTransactionsThatClaimFromTwoQueuesDoNotDeadlock) {
  alice_.run("BEGIN");
  bob_.run("BEGIN");
  EXPECT_EQ(alice_.scalar(claim("mail")), "granted 1");
  EXPECT_EQ(bob_.scalar(claim("other")), "granted 4");
  alice_.send(claim("other"));
  bob_.send(claim("mail"));
  EXPECT_EQ(alice_.answer(), "busy");
  EXPECT_EQ(bob_.answer(), "busy");
  alice_.run("COMMIT");
  bob_.run("COMMIT");
}

}  // namespace
}  // namespace leasehold::support
