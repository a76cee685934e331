// The scopes that may look at sessions and claims, use them, and operate on those of others.
#include <gtest/gtest.h>

#include "sql/sql_fixture.h"

namespace leasehold::support {
namespace {

/// A role for each scope.
class SessionPrivilegesTest : public SqlTest {
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
  std::string state_of(const std::string& question) { return alice_.fail(here("SELECT " + question)).state; }

  const std::vector<std::string> looks_ = {
      "leasehold_internal.session_list()",      "leasehold_internal.item_list()",   "leasehold_internal.claim_list()",
      "leasehold_internal.ago(interval '1 s')", "count(*) FROM leasehold.sessions", "count(*) FROM leasehold.items",
      "count(*) FROM leasehold.claims",         "count(*) FROM leasehold.leases"};
  const std::vector<std::string> works_ = {"leasehold_internal.session_open('ann')",
                                           "leasehold_internal.item_add('SD-1')",
                                           "leasehold_internal.claim_take('SD-1', 'ann', 1)",
                                           "leasehold_internal.claim_take_own('SD-1', 'ann', 1)",
                                           "leasehold_internal.session_heartbeat('ann', 1, p_progress => 'x')",
                                           "leasehold_internal.session_park('ann', 1, interval '1 s')",
                                           "leasehold_internal.claim_release('SD-1', 'ann', 1)",
                                           "leasehold_internal.claim_switch('SD-1', 1, 'SD-2')",
                                           "leasehold_internal.claim_hand_over('SD-1', 'ann', 1)",
                                           "leasehold_internal.claim_transfer('SD-1', 'ann', 1)",
                                           "leasehold_internal.item_done('SD-1', 1)",
                                           "leasehold_internal.item_reopen('SD-1')",
                                           "leasehold_internal.session_close('ann', 1)",
                                           "leasehold_internal.await_topic('item:SD-1', interval '1 s')"};
  const std::vector<std::string> operates_ = {
      "leasehold_internal.claim_assign('SD-1', 'ann')", "leasehold_internal.claim_transfer('SD-1', 'ann')",
      "leasehold_internal.claim_revoke('SD-1', 'why')", "leasehold_internal.session_revoke('ann', 'why')",
      "leasehold_internal.claim_take('SD-1', 'ann')",   "leasehold_internal.claim_take_for('SD-1', 'ann')",
      "leasehold_internal.item_remove('SD-1')"};
};

TEST_F(SessionPrivilegesTest, EachScopeIncludesTheOneBefore) {
  const std::string denied = "42501";
  act_as("read");
  for (const auto& look : looks_) EXPECT_EQ(state_of(look), "") << look;
  for (const auto& work : works_) EXPECT_EQ(state_of(work), denied) << work;
  act_as("work");
  for (const auto& look : looks_) EXPECT_EQ(state_of(look), "") << look;
  for (const auto& work : works_) EXPECT_EQ(state_of(work), "") << work;
  for (const auto& operate : operates_) EXPECT_EQ(state_of(operate), denied) << operate;
  act_as("admin");
  for (const auto& work : works_) EXPECT_EQ(state_of(work), "") << work;
  for (const auto& operate : operates_) EXPECT_EQ(state_of(operate), "") << operate;
}

TEST_F(SessionPrivilegesTest, TheTablesStayClosed) {
  act_as("admin");
  for (const auto* table : {"session", "item", "item_conflict", "claim"}) {
    EXPECT_EQ(alice_.fail(here(std::string("SELECT * FROM leasehold_internal.") + table)).state, "42501") << table;
    EXPECT_EQ(alice_.fail(here(std::string("DELETE FROM leasehold_internal.") + table)).state, "42501") << table;
  }
  for (const auto* inner :
       {"leasehold_internal.session_reclaim(1)", "leasehold_internal.item_hold('SD-1')",
        "leasehold_internal.claim_share('SD-1', 1)", "leasehold_internal.claim_get(NULL, 'ann', NULL)"}) {
    EXPECT_EQ(state_of(inner), "42501") << inner;
  }
}

}  // namespace
}  // namespace leasehold::support
