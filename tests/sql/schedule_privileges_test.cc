// Who may look at schedules, who may run them, and who may operate on them.
#include <gtest/gtest.h>

#include "sql/sql_fixture.h"

namespace leasehold::support {
namespace {

/// A role for each scope.
class SchedulePrivilegesTest : public SqlTest {
 protected:
  void SetUp() override {
    for (const std::string scope : {"read", "work", "admin"}) {
      observer_.run("CREATE ROLE " + role(scope));
      observer_.run(here("SELECT leasehold.grant_scope('" + role(scope) + "', '" + scope + "')"));
      // The clock of these tests is a table; the real one is everybody's.
      observer_.run(here("GRANT SELECT ON leasehold.test_clock TO " + role(scope)));
    }
    observer_.run(
        here("SELECT leasehold.schedule_set('refresh', interval '10 min', queue => 'mail', "
             "next_run_at => leasehold.now())"));
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

  const std::vector<std::string> looks_ = {"leasehold.schedule_list()",
                                           "leasehold.schedule_due()",
                                           "leasehold.schedule_history('refresh')",
                                           "leasehold.schedule_next('refresh')",
                                           "leasehold.cron_check('0 9 * * *')",
                                           "count(*) FROM leasehold.schedules",
                                           "count(*) FROM leasehold.schedule_runs",
                                           "count(*) FROM leasehold.leases"};
  const std::vector<std::string> works_ = {"leasehold.schedule_ensure('refresh', interval '1 h')",
                                           "leasehold.schedule_ensure('new', interval '1 h')",
                                           "leasehold.schedule_acquire('refresh')",
                                           "leasehold.schedule_heartbeat('refresh', 1)",
                                           "leasehold.schedule_settle('refresh', 1)",
                                           "leasehold.schedule_release('refresh', 1)",
                                           "leasehold.schedule_trigger('refresh')",
                                           "leasehold.schedule_fire('refresh')",
                                           "leasehold.await_topic('schedules', interval '1 s')"};
  const std::vector<std::string> operates_ = {
      "leasehold.schedule_set('report', cron => '0 9 * * *')", "leasehold.schedule_pause('report')",
      "leasehold.schedule_resume('report')", "leasehold.schedule_rename('report', 'paper')",
      "leasehold.schedule_remove('paper')"};
};

TEST_F(SchedulePrivilegesTest, EachScopeIncludesTheOneBefore) {
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

TEST_F(SchedulePrivilegesTest, WhoMayWorkMayFenceARun) {
  act_as("work");
  const auto token = alice_.scalar(here("SELECT token FROM leasehold.schedule_acquire('refresh')"));
  EXPECT_EQ(state_of("leasehold.schedule_fence('refresh', " + token + ")"), "");
  act_as("read");
  EXPECT_EQ(state_of("leasehold.schedule_fence('refresh', " + token + ")"), "42501");
}

TEST_F(SchedulePrivilegesTest, TheTablesStayClosed) {
  act_as("admin");
  for (const auto* table : {"schedule", "schedule_task", "schedule_run"}) {
    EXPECT_EQ(alice_.fail(here(std::string("SELECT * FROM leasehold.") + table)).state, "42501") << table;
    EXPECT_EQ(alice_.fail(here(std::string("DELETE FROM leasehold.") + table)).state, "42501") << table;
  }
  for (const auto* inner :
       {"leasehold.schedule_hold('refresh', 1)", "leasehold.schedule_refused('refresh', 'held', NULL)",
        "leasehold.wake('schedules', now())", "leasehold.draw(interval '0', interval '1 s')"}) {
    EXPECT_EQ(state_of(inner), "42501") << inner;
  }
}

}  // namespace
}  // namespace leasehold::support
