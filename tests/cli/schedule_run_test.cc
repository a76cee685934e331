// leasehold schedule run, with real processes: once, on time, and never longer than its lease.
#include <unistd.h>

#include <csignal>
#include <fstream>

#include "cli/schedule_tool.h"
#include "support/ticking_tree.h"

namespace leasehold::support {
namespace {

class ScheduleRunCommand : public ScheduleToolTest {
 protected:
  /// A run that says its command's pid and goes on for a minute, unless it is ended.
  Process started(const Arguments& options, pid_t& command) {
    auto runner = start(run_words("refresh", options, {"sh", "-c", "echo $$; exec sleep 60"}));
    command = std::stoi(runner.read_line(patience).value_or("0"));
    EXPECT_GT(command, 0);
    return runner;
  }
};
LEASEHOLD_ON_BOTH_STORES(ScheduleRunCommand);

TEST_P(ScheduleRunCommand, SetsRunsFinishesAndThenItIsNotDue) {
  const Arguments rule = {"--every", "10m-15m"};
  const auto first = run_schedule("refresh", rule, {"sh", "-c", "echo done; exit 0"});
  EXPECT_EQ(first.exit_code, 0) << first.err;
  EXPECT_EQ(first.out, "done\n");
  EXPECT_EQ(first.err, "");
  const auto second = run_schedule("refresh", rule, {"echo", "again"});
  EXPECT_EQ(second.exit_code, 3);
  EXPECT_EQ(second.out, "");
  EXPECT_TRUE(contains(second.err, "refresh is not due: next run at "));
  EXPECT_EQ(run_schedule("refresh", {"-q"}, {"true"}).err, "");
  EXPECT_EQ(run_schedule("refresh", {"-E", "0"}, {"true"}).exit_code, 0);
  EXPECT_TRUE(contains(run_schedule("refresh", {"--json"}, {"true"}).out, R"({"error":{"code":"not_due")"));
  EXPECT_EQ(run_schedule("refresh", {"--now"}, {"true"}).exit_code, 0);
  EXPECT_EQ(outcomes("refresh"), "completed completed");
}

TEST_P(ScheduleRunCommand, PassesTheExitCodeThroughAndNotesWhy) {
  EXPECT_EQ(run_schedule("a", {"--every", "1h", "--on-fail", "2h"}, {"sh", "-c", "exit 7"}).exit_code, 7);
  EXPECT_EQ(history("a").at(0).at("error"), "exit code 7");
  EXPECT_GT(shown("a").at("next_run_in_seconds").to_number<double>(), 3600);
  EXPECT_EQ(run_schedule("b", {"--every", "1h"}, {"sh", "-c", "kill -9 $$"}).exit_code, 128 + SIGKILL);
  EXPECT_EQ(history("b").at(0).at("error"), "killed by SIGKILL");
  EXPECT_EQ(run_schedule("c", {"--every", "1h"}, {folder().file("missing")}).exit_code, 127);
  EXPECT_TRUE(contains(std::string(history("c").at(0).at("error").as_string()), "No such file"));
}

TEST_P(ScheduleRunCommand, TheCommandGetsItsRunAndReportsCounts) {
  const auto reported = run_schedule("refresh", {"--every", "1h"},
                                     {"sh", "-c",
                                      "echo $LEASEHOLD_SCHEDULE $LEASEHOLD_CAUSE $LEASEHOLD_DB; "
                                      "test -n \"$LEASEHOLD_TOKEN\" && test -n \"$LEASEHOLD_OCCURRENCE\" && "
                                      "echo '{\"rows\": 12}' > \"$LEASEHOLD_COUNTS_FILE\""});
  EXPECT_EQ(reported.exit_code, 0) << reported.err;
  EXPECT_EQ(reported.out, "refresh scheduled " + url() + "\n");
  EXPECT_EQ(history("refresh").at(0).at("counts").at("rows"), 12);
  EXPECT_TRUE(contains(tool({"schedule", "history", "refresh"}).out, R"({"rows": 12})"));
}

TEST_P(ScheduleRunCommand, ACommandMaySpeakForItsOwnRun) {
  const auto said = run_schedule("refresh", {"--every", "1h"},
                                 {"sh", "-c", "\"$0\" schedule heartbeat && \"$0\" schedule complete", LEASEHOLD_TOOL});
  EXPECT_EQ(said.exit_code, 0) << said.err;
  EXPECT_TRUE(contains(said.out, "extended refresh"));
  EXPECT_TRUE(contains(said.out, "completed refresh"));
  EXPECT_EQ(outcomes("refresh"), "completed");
}

TEST_P(ScheduleRunCommand, CountsThatAreNoneAreIgnoredWithAWord) {
  const auto reported =
      run_schedule("refresh", {"--every", "1h"}, {"sh", "-c", "echo many > \"$LEASEHOLD_COUNTS_FILE\""});
  EXPECT_EQ(reported.exit_code, 0);
  EXPECT_TRUE(contains(reported.err, "ignored the counts: they are not JSON"));
  EXPECT_EQ(outcomes("refresh"), "completed");
}

TEST_P(ScheduleRunCommand, TheSameDefinitionAgainWritesNothing) {
  const Arguments rule = {"--every", "10m-15m", "--ttl", "1m"};
  ASSERT_EQ(run_schedule("refresh", rule, {"true"}).exit_code, 0);
  const auto events = tool({"events"}).out;
  ASSERT_EQ(run_schedule("refresh", rule, {"true"}).exit_code, 3);
  EXPECT_EQ(tool({"events"}).out, events);
}

TEST_P(ScheduleRunCommand, ABadRuleRunsNothing) {
  const auto marker = folder().file("started");
  for (const Arguments& rule : {Arguments{"--cron", "0 25 * * *"}, Arguments{"--cron", "@daily", "--tz", "Mars/Base"},
                                Arguments{"--on-fail", "5m"}}) {
    EXPECT_EQ(run_schedule("refresh", rule, {"touch", marker}).exit_code, 2);
  }
  EXPECT_EQ(tool({"schedule", "run", "refresh", "--every", "5m", "touch", marker}).exit_code, 2) << "without the mark";
  EXPECT_FALSE(std::ifstream(marker).good());
}

TEST_P(ScheduleRunCommand, PausedIsNotRun) {
  set_schedule("refresh");
  ASSERT_EQ(tool({"schedule", "pause", "refresh", "--reason", "holidays"}).exit_code, 0);
  const auto skipped = run_schedule("refresh", {"--now"}, {"echo", "ran"});
  EXPECT_EQ(skipped.exit_code, 3);
  EXPECT_EQ(skipped.out, "");
  EXPECT_TRUE(contains(skipped.err, "paused since "));
  EXPECT_TRUE(contains(skipped.err, ": holidays"));
}

TEST_P(ScheduleRunCommand, AStoppedRunIsDueAgain) {
  pid_t command = 0;
  auto runner = started({"--every", "1h"}, command);
  runner.signal(SIGTERM);
  EXPECT_EQ(runner.finish(patience).exit_code, 128 + SIGTERM);
  EXPECT_EQ(outcomes("refresh"), "released");
  EXPECT_EQ(state_of("refresh"), "due");
}

TEST_P(ScheduleRunCommand, WorkThatIsLongerThanItsLeaseStaysSingle) {
  pid_t command = 0;
  auto runner = started({"--every", "1h", "--ttl", "1s"}, command);
  const auto first_end = std::string(shown("refresh").at("held_by").at("until").as_string());
  ASSERT_TRUE(
      eventually([&] { return std::string(shown("refresh").at("held_by").at("heartbeat_at").as_string()) > first_end; },
                 patience));
  EXPECT_EQ(run_schedule("refresh", {"--now"}, {"true"}).exit_code, 75);
  EXPECT_EQ(run_schedule("refresh", {"--now", "-E", "0"}, {"true"}).exit_code, 0);
  runner.signal(SIGTERM);
  EXPECT_EQ(runner.finish(patience).exit_code, 128 + SIGTERM);
}

TEST_P(ScheduleRunCommand, AKilledRunnerEndsItsCommandAndTheNextCallerRunsAtOnce) {
  pid_t command = 0;
  auto runner = started({"--every", "1h", "--ttl", "5m", "--grace", "1s"}, command);
  runner.signal(SIGKILL);
  EXPECT_EQ(runner.finish(patience).signal, SIGKILL);
  EXPECT_TRUE(eventually([&] { return !is_alive(command); }, patience));
  Finished next;
  EXPECT_TRUE(eventually(
      [&] {
        next = run_schedule("refresh", {}, {"echo", "mine"});
        return next.exit_code == 0;
      },
      patience))
      << next.err;
  EXPECT_EQ(next.out, "mine\n");
  EXPECT_TRUE(contains(next.err, "the previous run was lost: "));
  EXPECT_EQ(outcomes("refresh"), "completed lost");
}

TEST_P(ScheduleRunCommand, ALateRunnerIsEndedAndDoesNotFinish) {
  pid_t command = 0;
  auto runner = started({"--every", "1h", "--ttl", "2s", "--grace", "100ms"}, command);
  const auto token = std::to_string(shown("refresh").at("held_by").at("token").as_int64());
  // Another process settles the run: the runner learns that with its next heartbeat.
  ASSERT_EQ(tool({"schedule", "fail", "refresh", "--token", token}).exit_code, 0);
  const auto ended = runner.finish(patience);
  EXPECT_EQ(ended.exit_code, 76);
  EXPECT_TRUE(contains(ended.err, "was lost"));
  EXPECT_FALSE(is_alive(command));
  EXPECT_EQ(outcomes("refresh"), "failed");
}

TEST_P(ScheduleRunCommand, OfFiftyAtOnceOneRuns) {
  constexpr int callers = 50;
  const auto runs = folder().file("runs");
  std::vector<Process> all;
  all.reserve(callers);
  for (int i = 0; i < callers; ++i) {
    all.push_back(start(run_words("refresh", {"--every", "10m-15m"}, {"sh", "-c", "echo ran >> \"$0\"", runs})));
  }
  int ran = 0;
  for (auto& caller : all) {
    const auto ended = caller.finish(patience);
    if (ended.exit_code == 0) {
      ++ran;
      continue;
    }
    EXPECT_EQ(ended.exit_code, ended.err.find("is held by") == std::string::npos ? 3 : 75) << ended.err;
    EXPECT_TRUE(contains(ended.err, "refresh is "));
  }
  EXPECT_EQ(ran, 1);
  std::ifstream file(runs);
  EXPECT_EQ(std::string(std::istreambuf_iterator<char>(file), {}), "ran\n");
  EXPECT_EQ(outcomes("refresh"), "completed");
}

}  // namespace
}  // namespace leasehold::support
