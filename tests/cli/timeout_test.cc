// --timeout of the wrappers, with real processes: a command that ignores SIGTERM, and a grandchild that does, too.
#include <fstream>
#include <iterator>
#include <sstream>

#include "cli/tool.h"

namespace leasehold::support {
namespace {

class TimeoutCommand : public StoreToolTest {
 protected:
  /// Ignores SIGTERM, as its child does; both write down their pids.
  [[nodiscard]] Arguments stubborn() const {
    return {"sh", "-c",
            "trap '' TERM; echo $$ >> '" + pids_file() + "'; sh -c \"trap '' TERM; echo \\$\\$ >> '" + pids_file() +
                "'; while :; do sleep 1; done\" & while :; do sleep 1; done"};
  }

  Finished run_stubborn(Arguments words) {
    words.push_back("--");
    const auto command = stubborn();
    words.insert(words.end(), command.begin(), command.end());
    return tool(words);
  }

  testing::AssertionResult all_are_dead() const {
    std::ifstream file(pids_file());
    const std::vector<pid_t> pids{std::istream_iterator<pid_t>(file), {}};
    if (pids.size() != 2) return testing::AssertionFailure() << pids.size() << " processes were started";
    for (const auto pid : pids) {
      if (::kill(pid, 0) == 0) return testing::AssertionFailure() << "process " << pid << " lives";
    }
    return testing::AssertionSuccess();
  }

  [[nodiscard]] std::string pids_file() const { return folder().file("pids"); }
};
LEASEHOLD_ON_BOTH_STORES(TimeoutCommand);

TEST_P(TimeoutCommand, LockRunEndsTheWholeTreeAndReleasesTheLock) {
  const auto done = run_stubborn({"lock", "run", "deploy", "--timeout", "500ms", "--grace", "200ms"});
  EXPECT_EQ(done.exit_code, 124) << done.err;
  EXPECT_TRUE(contains(done.err, "timed out after 500ms"));
  EXPECT_TRUE(all_are_dead());
  EXPECT_EQ(tool({"lock", "run", "deploy", "--timeout", "1m", "--", "sh", "-c", "exit 7"}).exit_code, 7);
}

TEST_P(TimeoutCommand, ALockCommandThatObeysIsTimedOutToo) {
  const auto done = tool({"lock", "run", "deploy", "--timeout", "300ms", "--", "sleep", "600"});
  EXPECT_EQ(done.exit_code, 124) << done.err;
  EXPECT_EQ(tool({"lock", "run", "deploy", "--timeout", "1ms", "--", "true"}).exit_code, 2) << "shorter than any limit";
}

TEST_P(TimeoutCommand, WorkFailsTheAttemptOfACommandThatHangs) {
  ASSERT_EQ(tool({"job", "add", "q", "x"}).exit_code, 0);
  const auto done = run_stubborn({"work", "q", "--once", "--timeout", "1s", "--grace", "200ms"});
  EXPECT_EQ(done.exit_code, 1) << done.err;
  EXPECT_TRUE(all_are_dead());
  const auto job = json({"job", "show", "1"});
  EXPECT_EQ(job.at("error"), "timed out after 1s");
  EXPECT_EQ(job.at("failures"), 1);
  EXPECT_EQ(job.at("crashes"), 0);
  EXPECT_EQ(job.at("state"), "deferred");
}

TEST_P(TimeoutCommand, TheLimitOfTheJobGoesFirst) {
  ASSERT_EQ(tool({"job", "add", "q", "x", "--timeout", "700ms"}).exit_code, 0);
  const auto done = tool({"work", "q", "--once", "--timeout", "1h", "--", "sleep", "600"});
  EXPECT_EQ(done.exit_code, 1) << done.err;
  EXPECT_EQ(json({"job", "show", "1"}).at("error"), "timed out after 700ms");
}

TEST_P(TimeoutCommand, AScheduledRunHasFailed) {
  const auto done =
      run_stubborn({"schedule", "run", "refresh", "--every", "1h", "--timeout", "500ms", "--grace", "200ms"});
  EXPECT_EQ(done.exit_code, 124) << done.err;
  EXPECT_TRUE(all_are_dead());
  EXPECT_TRUE(contains(tool({"schedule", "history", "refresh"}).out, "timed out after 500ms"));
}

TEST_P(TimeoutCommand, AChunkHasFailed) {
  ASSERT_EQ(tool({"chunk", "plan", "s", "--range", "1..1", "--size", "1"}).exit_code, 0);
  const auto done = run_stubborn({"chunk", "run", "s", "--once", "--timeout", "500ms", "--grace", "200ms"});
  EXPECT_EQ(done.exit_code, 1) << done.err;
  EXPECT_TRUE(all_are_dead());
  EXPECT_TRUE(contains(done.err, "timed out after 500ms")) << done.err;
}

TEST_P(TimeoutCommand, AJobThatWasNotStartedInTimeIsShownAsLapsed) {
  ASSERT_EQ(tool({"job", "add", "q", "x", "--expires-in", "0s"}).exit_code, 0);
  EXPECT_TRUE(contains(tool({"job", "show", "1"}).out, "lapsed"));
  EXPECT_TRUE(contains(tool({"job", "ls", "--state", "lapsed"}).out, "lapsed"));
  EXPECT_EQ(tool({"job", "claim", "q"}).exit_code, 3);
}

}  // namespace
}  // namespace leasehold::support
