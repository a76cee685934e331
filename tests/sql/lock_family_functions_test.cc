// Shares, delays and several locks at once, as psql, an edge function or an ORM requests them, and the scopes that they
// need.
#include <gtest/gtest.h>

#include "sql/sql_fixture.h"

namespace leasehold::support {
namespace {

class LockFamilyFunctionsTest : public SqlTest {
 protected:
  std::string ask(const std::string& question) { return alice_.scalar(here("SELECT " + question)); }
  std::string state(const std::string& act) { return alice_.fail(here("SELECT leasehold_internal." + act)).state; }
};

TEST_F(LockFamilyFunctionsTest, AShareNeedsAHolderAndNothingElse) {
  EXPECT_EQ(ask("outcome || ' ' || ttl FROM leasehold_internal.lock_share('readers', 'ann')"), "granted 00:00:30");
  EXPECT_EQ(ask("outcome FROM leasehold_internal.lock_share('readers', 'bob')"), "granted");
  EXPECT_EQ(ask("holders || ' ' || permits || ' ' || coalesce(capacity::text, 'any') "
                "FROM leasehold_internal.lock_show('readers')"),
            "2 2 any");
  EXPECT_EQ(ask("outcome FROM leasehold_internal.lock_acquire('readers', 'cat')"), "held");
  EXPECT_EQ(ask("string_agg(holder, ' ' ORDER BY token) FROM leasehold_internal.lock_holders('readers')"), "ann bob");
}

TEST_F(LockFamilyFunctionsTest, PermitsAndCapacityAreGivenByName) {
  EXPECT_EQ(ask("outcome FROM leasehold_internal.lock_share('pool', 'ann', p_permits => 2, p_capacity => 5)"),
            "granted");
  EXPECT_EQ(ask("outcome FROM leasehold_internal.lock_share('pool', 'bob', p_permits => 4, p_capacity => 5)"), "held");
  EXPECT_EQ(ask("outcome || ' ' || why FROM leasehold_internal.lock_share('pool', 'bob', p_capacity => 6)"),
            "mismatch 5");
  EXPECT_EQ(ask("outcome FROM leasehold_internal.lock_share('pool', 'bob', p_permits => 3, p_capacity => 5)"),
            "granted");
}

TEST_F(LockFamilyFunctionsTest, SeveralLocksAreAnArray) {
  EXPECT_EQ(ask("outcome || ' ' || key FROM leasehold_internal.lock_acquire_all(ARRAY['b', 'a'], 'ann')"), "granted a");
  EXPECT_EQ(ask("outcome || ' ' || key FROM leasehold_internal.lock_acquire_all(ARRAY['c', 'b'], 'bob')"), "held b");
  const auto token = ask("token FROM leasehold_internal.lock_show('b')");
  EXPECT_EQ(ask("outcome FROM leasehold_internal.lock_release('b', " + token + ")"), "released");
  EXPECT_EQ(ask("outcome FROM leasehold_internal.lock_show('a')"), "free");
}

TEST_F(LockFamilyFunctionsTest, ADelayKeepsTheLockAndShowPrintsIt) {
  EXPECT_EQ(
      ask("outcome FROM leasehold_internal.lock_acquire('deploy', 'ann', interval '10 s', p_delay => interval '5 s')"),
      "granted");
  store_.advance(12s);
  EXPECT_EQ(ask("outcome || ' ' || why FROM leasehold_internal.lock_acquire('deploy', 'bob')"), "held delayed");
  EXPECT_EQ(ask("why || ' ' || (free_at - leasehold_internal.now()) FROM leasehold_internal.lock_show('deploy')"),
            "delayed 00:00:03");
}

TEST_F(LockFamilyFunctionsTest, ARevokeIsOfOneShareOrOfAll) {
  const auto ann = ask("token FROM leasehold_internal.lock_share('readers', 'ann')");
  ask("token FROM leasehold_internal.lock_share('readers', 'bob')");
  ask("token FROM leasehold_internal.lock_share('readers', 'cat')");
  EXPECT_EQ(
      ask("outcome || ' ' || holder FROM leasehold_internal.lock_revoke('readers', 'why', p_token => " + ann + ")"),
      "revoked ann");
  EXPECT_EQ(ask("outcome || ' ' || holder FROM leasehold_internal.lock_revoke('readers', 'why')"), "revoked cat");
  EXPECT_EQ(ask("count(*) FROM leasehold_internal.lock_holders('readers')"), "0");
}

TEST_F(LockFamilyFunctionsTest, TheViewHasARowForEveryShareAndEveryName) {
  ask("outcome FROM leasehold_internal.lock_share('readers', 'ann')");
  ask("outcome FROM leasehold_internal.lock_share('readers', 'bob')");
  ask("outcome FROM leasehold_internal.lock_acquire_all(ARRAY['a', 'b'], 'cat')");
  EXPECT_EQ(ask("string_agg(key || ' ' || holder, ', ' ORDER BY key, holder) FROM leasehold.leases"),
            "a cat, b cat, readers ann, readers bob");
}

TEST_F(LockFamilyFunctionsTest, Promise14_TheFenceCoversShares) {
  const auto ann = ask("token FROM leasehold_internal.lock_share('readers', 'ann')");
  ask("outcome FROM leasehold_internal.lock_share('readers', 'bob')");
  EXPECT_EQ(state("fence('readers', " + ann + ")"), "");
  ask("outcome FROM leasehold_internal.lock_release('readers', " + ann + ")");
  EXPECT_EQ(state("fence('readers', " + ann + ")"), "LH001");
}

TEST_F(LockFamilyFunctionsTest, BadInputIsRefusedAndChangesNothing) {
  const auto before = store_.dump();
  for (const auto* act :
       {"lock_share('x', 'ann', p_permits => 0)", "lock_share('x', 'ann', p_permits => 2, p_capacity => 1)",
        "lock_share('x', 'ann', p_capacity => 0)", "lock_share('x', 'ann', p_permits => NULL)",
        "lock_share('x', 'ann', p_capacity => 1000000001)", "lock_share('', 'ann')",
        "lock_share('x', 'ann', interval '0')", "lock_share('x', 'ann', p_delay => interval '-1 s')",
        "lock_acquire('x', 'ann', p_delay => interval '31 days')", "lock_acquire_all('{}', 'ann')",
        "lock_acquire_all(NULL, 'ann')", "lock_acquire_all(ARRAY['a', 'a'], 'ann')",
        "lock_acquire_all(ARRAY['a', NULL], 'ann')",
        "lock_acquire_all(ARRAY(SELECT i::text FROM generate_series(1, 101) AS i), 'ann')",
        "lock_wait('a', 'ann', 'r', p_patience => interval '61 s')", "lock_wait_all('{}', 'ann', 'r')",
        "lock_wait_all(ARRAY['a'], 'ann', NULL)"}) {
    EXPECT_EQ(state(act), "LH003") << act;
  }
  EXPECT_EQ(store_.dump(), before);
}

TEST_F(LockFamilyFunctionsTest, OtherIsolationLevelsAreRefused) {
  for (const auto* act : {"lock_share('x', 'ann')", "lock_acquire_all(ARRAY['x', 'y'], 'ann')",
                          "lock_wait_all(ARRAY['x', 'y'], 'ann', 'r')", "lock_leave_all(ARRAY['x', 'y'], 'r')"}) {
    alice_.run("BEGIN ISOLATION LEVEL REPEATABLE READ");
    EXPECT_EQ(state(act), "LH002") << act;
    alice_.run("ROLLBACK");
  }
}

/// A role for each scope.
class LockPrivilegesTest : public SqlTest {
 protected:
  void SetUp() override {
    for (const std::string scope : {"read", "work", "admin"}) {
      observer_.run("CREATE ROLE " + role(scope));
      observer_.run(here("SELECT leasehold_internal.grant_scope('" + role(scope) + "', '" + scope + "')"));
      // The clock of these tests is a table; the real one is everybody's.
      observer_.run(here("GRANT SELECT ON leasehold_internal.test_clock TO " + role(scope)));
    }
  }
  void TearDown() override {
    alice_.run("RESET ROLE");
    for (const std::string scope : {"read", "work", "admin"}) {
      observer_.run("DROP OWNED BY " + role(scope) + "; DROP ROLE " + role(scope));
    }
  }
  [[nodiscard]] std::string role(const std::string& scope) const { return scope + "_" + store_.schema(); }
  void act_as(const std::string& scope) { alice_.run("RESET ROLE; SET ROLE " + role(scope)); }
  std::string state_of(const std::string& act) { return alice_.fail(here("SELECT leasehold_internal." + act)).state; }

  const std::vector<std::string> looks_ = {"lock_show('a')", "lock_list('', false, 10)", "lock_holders('a')"};
  const std::vector<std::string> works_ = {"lock_acquire('a', 'ann')",
                                           "lock_share('b', 'ann')",
                                           "lock_acquire_all(ARRAY['c', 'd'], 'ann')",
                                           "lock_wait('a', 'ann', 'r1')",
                                           "lock_wait_all(ARRAY['c', 'd'], 'ann', 'r2')",
                                           "lock_leave('a', 'r1')",
                                           "lock_leave_all(ARRAY['c', 'd'], 'r2')",
                                           "lock_heartbeat('a', 1)",
                                           "lock_release('a', 1)"};
};

TEST_F(LockPrivilegesTest, EachScopeIncludesTheOneBefore) {
  const std::string denied = "42501";
  act_as("read");
  for (const auto& look : looks_) EXPECT_EQ(state_of(look), "") << look;
  for (const auto& work : works_) EXPECT_EQ(state_of(work), denied) << work;
  EXPECT_EQ(state_of("fence('a', 1)"), denied);
  act_as("work");
  for (const auto& look : looks_) EXPECT_EQ(state_of(look), "") << look;
  for (const auto& work : works_) EXPECT_EQ(state_of(work), "") << work;
  EXPECT_EQ(state_of("fence('a', 1)"), "LH001") << "allowed; the token is not current";
  EXPECT_EQ(state_of("lock_revoke('a', 'why')"), denied);
  act_as("admin");
  EXPECT_EQ(state_of("lock_revoke('a', 'why')"), "");
}

TEST_F(LockPrivilegesTest, TheTablesAndWhatIsInsideStayClosed) {
  act_as("admin");
  for (const auto* table : {"lock", "lock_share", "waiter"}) {
    EXPECT_EQ(alice_.fail(here(std::string("SELECT * FROM leasehold_internal.") + table)).state, "42501") << table;
  }
  for (const auto* inner : {"lock_rows(ARRAY['a'])", "lock_leave_line(ARRAY['a'], 'r', now(), 'x')",
                            "lock_end(1, 'a', 'expired', NULL, '{}', now())"}) {
    EXPECT_EQ(state_of(inner), "42501") << inner;
  }
}

}  // namespace
}  // namespace leasehold::support
