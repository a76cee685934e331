// The scopes that may look at schedules, run them, and operate on them.
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
      observer_.run(here("SELECT leasehold_internal.grant_scope('" + role(scope) + "', '" + scope + "')"));
      // The clock of these tests is a table; the real one is everybody's.
      observer_.run(here("GRANT SELECT ON leasehold_internal.test_clock TO " + role(scope)));
    }
    observer_.run(
        here("SELECT leasehold_internal.schedule_set('refresh', interval '10 min', queue => 'mail', "
             "next_run_at => leasehold_internal.now())"));
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

  const std::vector<std::string> looks_ = {"leasehold_internal.schedule_list()",
                                           "leasehold_internal.schedule_due()",
                                           "leasehold_internal.schedule_history('refresh')",
                                           "leasehold.schedule_next('refresh')",
                                           "leasehold_internal.cron_check('0 9 * * *')",
                                           "count(*) FROM leasehold.schedules",
                                           "count(*) FROM leasehold.schedule_runs",
                                           "count(*) FROM leasehold.leases"};
  const std::vector<std::string> works_ = {"leasehold_internal.schedule_ensure('refresh', interval '1 h')",
                                           "leasehold_internal.schedule_ensure('new', interval '1 h')",
                                           "leasehold_internal.schedule_acquire('refresh')",
                                           "leasehold_internal.schedule_heartbeat('refresh', 1)",
                                           "leasehold_internal.schedule_settle('refresh', 1)",
                                           "leasehold_internal.schedule_release('refresh', 1)",
                                           "leasehold_internal.schedule_trigger('refresh')",
                                           "leasehold_internal.schedule_fire('refresh')",
                                           "leasehold_internal.await_topic('schedules', interval '1 s')"};
  const std::vector<std::string> operates_ = {
      "leasehold_internal.schedule_set('report', cron => '0 9 * * *')", "leasehold_internal.schedule_pause('report')",
      "leasehold_internal.schedule_resume('report')", "leasehold_internal.schedule_rename('report', 'paper')",
      "leasehold_internal.schedule_remove('paper')"};
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

TEST_F(SchedulePrivilegesTest, ScopeWorkMayFenceARun) {
  act_as("work");
  const auto token = alice_.scalar(here("SELECT token FROM leasehold_internal.schedule_acquire('refresh')"));
  EXPECT_EQ(state_of("leasehold_internal.schedule_fence('refresh', " + token + ")"), "");
  act_as("read");
  EXPECT_EQ(state_of("leasehold_internal.schedule_fence('refresh', " + token + ")"), "42501");
}

TEST_F(SchedulePrivilegesTest, TheTablesStayClosed) {
  act_as("admin");
  for (const auto* table : {"schedule", "schedule_task", "schedule_run"}) {
    EXPECT_EQ(alice_.fail(here(std::string("SELECT * FROM leasehold_internal.") + table)).state, "42501") << table;
    EXPECT_EQ(alice_.fail(here(std::string("DELETE FROM leasehold_internal.") + table)).state, "42501") << table;
  }
  for (const auto* inner :
       {"leasehold_internal.schedule_finish('refresh', 1, 'completed')",
        "leasehold_internal.schedule_answer('held', 'refresh', NULL)", "leasehold_internal.wake('schedules', now())",
        "leasehold_internal.draw(interval '0', interval '1 s')"}) {
    EXPECT_EQ(state_of(inner), "42501") << inner;
  }
}

}  // namespace
}  // namespace leasehold::support
