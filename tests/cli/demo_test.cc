// `leasehold demo`: it passes, and finds the damage where the fence is taken away.
#include <unistd.h>
#include <csignal>
#include <filesystem>
#include <optional>

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

TEST_F(Demo, ServesItsPageUntilItIsInterrupted) {
  const auto port = std::to_string(20'000 + ::getpid() % 20'000);
  const auto answers = [&] { return run({"bash", "-c", "exec 3<> /dev/tcp/127.0.0.1/" + port}).exit_code == 0; };
  auto demo = Process::start({LEASEHOLD_TOOL, "demo", "--jobs", "100", "--workers", "12", "--serve=127.0.0.1:" + port},
                             {{"TMPDIR", folder().path().string()}});
  std::optional<std::string> line;
  do {
    line = demo.read_line(std::chrono::seconds(60));
  } while (line && !line->starts_with("PASS"));
  ASSERT_TRUE(line) << demo.finish(std::chrono::seconds(1)).err;
  EXPECT_TRUE(answers()) << "the page stays after the verdict";
  demo.signal(SIGINT);
  const auto ended = demo.finish(std::chrono::seconds(30));
  EXPECT_EQ(ended.exit_code, 0) << ended.err;
  EXPECT_NE(ended.err.find("http://127.0.0.1:" + port + "/leases?by=holder\n"), std::string::npos) << ended.err;
  EXPECT_FALSE(answers()) << "its server is there";
  EXPECT_TRUE(std::filesystem::is_empty(folder().path())) << "its folder is there";
}

TEST_F(Demo, FewJobsAreEnoughOnlyOnAPage) {
  const auto ended = run({LEASEHOLD_TOOL, "demo", "--jobs", "999"});
  EXPECT_EQ(ended.exit_code, 2) << ended.err;
  EXPECT_NE(ended.err.find("--jobs: at least 1000 without --serve"), std::string::npos) << ended.err;
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
