// `leasehold demo`: it passes, and finds the damage where the fence is taken away.
#include <csignal>
#include <filesystem>

#include "cli/tool.h"

namespace leasehold::support {
namespace {

class Demo : public ToolTest {};

TEST_F(Demo, EveryJobIsDoneExactlyOnce) {
  const auto verdict = json({"demo", "--jobs", "1000", "--workers", "4"});
  EXPECT_TRUE(verdict.at("passed").as_bool()) << verdict.at("verdict").as_string().c_str();
  EXPECT_EQ(verdict.at("done"), 1000);
  EXPECT_EQ(verdict.at("doubled"), 0);
  EXPECT_GT(verdict.at("workers_killed").as_int64(), 0);
  EXPECT_GT(verdict.at("jobs_taken_over").as_int64(), 0);
  EXPECT_GT(verdict.at("late_writes_refused").as_int64(), 0);
}

TEST_F(Demo, WithoutTheFenceTheVerdictFindsJobsThatWereDoneTwice) {
  const auto verdict = json({"demo", "--jobs", "1000", "--workers", "4", "--no-fence"}, 1);
  EXPECT_FALSE(verdict.at("passed").as_bool());
  EXPECT_GT(verdict.at("doubled").as_int64(), 0);
}

TEST_F(Demo, EndedEarlyItLeavesNothingBehind) {
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    auto demo = Process::start({LEASEHOLD_TOOL, "demo", "--jobs", "20000"}, {{"TMPDIR", folder().path().string()}});
    const auto has_begun = [&] { return !std::filesystem::is_empty(folder().path()); };
    ASSERT_TRUE(eventually(has_begun));
    demo.signal(signal);
    EXPECT_EQ(demo.finish(std::chrono::seconds(30)).exit_code, 128 + signal);
    EXPECT_FALSE(has_begun()) << "its folder is there";
  }
}

}  // namespace
}  // namespace leasehold::support
