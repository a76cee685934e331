// `leasehold session run` with real processes, on both stores: an agent's session lives exactly as long as the agent.
#include <gtest/gtest.h>
#include <signal.h>

#include <filesystem>
#include <fstream>

#include "support/process.h"
#include "support/session_helpers.h"
#include "support/store_fixture.h"
#include "support/ticking_tree.h"

namespace leasehold::support {
namespace {

constexpr Duration patience = 30s;

/// An agent with a runaway grandchild; neither hears SIGTERM.
LEASEHOLD_ROLE(session_tree) {
  ::signal(SIGTERM, SIG_IGN);
  start_runaway(env("RUNAWAY"));
  tick_into(env("AGENT"));
}

class SessionRun : public ::testing::TestWithParam<StoreKind> {
 protected:
  SessionRun() : test_store_(GetParam(), {.real_time = true}), store_(test_store_.open()) {
    // A test started in the background of a script has it ignored, and so would what it starts.
    ::signal(SIGINT, SIG_DFL);
    must(store_.sessions().open({.id = "ben"}));
  }

  /// Session "ann". stderr comes with stdout, so that it can be read line by line.
  [[nodiscard]] Process start(const Arguments& options, const Arguments& command, const Environment& env = {}) const {
    Arguments words{"sh",  "-c",   "exec \"$0\" \"$@\" 2>&1", LEASEHOLD_TOOL, "session", "run", "--id",
                    "ann", "--db", test_store_.url()};
    words.insert(words.end(), options.begin(), options.end());
    words.emplace_back("--");
    words.insert(words.end(), command.begin(), command.end());
    return Process::start(words, env);
  }
  /// An agent that takes SD-1, says so, and goes on for a minute at most; its pid is in the file `pid`.
  [[nodiscard]] Process start_agent(const Arguments& options, const std::string& then = "exec sleep 60") const {
    const auto script = "echo $$ > " + folder_.file("pid") +
                        "; " LEASEHOLD_TOOL " claim take SD-1 --create -q > /dev/null && echo working; " + then;
    auto runner = start(options, {"sh", "-c", script});
    EXPECT_EQ(runner.read_line(patience), "working");
    return runner;
  }
  [[nodiscard]] pid_t agent() const {
    pid_t pid = 0;
    std::ifstream(folder_.file("pid")) >> pid;
    return pid;
  }
  [[nodiscard]] Finished run(const Arguments& options, const std::string& script) const {
    return start(options, {"sh", "-c", script}).finish(patience);
  }
  [[nodiscard]] std::string waits_for(const std::string& name) const {
    return "while [ ! -e " + folder_.file(name) + " ]; do sleep 0.02; done;";
  }
  void make(const std::string& name) const { std::ofstream(folder_.file(name)) << "here"; }

  [[nodiscard]] SessionInfo session() const { return must(store_.sessions().show("ann")); }
  [[nodiscard]] Result<Claim> take(const ItemTakeOptions& options = {}) const {
    return store_.claims().take("SD-1", "ben", options);
  }
  /// Whether the session was kept alive until so long after it was opened.
  [[nodiscard]] bool heartbeats_until(Duration age) const {
    return eventually([&] { return session().heartbeat_at - session().opened_at >= age; }, patience);
  }

  TempDir folder_;
  TestStore test_store_;
  Store store_;
};

LEASEHOLD_ON_BOTH_STORES(SessionRun);

TEST_P(SessionRun, PassesTheExitCodeThroughAndClosesWithTheTrueReason) {
  EXPECT_EQ(run({}, "exit 0").exit_code, 0);
  EXPECT_EQ(session().state, SessionState::released);
  EXPECT_EQ(session().end_detail, "exited 0");
  EXPECT_EQ(run({}, "exit 3").exit_code, 3);
  EXPECT_EQ(session().end_detail, "exited 3");
  EXPECT_EQ(run({}, "kill -9 $$").exit_code, 128 + SIGKILL);
  EXPECT_EQ(session().end_detail, "killed by SIGKILL");
  const auto missing = start({}, {folder_.file("missing")}).finish(patience);
  EXPECT_EQ(missing.exit_code, 127);
  EXPECT_NE(missing.out.find("No such file"), std::string::npos) << missing.out;
  EXPECT_EQ(session().end_detail, "could not be started: No such file or directory");
}

TEST_P(SessionRun, TheCommandKnowsItsSession) {
  const auto done = run({"--label", "parsing", "--holder", "ann", "--ttl", "1m"},
                        "echo $LEASEHOLD_SESSION; echo $LEASEHOLD_SESSION_TOKEN; " LEASEHOLD_TOOL
                        " session heartbeat --progress 'half done' > /dev/null && " LEASEHOLD_TOOL
                        " claim take SD-1 --create > /dev/null && " LEASEHOLD_TOOL " session show | grep ^state");
  EXPECT_EQ(done.exit_code, 0) << done.out;
  const auto info = session();
  EXPECT_EQ(done.out, "ann\n" + std::to_string(info.token.value) + "\nstate       active\n");
  EXPECT_EQ(info.label, "parsing");
  EXPECT_EQ(info.holder.name, "ann");
  EXPECT_EQ(info.ttl, 1min);
  EXPECT_EQ(info.progress, "half done");
  const auto claim = must(store_.claims().show("SD-1"));
  EXPECT_EQ(claim.end_reason, "released");
  EXPECT_EQ(claim.end_detail, "exited 0");
}

TEST_P(SessionRun, IsRefusedWhereTheIdIsInUse) {
  auto first = start_agent({});
  EXPECT_EQ(run({}, "touch " + folder_.file("started")).exit_code, 75);
  EXPECT_FALSE(std::filesystem::exists(folder_.file("started")));
  EXPECT_EQ(support::run({LEASEHOLD_TOOL, "session", "run", "--db", test_store_.url(), "true"}).exit_code, 2)
      << "the mark is missing";
}

// The threshold is far longer than the test's patience: that the agent is gone is what frees the item.
TEST_P(SessionRun, AfterKill9OfTheAgentTheNextTakeSucceedsAtOnce) {
  auto runner = start_agent({"--ttl", "5m"});
  ASSERT_TRUE(fails(take(), Errc::held));
  ::kill(agent(), SIGKILL);
  const auto claim = take({.wait = 20s});
  ASSERT_TRUE(ok(claim));
  EXPECT_EQ(runner.finish(patience).exit_code, 128 + SIGKILL);
  EXPECT_EQ(session().end_detail, "killed by SIGKILL");
}

TEST_P(SessionRun, AfterKill9OfTheRunnerItsAgentIsEndedBeforeTheItemIsTaken) {
  const auto self = std::filesystem::read_symlink("/proc/self/exe").string();
  auto runner = start({"--ttl", "5m", "--grace", "200ms"}, {self},
                      {{"LEASEHOLD_TEST_ROLE", "session_tree"},
                       {"AGENT", folder_.file("agent")},
                       {"RUNAWAY", folder_.file("runaway")}});
  const auto tick = [&](const char* name) { return read_tick(folder_.file(name)); };
  ASSERT_TRUE(eventually([&] { return tick("agent").boot_us != 0 && tick("runaway").boot_us != 0; }, patience));
  must(store_.claims().take("SD-1", "ann", {.create = true}));
  runner.signal(SIGKILL);
  ASSERT_EQ(runner.finish(patience).signal, SIGKILL);
  const auto claim = take({.wait = 20s});
  ASSERT_TRUE(ok(claim));
  EXPECT_EQ(claim->previous_session, "ann");
  EXPECT_FALSE(is_alive(tick("agent").pid));
  EXPECT_FALSE(is_alive(tick("runaway").pid));
  EXPECT_EQ(session().state, SessionState::stale);
}

TEST_P(SessionRun, AnAgentThatIsBusyForLongerThanTheThresholdKeepsItsItem) {
  auto runner = start_agent({"--ttl", "1s"});
  ASSERT_TRUE(heartbeats_until(4s));
  EXPECT_EQ(session().state, SessionState::idle) << "alive, but without a sign of work";
  EXPECT_GT(session().progress_age(), 2s);
  EXPECT_TRUE(fails(take(), Errc::held));
  runner.signal(SIGTERM);
  EXPECT_EQ(runner.finish(patience).exit_code, 128 + SIGTERM);
  EXPECT_TRUE(ok(take()));
}

TEST_P(SessionRun, AStoppedAgentKeepsItsItem) {
  auto runner = start_agent({"--ttl", "1s"});
  ::kill(agent(), SIGSTOP);
  ASSERT_TRUE(eventually([&] { return is_stopped(agent()); }));
  const auto stopped_at = session().heartbeat_at;
  ASSERT_TRUE(eventually([&] { return session().heartbeat_at > stopped_at + 2s; }, patience)) << "alive";
  EXPECT_EQ(session().state, SessionState::idle) << "not working";
  EXPECT_TRUE(fails(take(), Errc::held));
  ::kill(agent(), SIGCONT);
  runner.signal(SIGTERM);
  EXPECT_EQ(runner.finish(patience).exit_code, 128 + SIGTERM);
}

TEST_P(SessionRun, ALostSessionIsReportedAndTheCommandContinues) {
  auto runner = start_agent({"--ttl", "3s"}, waits_for("go") + " exit 7");
  must(store_.sessions().revoke("ann", "maintenance"));
  const auto said = runner.read_line(patience);
  ASSERT_TRUE(said);
  EXPECT_NE(said->find("session ann is lost"), std::string::npos) << *said;
  EXPECT_NE(said->find("maintenance"), std::string::npos) << *said;
  EXPECT_TRUE(is_alive(agent()));
  make("go");
  const auto done = runner.finish(patience);
  EXPECT_EQ(done.exit_code, 7);
  EXPECT_EQ(done.out.find("could not be updated"), std::string::npos) << "said once: " << done.out;
}

TEST_P(SessionRun, WithStopWhenLostTheCommandEndsWithItsSession) {
  auto runner = start_agent({"--ttl", "3s", "--stop-when-lost"});
  must(store_.sessions().revoke("ann", "maintenance"));
  const auto done = runner.finish(patience);
  EXPECT_EQ(done.exit_code, 76) << done.out;
  EXPECT_NE(done.out.find("maintenance"), std::string::npos) << done.out;
  EXPECT_FALSE(is_alive(agent()));
}

TEST_P(SessionRun, TheCommandHasTheTerminal) {
  const auto command = std::string(LEASEHOLD_TOOL) + " session run --db '" + test_store_.url() +
                       "' -- sh -c 'echo ready; read line; echo got $line'";
  auto terminal = Process::start({"script", "-qec", command, "/dev/null"});
  ASSERT_EQ(terminal.read_line(patience), "ready\r");
  terminal.write("hello\n");
  const auto done = terminal.finish(patience);
  EXPECT_EQ(done.exit_code, 0);
  EXPECT_NE(done.out.find("got hello"), std::string::npos) << done.out;
}

TEST(SessionRunWithoutStore, NeverStartsTheCommand) {
  const TempDir folder;
  const auto marker = folder.file("started");
  const auto done = run({LEASEHOLD_TOOL, "session", "run", "--db",
                         "postgresql://nobody@127.0.0.1:1/none?connect_timeout=2", "--", "touch", marker});
  EXPECT_EQ(done.exit_code, 69) << done.err;
  EXPECT_FALSE(std::filesystem::exists(marker));
}

}  // namespace
}  // namespace leasehold::support
