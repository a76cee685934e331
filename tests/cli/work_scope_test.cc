// The commands of a role with scope `work`: it starts its own work, without an operator who has set it up.
#include <unistd.h>

#include "cli/tool.h"

namespace leasehold::support {
namespace {

/// On PostgreSQL, as that role.
class WorkScopeCommand : public ToolTest {
 protected:
  void SetUp() override {
    store_.run("CREATE ROLE " + role_ + " LOGIN");
    ASSERT_EQ(tool({"grant", role_, "--scope", "work"}).exit_code, 0);
    act_as_worker();
  }
  void TearDown() override { store_.run("DROP OWNED BY " + role_ + "; DROP ROLE " + role_); }
  [[nodiscard]] std::string url() const override {
    auto url = store_.url();
    if (user_.empty()) return url;
    const auto start = url.find("://") + 3;
    return url.replace(start, url.find('@') - start, user_);
  }
  void act_as_worker() { user_ = role_; }
  void act_as_owner() { user_.clear(); }

  TestStore store_{StoreKind::postgres, {.real_time = true}};
  const std::string role_ = "worker_" + std::to_string(::getpid());

 private:
  std::string user_;
};

TEST_F(WorkScopeCommand, ScheduleRunCreatesItsScheduleAndNeverChangesAnExistingOne) {
  const auto first = tool({"schedule", "run", "refresh", "--every", "1h", "--", "echo", "done"});
  EXPECT_EQ(first.exit_code, 0) << first.err;
  EXPECT_EQ(first.out, "done\n");
  const auto again = tool({"schedule", "run", "refresh", "--every", "1h", "--", "echo", "done"});
  EXPECT_EQ(again.exit_code, 3) << again.err;
  EXPECT_FALSE(contains(again.err, "another rule"));
  const auto other = tool({"schedule", "run", "refresh", "--every", "1s", "--", "echo", "done"});
  EXPECT_EQ(other.exit_code, 3) << "it goes by the existing rule";
  EXPECT_TRUE(contains(other.err, "refresh has another rule, and only the scope admin may change it"));
  EXPECT_EQ(json({"schedule", "show", "refresh"}).at("every_min_seconds"), 3600);
  EXPECT_EQ(tool({"schedule", "set", "mine", "--every", "1h"}).exit_code, 1);
}

TEST_F(WorkScopeCommand, ScheduleRunByTheCalendarIsDueAtItsNextOccurrence) {
  const auto early = tool({"schedule", "run", "report", "--cron", "0 0 29 2 *", "--", "echo", "done"});
  EXPECT_EQ(early.exit_code, 3) << early.err;
  EXPECT_TRUE(contains(early.err, "report is not due"));
  EXPECT_EQ(json({"schedule", "show", "report"}).at("cron"), "0 0 29 2 *");
}

TEST_F(WorkScopeCommand, ChunkPlanCreatesAndExtendsASetThatThisRoleThenLoads) {
  const auto plan = [this](const std::string& range) {
    return tool({"chunk", "plan", "orders", "--range", range, "--size", "50"});
  };
  const auto first = plan("1..100");
  EXPECT_EQ(first.exit_code, 0) << first.err;
  const auto more = plan("1..200");
  EXPECT_EQ(more.exit_code, 0) << more.err;
  EXPECT_TRUE(contains(more.out, "2 added, 2 kept"));
  const auto loaded = tool({"chunk", "run", "orders", "--", "true"});
  EXPECT_EQ(loaded.exit_code, 0) << loaded.err;
  EXPECT_EQ(tool({"chunk", "rm", "orders", "--yes"}).exit_code, 1) << "that is for operators";
}

TEST_F(WorkScopeCommand, ARevokedScopeIsGoneAtOnce) {
  EXPECT_EQ(tool({"job", "add", "mail", "{}"}).exit_code, 0);
  act_as_owner();
  const auto revoked = tool({"grant", role_, "--revoke"});
  EXPECT_EQ(revoked.exit_code, 0) << revoked.err;
  EXPECT_EQ(tool({"grant", "nobody_of_this_name", "--revoke"}).exit_code, 2);
  act_as_worker();
  const std::vector<Arguments> closed = {
      {"job", "add", "mail", "{}"}, {"job", "claim", "mail"}, {"job", "ls"}, {"lock", "ls"}};
  for (const auto& command : closed) {
    const auto denied = tool(command);
    EXPECT_EQ(denied.exit_code, 1) << command[1];
    EXPECT_TRUE(contains(denied.err, "denied")) << denied.err;
  }
  act_as_owner();
  ASSERT_EQ(tool({"grant", role_, "--scope", "read"}).exit_code, 0);
  act_as_worker();
  EXPECT_EQ(tool({"lock", "ls"}).exit_code, 0) << "narrowed";
  EXPECT_EQ(tool({"job", "claim", "mail"}).exit_code, 1);
}

}  // namespace
}  // namespace leasehold::support
