// Who may look at sessions and claims, who may work with them, and who may operate on those of others.
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
      observer_.run(here("SELECT leasehold.grant_scope('" + role(scope) + "', '" + scope + "')"));
      // The clock of these tests is a table; the real one is everybody's.
      observer_.run(here("GRANT SELECT ON leasehold.test_clock TO " + role(scope)));
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

  const std::vector<std::string> looks_ = {"leasehold.session_list()",
                                           "leasehold.item_list()",
                                           "leasehold.claim_list()",
                                           "leasehold.ago(interval '1 s')",
                                           "count(*) FROM leasehold.active_sessions",
                                           "count(*) FROM leasehold.items",
                                           "count(*) FROM leasehold.claims",
                                           "count(*) FROM leasehold.leases"};
  const std::vector<std::string> works_ = {"leasehold.session_open('ann')",
                                           "leasehold.item_add('SD-1')",
                                           "leasehold.claim_take('SD-1', 'ann', 1)",
                                           "leasehold.claim_take_own('SD-1', 'ann', 1)",
                                           "leasehold.session_heartbeat('ann', 1, progress => 'x')",
                                           "leasehold.session_park('ann', 1, interval '1 s')",
                                           "leasehold.claim_release('SD-1', 'ann', 1)",
                                           "leasehold.claim_switch('SD-1', 1, 'SD-2')",
                                           "leasehold.claim_hand_over('SD-1', 'ann', 1)",
                                           "leasehold.claim_transfer('SD-1', 'ann', 1)",
                                           "leasehold.item_done('SD-1', 1)",
                                           "leasehold.item_reopen('SD-1')",
                                           "leasehold.session_close('ann', 1)",
                                           "leasehold.await_topic('item:SD-1', interval '1 s')"};
  const std::vector<std::string> operates_ = {
      "leasehold.claim_assign('SD-1', 'ann')", "leasehold.claim_transfer('SD-1', 'ann')",
      "leasehold.claim_revoke('SD-1', 'why')", "leasehold.session_revoke('ann', 'why')",
      "leasehold.claim_take('SD-1', 'ann')",   "leasehold.claim_take_for('SD-1', 'ann')",
      "leasehold.item_remove('SD-1')"};
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
    EXPECT_EQ(alice_.fail(here(std::string("SELECT * FROM leasehold.") + table)).state, "42501") << table;
    EXPECT_EQ(alice_.fail(here(std::string("DELETE FROM leasehold.") + table)).state, "42501") << table;
  }
  for (const auto* inner : {"leasehold.session_reclaim(1)", "leasehold.item_lock('SD-1', '{}')",
                            "leasehold.claim_take_as('SD-1', 'ann', NULL, false)", "leasehold.claim_lock('SD-1', 1)",
                            "leasehold.claim_give('SD-1', 'ann', NULL, '')"}) {
    EXPECT_EQ(state_of(inner), "42501") << inner;
  }
}

}  // namespace
}  // namespace leasehold::support
