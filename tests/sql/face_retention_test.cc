// A store that is used from SQL alone: calls that wait for work, or find none, also remove what the store keeps no
// longer.
#include <gtest/gtest.h>

#include "sql/sql_fixture.h"
#include "support/results.h"

namespace leasehold::support {
namespace {

class FaceRetentionTest : public SqlTest {
 protected:
  std::string ask(const std::string& sql) { return alice_.scalar(here("SELECT " + sql)); }
  std::string rows(const std::string& table) {
    return observer_.scalar(here("SELECT count(*) FROM leasehold_internal." + table));
  }
  void work(int jobs) {
    ask("count(*) FROM leasehold.job_enqueue_many('mail', ARRAY(SELECT '{}'::jsonb FROM generate_series(1, " +
        std::to_string(jobs) + ")))");
    for (int i = 0; i < jobs; ++i) {
      ask("s.outcome FROM leasehold.job_claim('mail') AS c, leasehold.job_complete(c.id, c.token, '{}') AS s");
    }
  }
  void wait_for_work() { ask("until FROM leasehold.await_topic('queue:mail')"); }
};

TEST_F(FaceRetentionTest, WaitingForWorkRemovesTheHistoryThatIsKeptNoLonger) {
  work(20);
  EXPECT_EQ(rows("job"), "20");
  store_.advance(6 * 24h);
  wait_for_work();
  EXPECT_EQ(rows("job"), "20");
  store_.advance(2 * 24h);
  wait_for_work();
  EXPECT_EQ(rows("job"), "0");
  EXPECT_EQ(rows("settled"), "0");
  store_.advance(2min);
  for (int i = 0; i < 3; ++i) wait_for_work();
  EXPECT_EQ(rows("lease"), "0") << "their leases, in a later step";
}

TEST_F(FaceRetentionTest, WhileNoStepIsDueItWritesNothing) {
  wait_for_work();
  const auto version = [&] { return observer_.scalar(here("SELECT xmin FROM leasehold_internal.retention")); };
  const auto before = version();
  const auto locked = observer_.scalar(here("SELECT xmax FROM leasehold_internal.retention"));
  wait_for_work();
  EXPECT_EQ(version(), before);
  EXPECT_EQ(observer_.scalar(here("SELECT xmax FROM leasehold_internal.retention")), locked);
}

TEST_F(FaceRetentionTest, AtAHigherIsolationLevelItWaitsAndRemovesNothing) {
  work(1);
  store_.advance(8 * 24h);
  alice_.run("BEGIN ISOLATION LEVEL REPEATABLE READ");
  EXPECT_EQ(ask("until IS NOT NULL FROM leasehold.await_topic('queue:mail')"), "t");
  alice_.run("COMMIT");
  EXPECT_EQ(rows("job"), "1");
}

TEST_F(FaceRetentionTest, APollerThatFindsNothingRemovesIt) {
  ask("total FROM leasehold.chunk_plan('done', '{}', '{}')");
  ask("created FROM leasehold.schedule_set('later', every_min => '1 hour')");
  ask("outcome FROM leasehold.lock_acquire('held', ttl => '20 days')");
  for (const auto* poll :
       {"outcome FROM leasehold.job_claim('mail')", "outcome FROM leasehold.chunk_claim('done')",
        "outcome FROM leasehold.schedule_acquire('later')",
        "t.outcome FROM leasehold.session_open() AS o, leasehold.claim_take(NULL, o.id, o.token) AS t",
        "r.outcome FROM leasehold.lock_acquire('short') AS a, leasehold.lock_release('short', a.token) "
        "AS r"}) {
    work(5);
    EXPECT_EQ(rows("job"), "5");
    // A step was done a moment ago: no call does another.
    for (int i = 0; i < 3; ++i) ask(poll);
    store_.advance(8 * 24h);
    ask("outcome FROM leasehold.lock_acquire('held')");
    EXPECT_EQ(rows("job"), "5") << "a call that is held for others to work does not";
    observer_.run(here("UPDATE leasehold_internal.schedule SET next_run_at = leasehold_internal.now() + '1 hour'"));
    ask(poll);
    EXPECT_EQ(rows("job"), "0") << poll;
  }
}

TEST_F(FaceRetentionTest, AClaimThatGetsSomethingRemovesNothing) {
  work(5);
  store_.advance(8 * 24h);
  ask("id FROM leasehold.job_enqueue('mail', '{}')");
  EXPECT_EQ(ask("outcome FROM leasehold.job_claim('mail')"), "granted");
  EXPECT_EQ(rows("job"), "6");
  EXPECT_EQ(ask("outcome FROM leasehold.job_claim('mail')"), "empty");
  EXPECT_EQ(rows("job"), "1");
}

TEST_F(FaceRetentionTest, WhileThereIsAlwaysWorkOneVerdictInMany) {
  work(5);
  store_.advance(8 * 24h);
  for (int i = 0; i < 70; ++i) ask("id FROM leasehold.job_enqueue('mail', '{}')");
  for (int job = 6; job < 64; ++job) {
    ask("s.outcome FROM leasehold.job_claim('mail') AS c, leasehold.job_complete(c.id, c.token) AS s");
  }
  EXPECT_EQ(rows("job"), "75");
  ask("s.outcome FROM leasehold.job_claim('mail') AS c, leasehold.job_complete(c.id, c.token) AS s");
  EXPECT_EQ(rows("job"), "70") << "the first five are gone";
}

TEST_F(FaceRetentionTest, WhileNoStepIsDueAnIdlePollWritesNothing) {
  ask("outcome FROM leasehold.job_claim('mail')");
  ask("outcome FROM leasehold.job_claim('mail')");
  const auto seen = [&] {
    return observer_.scalar(here("SELECT concat_ws(' ', xmin, xmax, ctid) FROM leasehold_internal.retention"));
  };
  const auto before = seen();
  for (int i = 0; i < 5; ++i) ask("outcome FROM leasehold.job_claim('mail')");
  EXPECT_EQ(seen(), before);
}

TEST_F(FaceRetentionTest, AStepThatFailsIsNotThePollersAffair) {
  work(5);
  store_.advance(8 * 24h);
  observer_.run(
      here("CREATE FUNCTION leasehold_internal.stop_it() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE "
           "EXCEPTION 'no'; END $$"));
  observer_.run(
      here("CREATE TRIGGER stop_it BEFORE DELETE ON leasehold_internal.job FOR EACH ROW EXECUTE FUNCTION "
           "leasehold_internal.stop_it()"));
  EXPECT_EQ(ask("outcome FROM leasehold.job_claim('mail')"), "empty");
  EXPECT_EQ(rows("job"), "5");
  observer_.run(here("DROP TRIGGER stop_it ON leasehold_internal.job; DROP FUNCTION leasehold_internal.stop_it()"));
  EXPECT_EQ(ask("outcome FROM leasehold.job_claim('mail')"), "empty");
  EXPECT_EQ(rows("job"), "5") << "not again at once";
  store_.advance(61s);
  ask("outcome FROM leasehold.job_claim('mail')");
  EXPECT_EQ(rows("job"), "0");
}

TEST_F(FaceRetentionTest, TheSettingsAreAView) {
  EXPECT_EQ(ask("concat_ws(' ', keep_jobs, keep_failed, keep_history) FROM leasehold.retention"),
            "7 days 30 days 7 days");
  alice_.run(here("UPDATE leasehold.retention SET keep_jobs = '1 hour', keep_failed = '0'"));
  EXPECT_EQ(must(store_.open().retention()), (Retention{.keep_jobs = 1h, .keep_failed = 0s}));
  EXPECT_EQ(ask("concat_ws(' ', keep_jobs, keep_failed, keep_history) FROM leasehold.retention"),
            "01:00:00 00:00:00 7 days");
  work(5);
  store_.advance(2h);
  ask("outcome FROM leasehold.job_claim('mail')");
  EXPECT_EQ(rows("job"), "0");
  for (const auto* wrong : {"keep_jobs = '1 second'", "keep_jobs = '-1 day'", "keep_failed = '101 years'",
                            "keep_history = NULL", "keep_history = 'infinity'"}) {
    const auto state = alice_.fail(here(std::string("UPDATE leasehold.retention SET ") + wrong)).state;
    EXPECT_TRUE(state == "LH003" || state == "22007") << wrong << ": " << state;
  }
  EXPECT_EQ(must(store_.open().retention()), (Retention{.keep_jobs = 1h, .keep_failed = 0s}));
}

TEST_F(FaceRetentionTest, OnlyScopeAdminChangesThem) {
  const auto role = "keeper_" + store_.schema();
  observer_.run("CREATE ROLE " + role);
  const auto tried = [&](const std::string& sql) {
    alice_.run("SET ROLE " + role);
    const auto state = alice_.fail(here(sql)).state;
    alice_.run("RESET ROLE");
    return state;
  };
  const std::string change = "UPDATE leasehold.retention SET keep_jobs = '2 days'";
  for (const auto* scope : {"read", "produce", "work", "admin"}) {
    observer_.run(here("SELECT leasehold.grant_scope('" + role + "', '" + scope + "')"));
    EXPECT_EQ(tried("SELECT * FROM leasehold.retention"), "") << scope;
    EXPECT_EQ(tried(change), std::string(scope) == "admin" ? "" : "42501") << scope;
  }
  EXPECT_EQ(tried("INSERT INTO leasehold.retention VALUES ('1 day', '1 day', '1 day')"), "55000");
  EXPECT_EQ(tried("DELETE FROM leasehold.retention"), "55000");
  observer_.run(here("SELECT leasehold.grant_scope('" + role + "', 'work')"));
  EXPECT_EQ(tried(change), "42501") << "narrowed";
  observer_.run(here("SELECT leasehold.revoke_scope('" + role + "')"));
  EXPECT_EQ(tried("SELECT * FROM leasehold.retention"), "42501");
  observer_.run("DROP ROLE " + role);
}

}  // namespace
}  // namespace leasehold::support
