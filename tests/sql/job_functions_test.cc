// Jobs as psql, an edge function or an ORM handles them: functions by name, inside the caller's own transaction.
#include <gtest/gtest.h>

#include "sql/sql_fixture.h"

namespace leasehold::support {
namespace {

class JobFunctionsTest : public SqlTest {
 protected:
  std::string enqueue(PgConnection& who, const std::string& more = {}) {
    return who.scalar(here("SELECT id FROM leasehold_internal.job_enqueue('mail', 'to ann'" + more + ")"));
  }
  /// Claims one job and gives its token.
  std::string claimed(PgConnection& who) {
    return who.scalar(here("SELECT token FROM leasehold_internal.job_claim('mail')"));
  }
  std::string count(PgConnection& who, const std::string& table) {
    return who.scalar(here("SELECT count(*) FROM leasehold_internal." + table));
  }
};

TEST_F(JobFunctionsTest, AJobsWholeLifeByNameWithDefaults) {
  const auto id = enqueue(alice_);
  EXPECT_EQ(
      alice_.scalar(here("SELECT outcome || ' ' || convert_from(payloads[1], 'UTF8') FROM leasehold_internal.job_claim("
                         "p_queue => 'mail', p_max => 1, p_ttl => interval '1 minute', p_holder => 'alice')")),
      "granted to ann");
  const auto token = alice_.scalar(here("SELECT token FROM leasehold_internal.job_show(" + id + ")"));
  EXPECT_EQ(alice_.scalar(here("SELECT outcome FROM leasehold_internal.job_heartbeat(" + id + ", " + token +
                               ", p_percent => 40, p_stage => 'testing')")),
            "extended");
  EXPECT_EQ(alice_.scalar(here("SELECT state || ' ' || holder || ' ' || percent || ' ' || stage FROM "
                               "leasehold_internal.job_show(" +
                               id + ")")),
            "running alice 40 testing");
  EXPECT_EQ(alice_.scalar(here("SELECT outcome FROM leasehold_internal.job_settle(" + id + ", " + token +
                               ", 'fail', NULL, 'no luck')")),
            "settled");
  EXPECT_EQ(alice_.scalar(here("SELECT leasehold_internal.job_retry(" + id + ")")), "retried");
  const auto again = claimed(alice_);
  EXPECT_EQ(
      alice_.scalar(here("SELECT state FROM leasehold_internal.job_settle(" + id + ", " + again + ", 'complete')")),
      "completed");
  EXPECT_EQ(alice_.scalar(here("SELECT string_agg(outcome, ' ' ORDER BY token) FROM leasehold_internal.job_attempts(" +
                               id + ")")),
            "failed completed");
}

TEST_F(JobFunctionsTest, AnEnqueueThatRolledBackLeavesNothing) {
  alice_.run("BEGIN");
  enqueue(alice_, ", p_dedupe_key => 'order-1'");
  EXPECT_EQ(bob_.scalar(here("SELECT outcome FROM leasehold_internal.job_claim('mail')")), "empty")
      << "not before the commit";
  alice_.run("ROLLBACK");
  for (const auto* table : {"job", "ready", "dedupe"}) EXPECT_EQ(count(bob_, table), "0") << table;
  EXPECT_EQ(
      bob_.scalar(here("SELECT created FROM leasehold_internal.job_enqueue('mail', '', p_dedupe_key => 'order-1')")),
      "t");
}

TEST_F(JobFunctionsTest, ACompletionThatRolledBackWasNone) {
  const auto id = enqueue(alice_);
  const auto token = claimed(alice_);
  const auto complete = here("SELECT state FROM leasehold_internal.job_settle(" + id + ", " + token + ", 'complete')");
  alice_.run("BEGIN");
  EXPECT_EQ(alice_.scalar(complete), "completed");
  alice_.run("ROLLBACK");
  EXPECT_EQ(alice_.scalar(here("SELECT state FROM leasehold_internal.job_show(" + id + ")")), "running");
  EXPECT_EQ(alice_.scalar(complete), "completed");
}

TEST_F(JobFunctionsTest, ACompletionInAnOpenTransactionCannotBeTakenOver) {
  const auto id = enqueue(alice_);
  const auto token = claimed(alice_);
  alice_.run("BEGIN");
  alice_.run(here("SELECT leasehold_internal.job_settle(" + id + ", " + token + ", 'complete')"));
  store_.advance(1h);
  EXPECT_EQ(bob_.scalar(here("SELECT outcome FROM leasehold_internal.job_claim('mail')")), "busy")
      << "neither waits nor takes";
  alice_.run("COMMIT");
  EXPECT_EQ(bob_.scalar(here("SELECT outcome FROM leasehold_internal.job_claim('mail')")), "empty");
}

TEST_F(JobFunctionsTest, AClaimThatRolledBackGivesTheJobBackAtOnce) {
  const auto id = enqueue(alice_);
  alice_.run("BEGIN");
  claimed(alice_);
  EXPECT_EQ(bob_.scalar(here("SELECT outcome FROM leasehold_internal.job_claim('mail')")), "busy")
      << "there is work, with alice";
  alice_.run("ROLLBACK");
  EXPECT_EQ(bob_.scalar(here("SELECT job_ids[1] FROM leasehold_internal.job_claim('mail')")), id);
}

TEST_F(JobFunctionsTest, OtherIsolationLevelsAreRefused) {
  const auto id = enqueue(alice_);
  const auto token = claimed(alice_);
  for (const auto* level : {"REPEATABLE READ", "SERIALIZABLE"}) {
    for (const auto& act :
         {"job_enqueue('mail', '', p_depends_on => '{ID}')", "job_enqueue_each('{mail}', '{a}', '{0}')",
          "job_claim('mail')", "job_claim('mail', 2)", "job_settle_many('complete', '{ID}', '{TOKEN}')",
          "job_heartbeat(ID, TOKEN)", "job_settle(ID, TOKEN, 'complete')", "job_settle(ID, TOKEN, 'fail')",
          "job_settle(ID, TOKEN, 'release')", "job_settle(ID, TOKEN, 'snooze', p_delay => interval '1 s')",
          "lease_open('worker', 'alice', interval '1 minute', p_instance => 'i')", "lease_close(1, '')",
          "lease_extend(1, '')", "recover()", "job_cancel(ID)", "job_retry(ID)", "job_remove(ID)"}) {
      alice_.run(std::string("BEGIN ISOLATION LEVEL ") + level);
      auto sql = here(std::string("SELECT leasehold_internal.") + act);
      for (const auto& [word, value] : {std::pair<std::string, std::string>{"ID", id}, {"TOKEN", token}}) {
        for (auto at = sql.find(word); at != std::string::npos; at = sql.find(word))
          sql.replace(at, word.size(), value);
      }
      EXPECT_EQ(alice_.fail(sql).state, "LH002") << level << ": " << sql;
      alice_.run("ROLLBACK");
    }
  }
}

TEST_F(JobFunctionsTest, BadInputIsRefusedAndChangesNothing) {
  const auto state = [this](const std::string& sql) {
    return alice_.fail(here("SELECT leasehold_internal." + sql)).state;
  };
  for (const auto* bad : {"job_enqueue('', '')",
                          "job_enqueue(repeat('x', 513), '')",
                          "job_enqueue(E'a\\nb', '')",
                          "job_enqueue('q', repeat('x', 1048577)::bytea)",
                          "job_enqueue('q', '', p_priority => 32768)",
                          "job_enqueue('q', '', p_max_failures => 0)",
                          "job_enqueue('q', '', p_max_crashes => 1001)",
                          "job_enqueue('q', '', p_tags => array_fill('t'::text, ARRAY[21]))",
                          "job_enqueue('q', '', p_tags => '{\"\"}')",
                          "job_enqueue('q', '', p_dedupe_key => '')",
                          "job_enqueue('q', '', p_depends_on => '{4711}')",
                          "job_enqueue('q', '', p_delay => interval '-1 s')",
                          "job_enqueue('q', '', p_delay => interval '101 years')",
                          "job_enqueue('q', '', p_run_at => 'infinity')",
                          "job_enqueue('q', '', p_backoff_max => interval '101 years')",
                          "job_enqueue_many('q', '{a}', p_run_at => 'infinity')",
                          "job_claim(E'a\\nb')",
                          "job_claim(E'a\\nb', 2)",
                          "job_claim('q', p_max => 0)",
                          "job_claim('q', p_max => 1001)",
                          "job_claim('q', p_ttl => interval '1 ms')",
                          "job_claim('')",
                          "job_claim('q', p_ttl => interval '31 days')",
                          "job_claim('', 2)",
                          "job_settle_many('fail', '{1}', '{1}')",
                          "job_settle_many('complete', '{1,2}', '{1}')",
                          "job_settle_many('complete', '{1,2}', '{1,1}', '{a}')"}) {
    EXPECT_EQ(state(bad), "LH003") << bad;
  }
  for (const auto* table : {"job", "ready", "lease", "job_grant"}) EXPECT_EQ(count(observer_, table), "0") << table;
}

TEST_F(JobFunctionsTest, TheViewShowsJobsAsItShowsLocks) {
  const auto id = enqueue(alice_);
  alice_.run(here("SELECT leasehold_internal.job_claim('mail', p_holder => 'alice', p_ttl => interval '30 seconds')"));
  EXPECT_EQ(alice_.scalar(here("SELECT kind || ' ' || key || ' ' || state || ' ' || holder FROM leasehold.leases")),
            "job " + id + " running alice");
  store_.advance(30s);
  EXPECT_EQ(alice_.scalar(here("SELECT state FROM leasehold.leases")), "expired");
}

/// A role with the scope that workers have: it may call, and it may not touch.
class JobPrivilegesTest : public SqlTest {
 protected:
  void SetUp() override {
    role_ = "worker_" + store_.schema();
    observer_.run("CREATE ROLE " + role_);
    observer_.run(here("SELECT leasehold_internal.grant_scope('" + role_ + "', 'work')"));
    alice_.run("SET ROLE " + role_);
  }
  void TearDown() override {
    alice_.run("RESET ROLE");
    observer_.run("DROP OWNED BY " + role_ + "; DROP ROLE " + role_);
  }
  std::string may(const std::string& sql) { return alice_.fail(here("SELECT leasehold_internal." + sql)).message; }

  std::string role_;
};

TEST_F(JobPrivilegesTest, AWorkerMayCallWhatWorkNeeds) {
  for (const auto* call : {"job_enqueue('q', 'a')",
                           "job_enqueue_one('q', 'a')",
                           "job_enqueue_each('{q,q}', '{a,b}', '{0,0}')",
                           "job_enqueue_many('q', '{b,c}')",
                           "job_claim('q', p_max => 3, p_request_id => 'r')",
                           "job_claim('q', p_request_id => 'o')",
                           "job_claim('q', 3, p_request_id => 'm')",
                           "job_heartbeat(1, 1)",
                           "job_settle(1, 1, 'complete')",
                           "job_settle(1, 1, 'fail')",
                           "job_settle(1, 1, 'release')",
                           "job_settle(1, 1, 'snooze', p_delay => interval '1 s')",
                           "job_settle_many('complete', '{1}', '{1}')",
                           "job_tidy(1)",
                           "lease_open('worker', 'alice', interval '1 minute', p_instance => 'i')",
                           "lease_extend(1, 'i')",
                           "lease_close(1, 'i')",
                           "lease_reap(1, 'boot', 1, 1)",
                           "await_topic('queue:q', interval '1 s')",
                           "recover()",
                           "job_cancel(1)",
                           "job_retry(1)",
                           "job_show(1)",
                           "job_list(NULL, NULL, 10)",
                           "job_body(1)",
                           "job_attempts(1)",
                           "job_errors(NULL, 10)",
                           "queue_list(NULL)",
                           "recovery_totals()",
                           "recover_preview()",
                           "lease_suspects('boot', 10)"}) {
    EXPECT_EQ(may(call), "") << call;
  }
}

TEST_F(JobPrivilegesTest, OperatingAndTheTablesStayClosed) {
  for (const auto* call :
       {"job_redrive(NULL, 10)", "job_remove(1)", "job_change_many('cancel', '{1}', '{available}', NULL)",
        "job_prune(interval '1 day', interval '1 day', 0, 10)", "queue_set('q')", "queue_pause('q', true)",
        "queue_purge('q', 10)"}) {
    EXPECT_EQ(alice_.fail(here("SELECT leasehold_internal." + std::string(call))).state, "42501") << call;
  }
  for (const auto& row : observer_.rows("SELECT relname FROM pg_class WHERE relkind = 'r' AND relnamespace = '" +
                                        store_.schema() + "_internal'::regnamespace")) {
    const auto table = store_.schema() + "_internal." + row[0].value_or("");
    EXPECT_EQ(alice_.fail("SELECT * FROM " + table).state, "42501") << table;
    EXPECT_EQ(alice_.fail("DELETE FROM " + table).state, "42501") << table;
  }
}

TEST_F(JobPrivilegesTest, InternalFunctionsStayClosed) {
  EXPECT_EQ(observer_.scalar("SELECT coalesce(string_agg(proname, ' ' ORDER BY proname), '') FROM pg_proc AS p WHERE "
                             "pronamespace = '" +
                             store_.schema() + "_internal'::regnamespace AND has_function_privilege('" + role_ +
                             "', oid, 'EXECUTE') AND coalesce(obj_description(oid, 'pg_proc'), '') NOT IN "
                             "('scope: read', 'scope: produce', 'scope: work')"),
            "");
}

// Beyond these the library refuses, too: core/job_limits.h, core/limits.h, limit/rate.h.
TEST_F(JobFunctionsTest, SqlHasTheBoundsOfTheLibrary) {
  const auto id = enqueue(alice_);
  const auto held = id + ", " + claimed(alice_);
  const std::string long_text = "repeat('x', 4097)";
  for (const auto& beyond : {std::string("queue_set('q', p_max_running => 2147483648)"),
                             std::string("queue_set('q', p_max_per_group => -1)"),
                             std::string("queue_set('q', p_rate_count => 1000001, p_rate_period => '1 second')"),
                             std::string("queue_set('q', p_rate_count => 2147483648, p_rate_period => '1 day')"),
                             std::string("queue_set('q', p_rate_count => 1, p_rate_period => '101 years')"),
                             std::string("queue_set('q', p_default_ttl => '31 days')"),
                             "queue_pause('q', true, " + long_text + ")",
                             std::string("queue_purge('q', 0)"),
                             std::string("job_redrive('q', 0)"),
                             "job_cancel(1, " + long_text + ")",
                             std::string("job_enqueue('q', '', p_delay => '-1 second')"),
                             std::string("job_enqueue('q', '', p_delay => '101 years')"),
                             std::string("job_enqueue('q', '', p_delay => '1 second', p_run_at => now())"),
                             std::string("job_enqueue('q', '', p_run_at => 'infinity')"),
                             std::string("job_enqueue('q', '', p_backoff_max => '101 years')"),
                             std::string("job_enqueue('q', '', p_tags => ARRAY[E'line\nbreak'])"),
                             std::string("job_enqueue('q', '', p_depends_on => array_fill(1::bigint, ARRAY[1001]))"),
                             std::string("job_enqueue('q', '', p_depends_on => '{1}', p_if_failed => 'panic')"),
                             std::string("job_enqueue('q', '', p_if_failed => 'panic')"),
                             std::string("job_enqueue('q', '', p_if_failed => NULL)"),
                             std::string("job_enqueue_many('q', '{x}', p_delay => '-1 second')"),
                             "job_settle(" + held + ", 'fail', p_delay => '101 years')",
                             "job_settle(" + held + ", 'snooze', p_delay => '101 years')",
                             "job_heartbeat(" + held + ", p_stage => E'line\nbreak')",
                             std::string("rate_take('api', '1 second', p_patience => '-1 second')"),
                             std::string("rate_set('api', '2 days')"),
                             std::string("rate_set('api', '1 second', 10001)")}) {
    EXPECT_EQ(alice_.fail(here("SELECT leasehold_internal." + beyond)).state, "LH003") << beyond;
  }
  // And up to them nothing breaks.
  for (const auto& within : {std::string("queue_set('q', 2147483647, 2147483647, 1000000, '1 second', '30 days')"),
                             std::string("queue_set('q', p_rate_count => 2147483647, p_rate_period => '100 years')"),
                             std::string("job_enqueue('q', 'x', p_backoff_max => '100 years')"),
                             std::string("job_claim('q')"), std::string("job_enqueue('q', '', p_delay => '100 years')"),
                             "job_settle(" + held + ", 'snooze', p_delay => '100 years')"}) {
    EXPECT_EQ(alice_.fail(here("SELECT leasehold_internal." + within)).message, "") << within;
  }
}

}  // namespace
}  // namespace leasehold::support
