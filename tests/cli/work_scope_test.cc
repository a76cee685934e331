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
    user_ = role_;
  }
  void TearDown() override { store_.run("DROP OWNED BY " + role_ + "; DROP ROLE " + role_); }
  [[nodiscard]] std::string url() const override {
    auto url = store_.url();
    if (user_.empty()) return url;
    const auto start = url.find("://") + 3;
    return url.replace(start, url.find('@') - start, user_);
  }

 private:
  TestStore store_{StoreKind::postgres, {.real_time = true}};
  const std::string role_ = "worker_" + std::to_string(::getpid());
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

}  // namespace
}  // namespace leasehold::support
