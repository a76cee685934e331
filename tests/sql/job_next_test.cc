// A verdict and the next claim in one call, as psql has it: an answer for each, and one commit.
#include <gtest/gtest.h>

#include "sql/sql_fixture.h"

namespace leasehold::support {
namespace {

class JobNextSqlTest : public SqlTest {
 protected:
  void SetUp() override {
    SqlTest::SetUp();
    for (const auto* payload : {"a", "b", "c"}) enqueue(payload);
  }

  void enqueue(const std::string& payload) {
    alice_.run(here("SELECT leasehold.job_enqueue_one('q', '" + payload + "')"));
  }
  std::string claim(PgConnection& who) { return who.scalar(here("SELECT token FROM leasehold.job_claim('q')")); }
  static std::string call(const std::string& id, const std::string& token, const std::string& more) {
    return "leasehold.job_settle_and_claim(" + id + ", " + token + ", " + more + ")";
  }
  /// What became of the verdict, then what was claimed or why nothing was.
  std::string hand_in(PgConnection& who, const std::string& id, const std::string& token,
                      const std::string& more = "'complete', 'q'") {
    return who.scalar(
        here("SELECT concat_ws(' ', (settled).outcome, (settled).state, (settled).why, '|', "
             "(claimed).outcome, (claimed).job_id, convert_from((claimed).payload, 'UTF8')) FROM " +
             call(id, token, more)));
  }
  std::string state(const std::string& id) {
    return observer_.scalar(here("SELECT state FROM leasehold.job_show(" + id + ")"));
  }
  std::string token_of(const std::string& id) {
    return observer_.scalar(here("SELECT token FROM leasehold.job_show(" + id + ")"));
  }
};

TEST_F(JobNextSqlTest, OneAfterTheOtherThroughTheQueue) {
  EXPECT_EQ(hand_in(alice_, "1", claim(alice_)), "settled completed | granted 2 b");
  EXPECT_EQ(hand_in(alice_, "2", token_of("2"), "'fail', 'q', error => 'no luck', retryable => false"),
            "settled failed | granted 3 c");
  EXPECT_EQ(hand_in(alice_, "3", token_of("3"), "'snooze', 'q', delay => interval '1 hour'"),
            "settled deferred | empty");
  EXPECT_EQ(observer_.scalar(here("SELECT string_agg(outcome, ' ' ORDER BY job_id) FROM leasehold.settled")),
            "completed failed snoozed");
}

TEST_F(JobNextSqlTest, TheClaimsSettingsAreItsOwn) {
  const auto token = claim(alice_);
  alice_.run(here("SELECT " + call("1", token,
                                   "'complete', 'q', result => '42', ttl => interval '7 minutes', holder => 'alice', "
                                   "host => 'rome', request_id => 'next-1'")));
  EXPECT_EQ(observer_.scalar(here("SELECT concat_ws(' ', holder, host, ttl, request_id) FROM leasehold.lease WHERE "
                                  "ended_at IS NULL")),
            "alice rome 00:07:00 next-1");
  EXPECT_EQ(observer_.scalar(here("SELECT convert_from(body, 'UTF8') FROM leasehold.result WHERE job_id = 1")), "42");
}

TEST_F(JobNextSqlTest, Promise04_ALateVerdictIsLostAndTheNextJobIsClaimed) {
  const auto late = claim(alice_);
  store_.advance(1h);
  EXPECT_EQ(bob_.scalar(here("SELECT job_id FROM leasehold.job_claim('q')")), "1") << "what has expired comes first";
  EXPECT_EQ(hand_in(alice_, "1", late), "lost expired | granted 2 b");
  EXPECT_EQ(state("1"), "running") << "with bob";
}

TEST_F(JobNextSqlTest, Promise13_SaidTwiceItIsTheFirstAnswerAgain) {
  const auto token = claim(alice_);
  const std::string more = "'complete', 'q', request_id => 'next-1'";
  EXPECT_EQ(hand_in(alice_, "1", token, more), "settled completed | granted 2 b");
  EXPECT_EQ(hand_in(alice_, "1", token, more), "settled completed | granted 2 b");
  EXPECT_EQ(state("3"), "available");
}

TEST_F(JobNextSqlTest, ThePlaceInASerialQueueIsThereForTheClaim) {
  alice_.run(here("SELECT leasehold.queue_set('q', max_running => 1)"));
  const auto token = claim(alice_);
  EXPECT_EQ(bob_.scalar(here("SELECT outcome FROM leasehold.job_claim('q')")), "at_capacity");
  EXPECT_EQ(hand_in(alice_, "1", token), "settled completed | granted 2 b");
  EXPECT_EQ(bob_.scalar(here("SELECT outcome FROM leasehold.job_claim('q')")), "at_capacity");
}

TEST_F(JobNextSqlTest, BadArgumentsOfEitherDoNeither) {
  const auto token = claim(alice_);
  for (const auto* more : {"'finish', 'q'", "'snooze', 'q'", "'complete', ''", "'complete', NULL",
                           "'complete', 'q', ttl => interval '1 millisecond'"}) {
    EXPECT_EQ(alice_.fail(here("SELECT " + call("1", token, more))).state, "LH003") << more;
    EXPECT_EQ(state("1"), "running") << more;
    EXPECT_EQ(state("2"), "available") << more;
  }
}

TEST_F(JobNextSqlTest, InATransactionThatRollsBackNeitherHasHappened) {
  const auto token = claim(alice_);
  alice_.run("BEGIN");
  EXPECT_EQ(hand_in(alice_, "1", token), "settled completed | granted 2 b");
  alice_.run("ROLLBACK");
  EXPECT_EQ(state("1"), "running");
  EXPECT_EQ(state("2"), "available");
  EXPECT_EQ(hand_in(alice_, "1", token), "settled completed | granted 2 b");
}

}  // namespace
}  // namespace leasehold::support
