// The ways to enqueue, as psql has them: whichever is taken, it is the same job, refused for the same reasons, and
// waiters are notified.
#include <gtest/gtest.h>

#include "sql/sql_fixture.h"

namespace leasehold::support {
namespace {

class JobEnqueueSqlTest : public SqlTest {
 protected:
  std::string run(const std::string& call) { return alice_.scalar(here("SELECT leasehold_internal." + call)); }
  std::string count(const std::string& what) {
    return observer_.scalar(here("SELECT count(*) FROM leasehold_internal." + what));
  }
  /// The first line of the server's error, without its place.
  std::string refusal(const std::string& call) {
    const auto failure = alice_.fail(here("SELECT leasehold_internal." + call));
    return failure.state + ": " + failure.message.substr(0, failure.message.find('\n'));
  }
  /// Every way to enqueue a job with the payload "x" and nothing special; one of them is for two.
  static std::vector<std::string> ways() {
    return {"job_enqueue('q', 'x')", "job_enqueue_one('q', 'x')", "job_enqueue_each('{q,q}', '{x,x}', '{0,0}')",
            "job_enqueue_many('q', '{x}')"};
  }
};

TEST_F(JobEnqueueSqlTest, EveryWayGivesTheSameJob) {
  for (const auto& way : ways()) run(way);
  EXPECT_EQ(count("job"), "5");
  EXPECT_EQ(observer_.scalar(here("SELECT count(DISTINCT to_jsonb(j) - 'id') FROM leasehold_internal.job AS j")), "1");
  EXPECT_EQ(observer_.scalar(here("SELECT count(DISTINCT to_jsonb(r) - 'job_id') FROM leasehold_internal.ready AS r")),
            "1");
  EXPECT_EQ(observer_.scalar(here(
                "SELECT count(*) FROM leasehold_internal.job AS j JOIN leasehold_internal.ready AS r ON r.job_id = "
                "j.id AND r.queue = j.queue AND r.priority = j.priority")),
            "5");
}

TEST_F(JobEnqueueSqlTest, APriorityIsKept) {
  EXPECT_EQ(run("job_enqueue_one('q', 'low', -32768)"), "1");
  EXPECT_EQ(run("job_enqueue_one('q', 'high', p_priority => 32767)"), "2");
  EXPECT_EQ(run("job_enqueue_one('q', 'normal')"), "3");
  EXPECT_EQ(
      alice_.scalar(here("SELECT string_agg(convert_from(j.payload, 'UTF8') || ' ' || j.priority, ', ') FROM "
                         "leasehold_internal.job_claim('q', 3) AS c, unnest(c.payloads, c.priorities) AS j(payload, "
                         "priority)")),
      "high 32767, normal 0, low -32768");
}

TEST_F(JobEnqueueSqlTest, CallsThatCameTogetherEachHaveTheirOwnJob) {
  EXPECT_EQ(alice_.scalar(here("SELECT string_agg(call || ':' || id, ' ' ORDER BY call) FROM "
                               "leasehold_internal.job_enqueue_each('{mail,sms,mail}', '{a,b,c}', '{0,7,1}')")),
            "0:1 1:2 2:3");
  EXPECT_EQ(observer_.scalar(here(
                "SELECT string_agg(concat_ws(' ', j.id, r.queue, r.priority, convert_from(j.payload, "
                "'UTF8')), ', ' ORDER BY j.id) FROM leasehold_internal.job AS j JOIN leasehold_internal.ready AS r ON "
                "r.job_id = j.id AND r.queue = j.queue AND r.priority = j.priority")),
            "1 mail 0 a, 2 sms 7 b, 3 mail 1 c");
}

TEST_F(JobEnqueueSqlTest, EveryWayRefusesForTheSameReasons) {
  const std::string huge = "repeat('x', 1048577)::bytea";
  const std::vector<std::vector<std::string>> bad = {{"''", "'x'", "0"},       {"repeat('x', 513)", "'x'", "0"},
                                                     {"E'a\\nb'", "'x'", "0"}, {"E'a\\x7f'", "'x'", "0"},
                                                     {"NULL", "'x'", "0"},     {"'q'", huge, "0"},
                                                     {"'q'", "NULL", "0"},     {"'q'", "'x'", "32768"},
                                                     {"'q'", "'x'", "-32769"}, {"'q'", "'x'", "NULL"}};
  for (const auto& args : bad) {
    const auto expected = refusal("job_enqueue(" + args[0] + ", " + args[1] + ", " + args[2] + ")");
    EXPECT_EQ(expected.substr(0, 5), "LH003") << expected;
    EXPECT_EQ(refusal("job_enqueue_one(" + args[0] + ", " + args[1] + ", " + args[2] + ")"), expected);
    EXPECT_EQ(refusal("job_enqueue_each(ARRAY['q', " + args[0] + "], ARRAY['x', " + args[1] + "]::bytea[], ARRAY[0, " +
                      args[2] + "])"),
              expected)
        << "and the other one with it";
  }
  EXPECT_EQ(refusal("job_enqueue_each('{q,q}', '{x}', '{0,0}')"), "LH003: ERROR:  a payload has up to 1 MiB");
  EXPECT_EQ(count("job"), "0");
  EXPECT_EQ(count("ready"), "0");
}

TEST_F(JobEnqueueSqlTest, APayloadOfExactlyTheLimitIsAccepted) {
  run("job_enqueue_one(repeat('q', 512), convert_to(repeat('x', 1048576), 'UTF8'), 32767)");
  run("job_enqueue_one('Grüße', '', -32768)");
  EXPECT_EQ(count("ready"), "2");
}

TEST_F(JobEnqueueSqlTest, AnAcknowledgedJobIsOnTheDisk) {
  for (const auto& way : ways()) {
    alice_.run("SET synchronous_commit = off; BEGIN");
    run(way);
    EXPECT_EQ(alice_.scalar("SHOW synchronous_commit"), "on") << way;
    alice_.run("COMMIT");
  }
}

TEST_F(JobEnqueueSqlTest, OnlyWaitersAreNotified) {
  using Topics = std::vector<std::string>;
  alice_.run("LISTEN " + store_.schema());
  for (const auto& way : ways()) {
    run(way);
    EXPECT_EQ(alice_.heard(), Topics{}) << "no caller waits: " << way;
    run("await_topic('queue:q', interval '10 seconds')");
    run(way);
    EXPECT_EQ(alice_.heard(), Topics{"queue:q"}) << way;
    run("job_enqueue_each('{other,another}', '{x,x}', '{0,0}')");
    run("job_enqueue_one('other', 'x')");
    EXPECT_EQ(alice_.heard(), Topics{}) << "not their queue";
    store_.advance(10s);
    run(way);
    EXPECT_EQ(alice_.heard(), Topics{}) << "they have gone: " << way;
  }
}

}  // namespace
}  // namespace leasehold::support
