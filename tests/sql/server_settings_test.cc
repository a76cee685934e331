// Settings of the server, the database or the role do not matter: leasehold works with whatever its users have set.
#include <gtest/gtest.h>

#include <algorithm>

#include "leasehold/postgres.h"
#include "support/copied_database.h"
#include "support/job_helpers.h"
#include "support/pg.h"
#include "support/pgbouncer.h"
#include "support/process.h"

namespace leasehold::support {
namespace {

using namespace std::chrono_literals;

struct Setting {
  const char* name;
  const char* value;
};

/// Each of them would change what a query means, how it is planned, or how values are written as text.
constexpr Setting hostile[] = {
    {"default_transaction_isolation", "serializable"},
    {"default_transaction_deferrable", "on"},
    {"standard_conforming_strings", "off"},
    {"escape_string_warning", "off"},
    {"backslash_quote", "off"},
    {"plpgsql.extra_errors", "'all'"},
    {"plpgsql.extra_warnings", "'all'"},
    {"plpgsql.variable_conflict", "use_variable"},
    {"search_path", "hostile, pg_catalog"},
    {"datestyle", "'SQL, DMY'"},
    {"intervalstyle", "sql_standard"},
    {"timezone", "'Australia/Lord_Howe'"},
    {"bytea_output", "escape"},
    {"extra_float_digits", "-15"},
    {"client_encoding", "latin1"},
    {"client_min_messages", "error"},
    {"quote_all_identifiers", "on"},
    {"check_function_bodies", "off"},
    {"array_nulls", "off"},
    {"transform_null_equals", "on"},
    {"row_security", "off"},
    {"jit_above_cost", "0"},
    {"plan_cache_mode", "force_custom_plan"},
    {"enable_indexscan", "off"},
    {"from_collapse_limit", "1"},
    {"join_collapse_limit", "1"},
    {"geqo_threshold", "2"},
    {"gin_fuzzy_search_limit", "1"},
    {"force_parallel_mode", "on"},
    {"synchronous_commit", "off"},
    {"lock_timeout", "1"},
    {"default_tablespace", "pg_default"},
    {"session_replication_role", "local"},
    {"lc_messages", "'C'"},
    {"lc_time", "'C'"},
    {"xmlbinary", "hex"},
};

class ServerSettingsTest : public ::testing::Test {
 protected:
  ServerSettingsTest() {
    // Functions that would be called in place of PostgreSQL's own, by any function that follows the search path.
    PgConnection(database_.url())
        .run(
            "CREATE SCHEMA hostile;"
            "CREATE FUNCTION hostile.now() RETURNS timestamptz LANGUAGE sql AS 'SELECT NULL::timestamptz';"
            "CREATE FUNCTION hostile.unnest(bigint[]) RETURNS SETOF bigint LANGUAGE sql AS 'SELECT 1/0::bigint';"
            "CREATE FUNCTION hostile.clock_timestamp() RETURNS timestamptz LANGUAGE sql AS 'SELECT NULL::timestamptz';"
            "CREATE FUNCTION hostile.set_config(text, text, boolean) RETURNS text LANGUAGE sql AS 'SELECT NULL::text'");
    const bool renamed = PgConnection(database_.url()).scalar("SHOW server_version_num") >= "160000";
    for (const auto& [name, value] : hostile) {
      database_.set(renamed && std::string(name) == "force_parallel_mode" ? "debug_parallel_query" : name, value);
    }
  }

  static Store opened(const std::string& url) { return must(Store::open(url, {.migrate = MigrateOnOpen::yes})); }

  static void use_locks(const Store& store) {
    const auto locks = store.locks();
    const auto grant = take(locks, "deploy", {}, by("alice"));
    EXPECT_TRUE(fails(locks.acquire("deploy", {}, by("bob")), Errc::held));
    EXPECT_TRUE(ok(locks.heartbeat("deploy", grant.token)));
    EXPECT_TRUE(ok(locks.release("deploy", grant.token)));
    EXPECT_TRUE(ok(store.leases()));
  }

  static void use_jobs(const Store& store) {
    const auto jobs = store.jobs();
    add_many(jobs, "many", 300);
    EXPECT_EQ(claim(jobs, "many", claiming(100), by("ann")).jobs.size(), 100U);
    const auto first = add(jobs, "mail", {.payload = "a\\b\xff"});
    const auto second = add(jobs, "mail", {.payload = "2", .delay = 1h, .dedupe_key = "k", .tags = {"NULL"}});
    add(jobs, "mail", {.depends_on = {first, second}});
    const auto job = claim_one(jobs, "mail", "ann");
    EXPECT_EQ(job.payload, "a\\b\xff");
    EXPECT_TRUE(ok(jobs.heartbeat(job.id, job.token)));
    EXPECT_TRUE(ok(jobs.complete(job.id, job.token, "done")));
    const auto lease = must(jobs.open_lease(30s, by("ann")));
    EXPECT_TRUE(fails(jobs.claim("mail", claiming(10), {.holder = holder("ann"), .lease = lease}), Errc::empty));
    EXPECT_TRUE(ok(jobs.close(lease)));
    EXPECT_TRUE(ok(jobs.cancel(second)));
    EXPECT_EQ(must(jobs.list({.max = 1000})).size(), 303U);
    EXPECT_TRUE(ok(store.queues().list()));
  }

  static void use_schedules(const Store& store) {
    const auto schedules = store.schedules();
    ASSERT_TRUE(ok(schedules.set("nightly", {.rule = CronRule{"0 3 L * MON#2", "Europe/Berlin"}})));
    EXPECT_EQ(must(schedules.next("nightly", 5)).size(), 5U);
    EXPECT_TRUE(ok(schedules.trigger("nightly")));
    const auto run = schedules.acquire("nightly");
    ASSERT_TRUE(ok(run));
    EXPECT_TRUE(ok(schedules.settle("nightly", run->grant.token)));
  }

  static void use_everything(const Store& store) {
    use_locks(store);
    use_jobs(store);
    use_schedules(store);
    const auto chunks = store.chunks();
    ASSERT_TRUE(ok(chunks.plan("rows", must(plan_range(1, 100, 10)))));
    const auto chunk = chunks.claim("rows");
    ASSERT_TRUE(ok(chunk));
    EXPECT_TRUE(ok(chunks.progress("rows")));
    const auto session = store.sessions().open();
    ASSERT_TRUE(ok(session));
    ASSERT_TRUE(ok(store.items().add("item-1")));
    EXPECT_TRUE(ok(store.claims().take("item-1", session->key)));
    EXPECT_TRUE(ok(store.claims().list()));
    EXPECT_TRUE(ok(store.recover()));
    EXPECT_TRUE(ok(store.prune(1h)));
    EXPECT_TRUE(ok(store.events()));
    EXPECT_TRUE(ok(store.status()));
  }

  static std::string drifts(const Store& store) {
    std::string text;
    for (const auto& drift : must(store.migrations().verify())) text += drift.object + ": " + drift.problem + "\n";
    return text;
  }

  EmptyDatabase database_{test_postgres_url()};
};

TEST_F(ServerSettingsTest, EveryFeatureWorksWhateverTheDatabaseHasSet) {
  const auto store = opened(database_.url());
  use_everything(store);
  EXPECT_EQ(drifts(store), "");
  const auto findings = must(store.doctor());
  EXPECT_TRUE(std::any_of(findings.begin(), findings.end(), [](const Finding& finding) {
    return finding.what == "default_transaction_isolation = serializable" && finding.level == Finding::Level::fine;
  }));
}

TEST_F(ServerSettingsTest, EveryFeatureWorksBehindAPooler) {
  const PgBouncer bouncer(database_.url());
  const auto store = opened(bouncer.url());
  use_everything(store);
  EXPECT_EQ(drifts(store), "");
}

TEST_F(ServerSettingsTest, TimeoutsOfTheRoleDoNotBreakAMigration) {
  PgConnection(database_.url())
      .run(
          "CREATE FUNCTION hostile.dawdle() RETURNS event_trigger LANGUAGE plpgsql AS 'BEGIN PERFORM pg_sleep(2); END';"
          "CREATE EVENT TRIGGER slow_schemas ON ddl_command_end WHEN TAG IN ('CREATE SCHEMA') "
          "EXECUTE FUNCTION hostile.dawdle()");
  database_.set("idle_in_transaction_session_timeout", "1");
  database_.set("statement_timeout", "1000");
  auto migrations = Migrations::open(database_.url(), {});
  ASSERT_TRUE(ok(migrations));
  EXPECT_TRUE(ok(migrations->up()));
}

TEST_F(ServerSettingsTest, ADatabaseThatIsReadOnlyByDefaultReportsIt) {
  opened(database_.url());
  database_.set("default_transaction_read_only", "on");
  const auto store = must(Store::open(database_.url()));
  const auto refused = store.locks().acquire("deploy");
  ASSERT_TRUE(fails(refused, Errc::unavailable));
  EXPECT_NE(refused.error().message.find("default_transaction_read_only"), std::string::npos)
      << refused.error().message;
}

TEST(OldServerTest, TheDoctorNamesTheOldestServerThatIsTested) {
  const CopiedDatabase database(test_postgres_url());
  PgConnection(database.url())
      .run(
          "ALTER FUNCTION leasehold_internal.store_facts() RENAME TO true_facts;"
          "CREATE FUNCTION leasehold_internal.store_facts() RETURNS TABLE (name text, value text) LANGUAGE sql STABLE "
          "AS "
          "$$ SELECT t.name, CASE t.name WHEN 'server_version' THEN '14.11' ELSE t.value END FROM "
          "leasehold_internal.true_facts() AS t $$");
  const auto store = must(Store::open(database.url()));
  const auto findings = must(store.doctor());
  const auto found = std::find_if(findings.begin(), findings.end(),
                                  [](const Finding& finding) { return finding.what == "postgresql 14.11"; });
  ASSERT_NE(found, findings.end());
  EXPECT_EQ(found->level, Finding::Level::danger);
  EXPECT_NE(found->advice.find("PostgreSQL 15 to 18"), std::string::npos) << found->advice;
}

class DumpTest : public ::testing::Test {
 protected:
  void SetUp() override {
    const auto server = PgConnection(test_postgres_url()).scalar("SHOW server_version");
    const auto tool = run({"pg_dump", "--version"}).out;
    const auto major = [](const std::string& text) { return std::stoi(text.substr(text.find_first_of("0123456789"))); };
    if (major(tool) < major(server)) GTEST_SKIP() << "pg_dump of this machine is older than the server";
  }
  static std::string verified(const std::string& url) {
    std::string text;
    const auto store = must(Store::open(url));
    for (const auto& drift : must(store.migrations().verify())) text += drift.object + ": " + drift.problem + "\n";
    return text;
  }
  static void shell(const std::string& command) {
    const auto ended = run({"/bin/sh", "-c", command});
    ASSERT_EQ(ended.exit_code, 0) << command << ": " << ended.err;
  }

  CopiedDatabase original_{test_postgres_url()};
  EmptyDatabase copy_{test_postgres_url()};
};

TEST_F(DumpTest, ADumpThatWasRestoredHasNotDrifted) {
  take(must(Store::open(original_.url())).locks(), "deploy", {}, by("alice"));
  shell("pg_dump '" + original_.url() + "' | psql -q -v ON_ERROR_STOP=1 '" + copy_.url() + "' > /dev/null");
  EXPECT_EQ(verified(copy_.url()), "");
  EmptyDatabase custom(test_postgres_url());
  shell("pg_dump -Fc '" + original_.url() + "' | pg_restore --exit-on-error -d '" + custom.url() + "'");
  EXPECT_EQ(verified(custom.url()), "");
  EXPECT_EQ(must(must(Store::open(custom.url())).locks().show("deploy")).holder.name, "alice");
}

TEST_F(DumpTest, AChangeAfterARestoreIsStillFound) {
  shell("pg_dump '" + original_.url() + "' | psql -q -v ON_ERROR_STOP=1 '" + copy_.url() + "' > /dev/null");
  PgConnection(copy_.url()).run("ALTER VIEW leasehold.leases RENAME COLUMN tty TO terminal");
  EXPECT_NE(verified(copy_.url()).find("view leasehold.leases: differs"), std::string::npos) << verified(copy_.url());
}

}  // namespace
}  // namespace leasehold::support
