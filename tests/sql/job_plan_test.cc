// On queue tables statistics are always stale; the functions must use their indexes all the same.
#include <gtest/gtest.h>

#include "sql/index_fixture.h"

namespace leasehold::support {
namespace {

class JobPlanTest : public IndexTest {
 protected:
  /// Sequential scans so far, of the tables that grow.
  std::string sequential_scans() {
    return sequential_scans_of(
        "'job', 'ready', 'bundle', 'deferred', 'blocked', 'dedupe', 'job_grant', 'settled', 'lease', 'result', "
        "'error', "
        "'progress', 'awaited'");
  }
  void many(const std::string& sql) {
    alice_.run("DO $$ BEGIN FOR i IN 1..100 LOOP PERFORM " + here(sql) + "; END LOOP; END $$");
  }
  /// The job and the token of the i-th claim from now, put where the act wants them.
  void many_claimed(const std::string& act) {
    alice_.run(here(
        "DO $$ DECLARE c record; BEGIN FOR i IN 1..100 LOOP SELECT * INTO c FROM leasehold_internal.job_claim('q', "
        "p_request_id => gen_random_uuid()::text); PERFORM " +
        act + "; END LOOP; END $$"));
  }
  /// As many_claimed, for the calls of two threads at once.
  void many_claimed_together(const std::string& act) {
    alice_.run(here(
        "DO $$ DECLARE c record; BEGIN FOR i IN 1..100 LOOP SELECT array_agg(job_ids[1]) AS jobs, array_agg(token) AS "
        "tokens INTO c FROM leasehold_internal.job_claim_each('{q,q}', '{1,1}', '{NULL,NULL}', '{a,b}', '{NULL,NULL}', "
        "'{h,h}', '{b,b}', '{1,1}', '{1,1}', '{t,t}', '{i,i}', '{NULL,NULL}', '{NULL,NULL}', '{NULL,NULL}', "
        "'{NULL,NULL}'); PERFORM " +
        act + "; END LOOP; END $$"));
  }
};

TEST_F(JobPlanTest, NoActScansATable) {
  // Fresh tables with wrong statistics: analysed while empty, as autovacuum would on a quiet night.
  alice_.run(
      here("ANALYZE leasehold_internal.job, leasehold_internal.ready, leasehold_internal.bundle, "
           "leasehold_internal.deferred, leasehold_internal.blocked, "
           "leasehold_internal.dedupe, "
           "leasehold_internal.job_grant, leasehold_internal.settled, leasehold_internal.lease, "
           "leasehold_internal.result, leasehold_internal.error, "
           "leasehold_internal.progress, leasehold_internal.awaited"));
  const auto before = sequential_scans();
  many("leasehold_internal.job_enqueue('q', 'x', p_dedupe_key => 'key-' || i, p_job_group => 'limit-' || i)");
  many("leasehold_internal.job_enqueue_many('q', '{a,b,c,d,e,f}')");
  many("leasehold_internal.job_enqueue('later', 'x', p_delay => interval '1 second')");
  many_claimed("leasehold_internal.job_heartbeat(c.job_ids[1], c.token, p_percent => 10)");
  many_claimed("leasehold_internal.job_settle(c.job_ids[1], c.token, 'complete', 'done')");
  many_claimed("leasehold_internal.job_settle(c.job_ids[1], c.token, 'fail', NULL, 'no luck')");
  many_claimed("leasehold_internal.job_settle(c.job_ids[1], c.token, 'snooze', p_delay => interval '1 second')");
  many_claimed("leasehold_internal.job_settle(c.job_ids[1], c.token, 'release')");
  many_claimed("leasehold_internal.job_settle_many('complete', ARRAY[c.job_ids[1]], ARRAY[c.token])");
  many_claimed("leasehold_internal.job_settle_many('release', ARRAY[c.job_ids[1]], ARRAY[c.token])");
  many("leasehold_internal.job_claim('q', p_after_priority => 0, p_after_id => i)");
  many("leasehold_internal.job_claim('q', 2, p_after_priority => 0, p_after_id => i)");
  many("leasehold_internal.job_enqueue_many('tied', '{a,b,c,d,e,f}')");
  many("leasehold_internal.job_claim('tied', 2)");
  many("leasehold_internal.job_claim('tied')");
  many("leasehold_internal.job_enqueue('tied', 'x', p_depends_on => ARRAY[1400 - i])");
  many("leasehold_internal.job_cancel(1300 - i)");
  many_claimed_together(
      "leasehold_internal.job_settle_each(c.jobs, c.tokens, '{complete,complete}', '{NULL,NULL}', "
      "'{NULL,NULL}', '{t,t}', '{NULL,NULL}')");
  many("leasehold_internal.job_enqueue_one('other', 'x')");
  many("leasehold_internal.job_enqueue_each('{other,another}', '{a,b}', '{0,0}')");
  store_.advance(1h);
  many("leasehold_internal.job_claim('later', 3)");
  many("leasehold_internal.job_claim('q', 3)");
  many("leasehold_internal.job_claim('q', 3, p_request_id => 'request-' || i)");
  EXPECT_EQ(sequential_scans(), before);
}

TEST_F(JobPlanTest, AClaimReadsNoMoreOfALongQueueThanOfAShortOne) {
  const std::string each =
      "job_claim_each('{q,q}', '{1,1}', '{NULL,NULL}', '{a,b}', '{NULL,NULL}', '{h,h}', '{b,b}', '{1,1}', '{1,1}', "
      "'{t,t}', '{i,i}', '{NULL,NULL}', '{NULL,NULL}', '{NULL,NULL}', '{NULL,NULL}')";
  const std::string behind = "job_claim('q', 2, p_after_priority => 0, p_after_id => 5)";
  many("leasehold_internal.job_enqueue('q', 'x')");
  alice_.run(here("SELECT leasehold_internal.job_enqueue_many('q', '{a,b,c,d}')"));
  // The row that claims write once a minute would be read again after each rollback.
  alice_.run(here("SELECT leasehold_internal.queue_ask('q', leasehold_internal.now())"));
  const auto of_few = read_by("job_claim('q')");
  const auto many_of_few = read_by("job_claim('q', 2)");
  const auto behind_of_few = read_by(behind);
  const auto each_of_few = read_by(each);
  alice_.run(
      here("SELECT count(*) FROM leasehold_internal.job_enqueue_many('q', array_fill('x'::bytea, ARRAY[20000]))"));
  EXPECT_EQ(read_by("job_claim('q')"), of_few);
  EXPECT_EQ(read_by("job_claim('q', 2)"), many_of_few);
  EXPECT_EQ(read_by(behind), behind_of_few);
  EXPECT_EQ(read_by(each), each_of_few);
}

TEST_F(JobPlanTest, AClaimReadsNoMoreOfManyJobsOfAFullGroupThanOfFew) {
  const auto enqueue = [this](const std::string& group, int priority, int jobs) {
    alice_.run(here("SELECT leasehold_internal.job_enqueue('capped', 'x', p_priority => " + std::to_string(priority) +
                    ", p_job_group => '" + group + "') FROM generate_series(1, " + std::to_string(jobs) + ")"));
  };
  alice_.run(here("SELECT leasehold_internal.queue_set('capped', p_max_per_group => 1)"));
  // More than a claim looks at before it steps from group to group.
  enqueue("full", 1, 200);
  alice_.run(here("SELECT leasehold_internal.job_claim('capped')"));
  enqueue("open", 0, 10);
  const auto one_of_few = read_by("job_claim('capped')");
  const auto three_of_few = read_by("job_claim('capped', 3)");
  enqueue("full", 1, 20000);
  enqueue("other", 0, 10);
  EXPECT_LE(read_by("job_claim('capped')"), one_of_few + 10);
  EXPECT_LE(read_by("job_claim('capped', 3)"), three_of_few + 10);
}

TEST_F(JobPlanTest, AClaimReadsNoMoreOfManyJobsOfAnotherGroupThanOfFew) {
  for (const std::string queue : {"open", "capped"}) {
    const auto enqueue = [&](const std::string& group, int jobs) {
      alice_.run(here("SELECT leasehold_internal.job_enqueue('" + queue + "', 'x', p_job_group => '" + group +
                      "') FROM generate_series(1, " + std::to_string(jobs) + ")"));
    };
    const std::vector<std::string> claims = {"job_claim('" + queue + "')", "job_claim('" + queue + "', 3)",
                                             "job_claim('" + queue + "', 3, p_after_priority => 0, p_after_id => 5)"};
    if (queue == "capped") alice_.run(here("SELECT leasehold_internal.queue_set('capped', p_max_per_group => 2)"));
    enqueue("crowd", 50);
    enqueue("late", 50);
    // The latest claim served the crowd: the next one begins with the other group.
    alice_.run(here("SELECT leasehold_internal.job_claim('" + queue + "')"));
    std::vector<std::int64_t> of_few;
    for (const auto& claim : claims) of_few.push_back(read_by(claim));
    enqueue("crowd", 20000);
    for (std::size_t i = 0; i < claims.size(); ++i) EXPECT_LE(read_by(claims[i]), of_few[i] + 10) << claims[i];
  }
}

TEST_F(JobPlanTest, AClaimReadsNoMoreOfManyBundlesThanOfFew) {
  const std::vector<std::string> claims = {"job_claim('tied')", "job_claim('tied', 2)", "job_claim('tied', 7)"};
  const auto enqueue = [this](const std::string& jobs) {
    alice_.run(here("SELECT leasehold_internal.job_enqueue_many('tied', array_fill('x'::bytea, ARRAY[" + jobs + "]))"));
  };
  enqueue("60");
  alice_.run(here("SELECT leasehold_internal.queue_ask('tied', leasehold_internal.now())"));
  std::vector<std::int64_t> of_few;
  for (const auto& claim : claims) of_few.push_back(read_by(claim));
  alice_.run(here("VACUUM leasehold_internal.bundle, leasehold_internal.ready"));
  enqueue("20000");
  for (std::size_t i = 0; i < claims.size(); ++i) EXPECT_EQ(read_by(claims[i]), of_few[i]) << claims[i];
}

TEST_F(JobPlanTest, CompletedJobsAreFoundBehindManyThatWait) {
  alice_.run(here("SELECT leasehold_internal.job_enqueue('old', 'x')"));
  alice_.run(
      here("SELECT leasehold_internal.job_settle(job_ids[1], token, 'complete') FROM "
           "leasehold_internal.job_claim('old')"));
  // More jobs than a list without a state walks over.
  alice_.run(
      here("INSERT INTO leasehold_internal.job (created_at, priority, queue, payload) SELECT leasehold_internal.now(), "
           "0, 'new', 'x' FROM generate_series(1, 100001)"));
  const std::string list =
      "job_list(leasehold_internal.job_filter_of(NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL), '{completed}', 10)";
  EXPECT_EQ(alice_.scalar(here("SELECT string_agg(queue, ' ') FROM leasehold_internal." + list)), "old");
  EXPECT_LE(read_by(list), 1000);
}

TEST_F(JobPlanTest, CountsAndListsReadNoMoreOfAVeryLongQueueThanOfALongOne) {
  const auto grow = [this](int jobs) {
    alice_.run(here(
        "WITH fresh AS (INSERT INTO leasehold_internal.job (created_at, priority, queue, payload) SELECT "
        "leasehold_internal.now(), 0, 'q', 'x' FROM generate_series(1, " +
        std::to_string(jobs) +
        ") RETURNING id) INSERT INTO leasehold_internal.ready (job_id, last_token, attempt, priority, solo, queue) "
        "SELECT id, 0, 0, 0, false, 'q' FROM fresh"));
  };
  const std::vector<std::string> looks = {
      "queue_list('q')", "queue_list(NULL)",
      "job_list(leasehold_internal.job_filter_of('q', NULL, NULL, NULL, NULL, NULL, NULL, NULL), '{available}', 10)",
      "job_search('none', leasehold_internal.job_filter_of('q', NULL, NULL, NULL, NULL, NULL, NULL, NULL), NULL, 10)"};
  grow(30000);
  const auto scans = sequential_scans();
  std::vector<std::int64_t> of_some;
  for (const auto& look : looks) of_some.push_back(read_by(look));
  EXPECT_EQ(alice_.scalar(here("SELECT available || ' ' || estimated FROM leasehold_internal.queue_list('q')")),
            "30000 true");
  grow(90000);
  for (std::size_t i = 0; i < looks.size(); ++i) EXPECT_LE(read_by(looks[i]), of_some[i] * 11 / 10) << looks[i];
  EXPECT_EQ(alice_.scalar(here("SELECT available FROM leasehold_internal.queue_list('q')")), "120000");
  EXPECT_EQ(sequential_scans(), scans);
}

}  // namespace
}  // namespace leasehold::support
