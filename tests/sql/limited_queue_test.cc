// Claims of a queue that has a limit for all its jobs, beside other claims that are not committed yet.
#include <gtest/gtest.h>

#include "sql/sql_fixture.h"

namespace leasehold::support {
namespace {

class LimitedQueueTest : public SqlTest {
 protected:
  /// The jobs 1, 2, 3, ... in `mail`, and as many in `other`.
  void limit(const std::string& settings, int jobs = 3) {
    for (const auto* queue : {"mail", "other"}) {
      set(settings, queue);
      observer_.run(here("SELECT leasehold_internal.job_enqueue('" + std::string(queue) +
                         "', '') FROM generate_series(1, " + std::to_string(jobs) + ")"));
    }
  }
  void set(const std::string& settings, const std::string& queue = "mail") {
    observer_.run(here("SELECT leasehold_internal.queue_set('" + queue + "', " + settings + ")"));
  }
  std::string claim(const std::string& queue = "mail", int max = 1) {
    return here("SELECT concat_ws(' ', outcome, array_to_string(job_ids, ' ')) FROM leasehold_internal.job_claim('" +
                queue + "', " + std::to_string(max) + ")");
  }
  /// For tests in which somebody waits while others act.
  void wait_long() {
    observer_.run(here("ALTER FUNCTION leasehold_internal.queue_wait_for(text, bigint) SET lock_timeout = '1min'"));
  }
  /// What bob's claim answers that waits while alice's transaction, with a claim in it, is open.
  std::string answers_around(const std::string& granted, const std::string& end) {
    alice_.run("BEGIN");
    EXPECT_EQ(alice_.scalar(claim()), granted);
    bob_.send(claim());
    EXPECT_TRUE(bob_.waits(observer_));
    alice_.run(end);
    return bob_.answer();
  }
  static constexpr auto rate = "p_rate_count => 100, p_rate_period => '1 hour'";
};

TEST_F(LimitedQueueTest, ClaimsGoOnBesideEachOtherAndDoNotExceedTheLimit) {
  limit("2");
  alice_.run("BEGIN");
  EXPECT_EQ(alice_.scalar(claim()), "granted 1");
  EXPECT_EQ(bob_.scalar(claim()), "granted 2");
  EXPECT_EQ(bob_.scalar(claim()), "busy") << "alice has the other place, but may give it back";
  alice_.run("COMMIT");
  EXPECT_EQ(bob_.scalar(claim()), "at_capacity");
}

TEST_F(LimitedQueueTest, AClaimOfManyTakesThePlacesThatOthersLeave) {
  limit("4", 9);
  alice_.run("BEGIN");
  EXPECT_EQ(alice_.scalar(claim()), "granted 1");
  EXPECT_EQ(bob_.scalar(claim("mail", 9)), "granted 2 3 4");
  alice_.run("ROLLBACK");
  EXPECT_EQ(bob_.scalar(claim("mail", 9)), "granted 1") << "alice's place";
  EXPECT_EQ(bob_.scalar(claim("mail", 9)), "at_capacity");
}

TEST_F(LimitedQueueTest, ALargeLimitIsTakenToItsLastPlace) {
  limit("37", 50);
  EXPECT_EQ(bob_.scalar(here("SELECT cardinality(job_ids) FROM leasehold_internal.job_claim('mail', 20)")), "20");
  EXPECT_EQ(alice_.scalar(here("SELECT cardinality(job_ids) FROM leasehold_internal.job_claim('mail', 50)")), "17");
  EXPECT_EQ(bob_.scalar(claim()), "at_capacity");
}

TEST_F(LimitedQueueTest, AClaimWaitsForAnotherThatHasTheLastPlace) {
  limit("1");
  wait_long();
  EXPECT_EQ(answers_around("granted 1", "COMMIT"), "at_capacity");
  bob_.run(here("SELECT leasehold_internal.job_settle(1, token, 'complete') FROM leasehold_internal.job_show(1)"));
  EXPECT_EQ(answers_around("granted 2", "ROLLBACK"), "granted 2");
}

TEST_F(LimitedQueueTest, AnotherLimitCountsWhatRunsAlready) {
  limit("20", 60);
  EXPECT_EQ(bob_.scalar(here("SELECT cardinality(job_ids) FROM leasehold_internal.job_claim('mail', 20)")), "20");
  set("3");
  EXPECT_EQ(bob_.scalar(claim()), "at_capacity");
  set("22");
  EXPECT_EQ(bob_.scalar(claim("mail", 9)), "granted 21 22");
  set("0");
  EXPECT_EQ(bob_.scalar(claim("mail", 3)), "granted 23 24 25");
  set("26");
  EXPECT_EQ(bob_.scalar(claim("mail", 9)), "granted 26") << "those without a limit count, too";
  EXPECT_EQ(bob_.scalar(claim("mail", 9)), "at_capacity");
}

TEST_F(LimitedQueueTest, ALowerLimitHoldsWhereverTheRunningJobsHaveTheirPlaces) {
  limit("20", 60);
  bob_.run(here("SELECT FROM leasehold_internal.job_claim('mail', 20)"));
  const auto parts = here(
      "(SELECT g.token, u.id, u.part FROM leasehold_internal.job_grant AS g, unnest(g.jobs, g.parts) AS u(id, part) "
      "WHERE g.queue = 'mail')");
  set("4");
  // All that go on have their places in one of the four parts.
  bob_.run(here("SELECT leasehold_internal.job_settle(p.id, p.token, 'complete') FROM " + parts +
                " AS p WHERE p.part % 4 <> 1"));
  const auto running = std::stoi(bob_.scalar("SELECT count(*) FROM " + parts + " AS p WHERE p.part % 4 = 1"));
  ASSERT_GE(running, 4);
  EXPECT_EQ(bob_.scalar(claim()), "at_capacity");
  bob_.run(here("SELECT leasehold_internal.job_settle(p.id, p.token, 'complete') FROM " + parts +
                " AS p WHERE p.part % 4 = 1 ORDER BY p.id LIMIT " + std::to_string(running - 3)));
  alice_.run("BEGIN");
  EXPECT_EQ(alice_.scalar(claim("mail", 9)), "granted 21") << "three run in a part with one place";
  EXPECT_EQ(bob_.scalar(claim()), "busy");
  alice_.run("COMMIT");
  EXPECT_EQ(bob_.scalar(claim()), "at_capacity");
}

TEST_F(LimitedQueueTest, ClaimsAtARateWaitForEachOther) {
  limit(rate);
  wait_long();
  EXPECT_EQ(answers_around("granted 1", "COMMIT"), "granted 2");
}

TEST_F(LimitedQueueTest, ClaimsOfSeveralCallersThatWaitLeaveTheJobsToTheOthers) {
  limit(rate);
  wait_long();
  alice_.run("BEGIN");
  alice_.run(here("SELECT FROM leasehold_internal.queue WHERE name = 'mail' FOR UPDATE"));
  bob_.send(
      here("SELECT string_agg(concat_ws(' ', outcome, job_ids[1]), ', ' ORDER BY call) "
           "FROM leasehold_internal.job_claim_each('{mail,mail}', '{1,1}', '{NULL,NULL}', '{ann,ben}', '{NULL,NULL}', "
           "'{h,h}', '{b,b}', '{0,0}', '{0,0}', '{\"\",\"\"}', '{\"\",\"\"}', '{NULL,NULL}', '{NULL,NULL}', "
           "'{NULL,NULL}', '{NULL,NULL}')"));
  ASSERT_TRUE(bob_.waits(observer_));
  EXPECT_EQ(alice_.scalar(claim()), "granted 1");
  alice_.run("COMMIT");
  EXPECT_EQ(bob_.answer(), "granted 2, granted 3");
}

TEST_F(LimitedQueueTest, ATransactionThatStaysOpenIsNotWaitedForLong) {
  for (const auto* settings : {"1", rate}) {
    SCOPED_TRACE(settings);
    limit(settings);
    alice_.run("BEGIN");
    EXPECT_EQ(alice_.scalar(claim()).substr(0, 7), "granted");
    EXPECT_EQ(bob_.scalar(claim()), "busy");
    bob_.run("BEGIN");
    EXPECT_EQ(bob_.scalar(claim()), "busy");
    EXPECT_EQ(bob_.scalar("SELECT 'the transaction goes on with its own lock_timeout: ' || "
                          "current_setting('lock_timeout')"),
              "the transaction goes on with its own lock_timeout: 0");
    bob_.run("COMMIT");
    alice_.run("ROLLBACK");
    EXPECT_EQ(bob_.scalar(claim()).substr(0, 7), "granted");
    set("p_max_running => 0, p_rate_count => 0");
  }
}

TEST_F(LimitedQueueTest, TwoTransactionsThatClaimFromTwoQueuesDoNotDeadlock) {
  limit("1");
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
