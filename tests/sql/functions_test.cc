// The SQL functions as psql, an edge function or an ORM calls them.
#include <gtest/gtest.h>

#include "sql/sql_fixture.h"

namespace leasehold::support {
namespace {

class FunctionsTest : public SqlTest {};

TEST_F(FunctionsTest, AreCalledByPositionOrByNameWithDefaults) {
  EXPECT_EQ(alice_.scalar(here("SELECT outcome FROM leasehold_internal.lock_acquire('a', 'alice')")), "granted");
  EXPECT_EQ(
      alice_.scalar(here("SELECT outcome FROM leasehold_internal.lock_acquire(p_name => 'b', p_holder => 'alice', "
                         "p_ttl => interval '5 minutes', p_host => 'web-1')")),
      "granted");
  EXPECT_EQ(alice_.scalar(here("SELECT holder || ' ' || host || ' ' || ttl FROM leasehold_internal.lock_show('b')")),
            "alice web-1 00:05:00");
  const auto token = alice_.scalar(here("SELECT token FROM leasehold_internal.lock_show('a')"));
  EXPECT_EQ(alice_.scalar(
                here("SELECT outcome FROM leasehold_internal.lock_heartbeat(p_name => 'a', p_token => " + token + ")")),
            "extended");
  EXPECT_EQ(alice_.scalar(here("SELECT outcome FROM leasehold_internal.lock_release('a', " + token + ")")), "released");
  EXPECT_EQ(alice_.scalar(here("SELECT outcome FROM leasehold_internal.lock_revoke('b', p_reason => 'enough')")),
            "revoked");
}

TEST_F(FunctionsTest, RefusalsSayWhoHoldsIt) {
  acquired("deploy");
  EXPECT_EQ(
      bob_.scalar(here("SELECT outcome || ' by ' || holder FROM leasehold_internal.lock_acquire('deploy', 'bob')")),
      "held by alice");
}

TEST_F(FunctionsTest, Promise04_ALateReleaseOrHeartbeatIsLostAndChangesNothing) {
  const auto token = acquired("deploy");
  store_.advance(31s);
  bob_.run(here("SELECT leasehold_internal.lock_acquire('deploy', 'bob')"));
  const auto before = store_.dump();
  EXPECT_EQ(
      alice_.scalar(here("SELECT outcome || ' ' || why FROM leasehold_internal.lock_release('deploy', " + token + ")")),
      "lost superseded");
  EXPECT_EQ(alice_.scalar(
                here("SELECT outcome || ' ' || why FROM leasehold_internal.lock_heartbeat('deploy', " + token + ")")),
            "lost superseded");
  EXPECT_EQ(store_.dump(), before);
}

TEST_F(FunctionsTest, Promise14_FenceRaisesLH001WithAHint) {
  const auto token = acquired("deploy");
  EXPECT_EQ(alice_.fail(here("SELECT leasehold_internal.fence('deploy', " + token + ")")).state, "");
  const auto stale = alice_.fail(here("SELECT leasehold_internal.fence('deploy', 1)"));
  EXPECT_EQ(stale.state, "LH001");
  EXPECT_NE(stale.message.find("HINT"), std::string::npos) << stale.message;
  EXPECT_EQ(alice_.fail(here("SELECT leasehold_internal.fence('nothing', 1)")).state, "LH001");
  EXPECT_EQ(alice_.fail(here("SELECT leasehold_internal.fence(NULL, 1)")).state, "LH001");
  EXPECT_EQ(alice_.fail(here("SELECT leasehold_internal.fence('deploy', NULL)")).state, "LH001");
}

TEST_F(FunctionsTest, Promise12_TheEventRollsBackWithTheChange) {
  alice_.run("BEGIN");
  alice_.run(here("SELECT leasehold_internal.lock_acquire('deploy', 'alice')"));
  EXPECT_EQ(alice_.scalar(here("SELECT what FROM leasehold_internal.event_list(0, NULL, 10)")), "acquired");
  alice_.run("ROLLBACK");
  EXPECT_EQ(alice_.scalar(here("SELECT count(*) FROM leasehold_internal.event_list(0, NULL, 10)")), "0");
}

TEST_F(FunctionsTest, OtherIsolationLevelsAreRefused) {
  const auto token = acquired("deploy");
  for (const auto* level : {"REPEATABLE READ", "SERIALIZABLE"}) {
    for (const auto& act : {here("SELECT leasehold_internal.lock_acquire('x', 'alice')"),
                            here("SELECT leasehold_internal.lock_wait('x', 'alice', 'r')"),
                            here("SELECT leasehold_internal.lock_leave('x', 'r')"),
                            here("SELECT leasehold_internal.lock_heartbeat('deploy', " + token + ")"),
                            here("SELECT leasehold_internal.lock_release('deploy', " + token + ")"),
                            here("SELECT leasehold_internal.lock_revoke('deploy', 'why')"),
                            here("SELECT leasehold_internal.prune(interval '1 day', 10)")}) {
      alice_.run(std::string("BEGIN ISOLATION LEVEL ") + level);
      EXPECT_EQ(alice_.fail(act).state, "LH002") << level << ": " << act;
      alice_.run("ROLLBACK");
    }
  }
}

TEST_F(FunctionsTest, GrantsAreDurableEvenIfTheSessionIsNot) {
  alice_.run("SET synchronous_commit = off; BEGIN");
  alice_.run(here("SELECT leasehold_internal.lock_acquire('deploy', 'alice')"));
  EXPECT_EQ(alice_.scalar("SHOW synchronous_commit"), "on");
  alice_.run("COMMIT");
  EXPECT_EQ(alice_.scalar("SHOW synchronous_commit"), "off") << "only for the transaction that granted";
  alice_.run("SET synchronous_commit = remote_apply; BEGIN");
  alice_.run(here("SELECT leasehold_internal.lock_acquire('other', 'alice')"));
  EXPECT_EQ(alice_.scalar("SHOW synchronous_commit"), "remote_apply") << "a stricter one stays";
  alice_.run("COMMIT");
}

TEST_F(FunctionsTest, BadInputIsRefusedAndChangesNothing) {
  acquired("deploy");
  const auto before = store_.dump();
  const auto state = [this](const std::string& sql) { return alice_.fail(here(sql)).state; };
  for (const auto* name :
       {"''", "repeat('x', 513)", "repeat('x', 1000000)", "E'a\\nb'", "E'\\x01'", "E'\\x7f'", "NULL"}) {
    EXPECT_EQ(state(std::string("SELECT leasehold_internal.lock_acquire(") + name + ", 'alice')"), "LH003") << name;
    EXPECT_EQ(state(std::string("SELECT leasehold_internal.lock_wait(") + name + ", 'alice', 'r')"), "LH003") << name;
  }
  EXPECT_EQ(state("SELECT leasehold_internal.lock_acquire(E'\\xff', 'alice')"), "22021") << "invalid UTF-8";
  EXPECT_NE(state("SELECT leasehold_internal.lock_acquire('x', NULL)"), "") << "a lock needs a holder";
  for (const auto* ttl : {"'0 s'", "'-1 s'", "'49 ms'", "'31 days'", "'1000 years'", "NULL"}) {
    EXPECT_EQ(state(std::string("SELECT leasehold_internal.lock_acquire('x', 'alice', ") + ttl + "::interval)"),
              "LH003")
        << ttl;
  }
  const auto token = observer_.scalar(here("SELECT token FROM leasehold_internal.lock_show('deploy')"));
  EXPECT_EQ(state("SELECT leasehold_internal.lock_heartbeat('deploy', " + token + ", interval '-1 s')"), "LH003");
  EXPECT_EQ(state("SELECT leasehold_internal.lock_wait('deploy', 'alice', NULL)"), "LH003");
  EXPECT_EQ(store_.dump(), before);
}

TEST_F(FunctionsTest, ATokenOfNullIsNeverCurrent) {
  acquired("deploy");
  const auto before = store_.dump();
  EXPECT_NE(alice_.scalar(here("SELECT outcome FROM leasehold_internal.lock_release('deploy', NULL)")), "released");
  EXPECT_NE(alice_.scalar(here("SELECT outcome FROM leasehold_internal.lock_heartbeat('deploy', NULL)")), "extended");
  EXPECT_EQ(store_.dump(), before);
}

TEST_F(FunctionsTest, TheViewShowsWhatIsHeld) {
  acquired("deploy", "30 seconds");
  store_.advance(10s);
  EXPECT_EQ(alice_.scalar(here("SELECT kind || ' ' || key || ' ' || state || ' ' || holder || ' ' || "
                               "(held_until - leasehold_internal.now()) FROM leasehold.leases")),
            "lock deploy running alice 00:00:20");
  store_.advance(20s);
  EXPECT_EQ(alice_.scalar(here("SELECT state FROM leasehold.leases")), "expired");
}

TEST_F(FunctionsTest, TheCallersSearchPathDoesNotMatter) {
  alice_.run("CREATE SCHEMA IF NOT EXISTS evil_" + store_.schema() + "; SET search_path = evil_" + store_.schema());
  alice_.run("CREATE TABLE lease (id int); CREATE TABLE lock (name text)");
  EXPECT_EQ(alice_.scalar(here("SELECT outcome FROM leasehold_internal.lock_acquire('deploy', 'alice')")), "granted");
  alice_.run("DROP SCHEMA evil_" + store_.schema() + " CASCADE");
}

class PrivilegesTest : public ::testing::Test {
 protected:
  void SetUp() override {
    role_ = "role_" + store_.schema();
    admin_.run("CREATE ROLE " + role_ + "; GRANT USAGE ON SCHEMA " + store_.schema() + ", " + store_.schema() +
               "_internal TO " + role_);
  }
  void TearDown() override { admin_.run("RESET ROLE; DROP OWNED BY " + role_ + "; DROP ROLE " + role_); }

  TestStore store_{StoreKind::postgres};
  PgConnection admin_{test_postgres_url()};
  std::string role_;
};

TEST_F(PrivilegesTest, EveryFunctionIsClosedForPublic) {
  EXPECT_EQ(admin_.scalar("SELECT coalesce(string_agg(proname, ' '), '') FROM pg_proc WHERE pronamespace = '" +
                          store_.schema() + "_internal'::regnamespace AND has_function_privilege('" + role_ +
                          "', oid, 'EXECUTE')"),
            "");
}

TEST_F(PrivilegesTest, EveryTableAndViewIsClosedForPublic) {
  EXPECT_EQ(admin_.scalar("SELECT coalesce(string_agg(relname, ' '), '') FROM pg_class WHERE relnamespace = '" +
                          store_.schema() +
                          "_internal'::regnamespace AND relkind IN ('r', 'v', 'S') AND "
                          "has_table_privilege('" +
                          role_ + "', oid, 'SELECT,INSERT,UPDATE,DELETE')"),
            "");
}

TEST_F(PrivilegesTest, AScopeIsGrantedAndNarrowedAgain) {
  const auto may = [&](const std::string& function) {
    return admin_.scalar("SELECT has_function_privilege('" + role_ + "', '" + store_.schema() + "_internal." +
                         function + "', 'EXECUTE')");
  };
  const auto grant = [&](const std::string& scope) {
    admin_.run("SELECT " + store_.schema() + "_internal.grant_scope('" + role_ + "', '" + scope + "')");
  };
  grant("admin");
  EXPECT_EQ(may("lock_revoke(text, text, bigint)"), "t");
  EXPECT_EQ(may("fence(text, bigint)"), "t");
  grant("read");
  EXPECT_EQ(may("lock_revoke(text, text, bigint)"), "f");
  EXPECT_EQ(may("fence(text, bigint)"), "f");
  EXPECT_EQ(may("lock_show(text)"), "t");
}

TEST_F(PrivilegesTest, PublicAndNoneAreNotRoles) {
  for (const auto* role : {"public", "PUBLIC", "role_that_nobody_made"}) {
    const auto refused = admin_.fail("SELECT " + store_.schema() + "_internal.grant_scope('" + role + "', 'read')");
    EXPECT_EQ(refused.state, "LH003") << role << ": " << refused.message;
  }
  EXPECT_EQ(admin_.scalar("SELECT has_function_privilege('" + role_ + "', '" + store_.schema() +
                          "_internal.lock_show(text)', 'EXECUTE')"),
            "f");
}

TEST_F(PrivilegesTest, AScopeComesBackWithTheFunctionsThatWereDropped) {
  const auto scope = [&] {
    return admin_.scalar("SELECT scope FROM " + store_.schema() + "_internal.granted_scopes() WHERE role = '" + role_ +
                         "'");
  };
  admin_.run("SELECT " + store_.schema() + "_internal.grant_scope('" + role_ + "', 'work')");
  admin_.run("GRANT EXECUTE ON FUNCTION " + store_.schema() + "_internal.lock_revoke(text, text, bigint) TO " + role_);
  EXPECT_EQ(scope(), "work") << "one function of a wider scope is not that scope";
  auto migrations = store_.open().migrations();
  ASSERT_TRUE(ok(migrations.down(3)));
  ASSERT_TRUE(ok(migrations.up()));
  EXPECT_EQ(scope(), "work");
  EXPECT_EQ(admin_.scalar("SELECT count(*) FROM " + store_.schema() + "_internal.granted"), "0");
}

TEST_F(PrivilegesTest, AFunctionThatWasGrantedWorksWithoutTheTables) {
  admin_.run(
      "GRANT EXECUTE ON FUNCTION " + store_.schema() +
      "_internal.lock_acquire(text, text, interval, text, text, text, bigint, bigint, text, text, interval) TO " +
      role_);
  admin_.run("SET ROLE " + role_);
  EXPECT_EQ(admin_.scalar("SELECT outcome FROM " + store_.schema() + "_internal.lock_acquire('deploy', 'alice')"),
            "granted");
  EXPECT_EQ(admin_.fail("SELECT * FROM " + store_.schema() + "_internal.lease").state, "42501");
  EXPECT_EQ(admin_.fail("SELECT " + store_.schema() + "_internal.lock_revoke('deploy', 'why')").state, "42501");
}

}  // namespace
}  // namespace leasehold::support
