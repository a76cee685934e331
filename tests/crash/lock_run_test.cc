// `leasehold lock run` with real processes: whatever is done to the wrapper, to its guardian or to the command,
// nothing of the command's tree works on when the lease may have ended.
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "leasehold/store.h"
#include "support/process.h"
#include "support/temp_dir.h"
#include "support/ticking_tree.h"

namespace leasehold {
namespace {

using namespace std::chrono_literals;
using support::Arguments;
using support::Environment;
using support::eventually;
using support::Finished;
using support::is_alive;
using support::is_stopped;
using support::Process;
using support::read_tick;
using support::start_runaway;
using support::Tick;
using support::tick_into;

constexpr Duration patience = 30s;

/// A command with a runaway grandchild; with DEAF, neither hears SIGTERM.
LEASEHOLD_ROLE(lock_run_tree) {
  if (!support::env("DEAF").empty()) ::signal(SIGTERM, SIG_IGN);
  start_runaway(support::env("RUNAWAY"));
  tick_into(support::env("COMMAND"));
}

/// A command that ends and leaves a runaway behind.
LEASEHOLD_ROLE(lock_run_leaver) {
  const auto path = support::env("RUNAWAY");
  start_runaway(path);
  return eventually([&] { return read_tick(path).boot_us != 0; }) ? 5 : 1;
}

class LockRun : public ::testing::Test {
 protected:
  LockRun() {
    // A test started in the background of a script has these ignored, and so would what it starts.
    for (const int signal : {SIGINT, SIGQUIT}) ::signal(signal, SIG_DFL);
  }

  [[nodiscard]] std::string url() const { return "sqlite:" + folder_.file("store.db"); }
  [[nodiscard]] std::string command_file() const { return folder_.file("command"); }
  [[nodiscard]] std::string runaway_file() const { return folder_.file("runaway"); }

  [[nodiscard]] Arguments words(const Arguments& options, const Arguments& command) const {
    Arguments all{LEASEHOLD_TOOL, "lock", "run", "deploy", "--db", url()};
    all.insert(all.end(), options.begin(), options.end());
    all.emplace_back("--");
    all.insert(all.end(), command.begin(), command.end());
    return all;
  }
  [[nodiscard]] Finished run(const Arguments& options, const Arguments& command) const {
    return support::run(words(options, command), {}, {}, patience);
  }
  [[nodiscard]] Process start(const Arguments& options, const Arguments& command, const Environment& env = {}) const {
    return Process::start(words(options, command), env);
  }

  /// This executable as the command, in one of its roles.
  [[nodiscard]] Process start_role(const std::string& role, const Arguments& options, bool deaf = false) const {
    const auto self = std::filesystem::read_symlink("/proc/self/exe").string();
    return start(options, {self},
                 {{"LEASEHOLD_TEST_ROLE", role},
                  {"COMMAND", command_file()},
                  {"RUNAWAY", runaway_file()},
                  {"DEAF", deaf ? "1" : ""}});
  }
  [[nodiscard]] Process start_tree(const Arguments& options, bool deaf = false) const {
    auto wrapper = start_role("lock_run_tree", options, deaf);
    EXPECT_TRUE(eventually([&] { return command().boot_us != 0 && runaway().boot_us != 0; }, patience));
    return wrapper;
  }

  [[nodiscard]] Tick command() const { return read_tick(command_file()); }
  [[nodiscard]] Tick runaway() const { return read_tick(runaway_file()); }
  [[nodiscard]] bool tree_is_dead() const { return !is_alive(command().pid) && !is_alive(runaway().pid); }
  [[nodiscard]] BootTime last_sign_of_life() const {
    return BootTime(Duration(std::max(command().boot_us, runaway().boot_us)));
  }

  [[nodiscard]] Locks locks() const { return Store::open(url()).value().locks(); }
  [[nodiscard]] LeaseInfo lease() const { return locks().show("deploy").value(); }
  /// The lease does not end earlier, unless an operator or a takeover ends it.
  [[nodiscard]] BootTime lease_end() const {
    const auto before = BootClock::now();
    return before + lease().retry_in();
  }

  support::TempDir folder_;
};

TEST_F(LockRun, PassesTheExitCodeThrough) {
  EXPECT_EQ(run({}, {"true"}).exit_code, 0);
  EXPECT_EQ(run({}, {"sh", "-c", "exit 7"}).exit_code, 7);
  EXPECT_EQ(run({}, {"sh", "-c", "kill -9 $$"}).exit_code, 128 + SIGKILL);
  EXPECT_EQ(lease().state, LeaseState::free);
}

TEST_F(LockRun, ReportsACommandThatCannotBeExecuted) {
  const auto missing = run({}, {folder_.file("missing")});
  EXPECT_EQ(missing.exit_code, 127);
  EXPECT_NE(missing.err.find("No such file"), std::string::npos) << missing.err;
  EXPECT_EQ(run({}, {folder_.path().string()}).exit_code, 126);
  EXPECT_EQ(lease().state, LeaseState::free);
}

TEST_F(LockRun, GivesTheCommandItsWordsAsTheyAre) {
  const auto done = run({}, {"printf", "[%s]", "a b", "[x,y]", "--db", "--", "$HOME", "show", ""});
  EXPECT_EQ(done.out, "[a b][[x,y]][--db][--][$HOME][show][]");
  EXPECT_EQ(run({}, {"show"}).exit_code, 127);
}

TEST_F(LockRun, WantsTheMarkBeforeTheCommand) {
  const auto done = support::run({LEASEHOLD_TOOL, "lock", "run", "deploy", "--db", url(), "true"}, {}, {}, patience);
  EXPECT_EQ(done.exit_code, 2);
  EXPECT_NE(done.err.find("put -- before the command"), std::string::npos) << done.err;
}

TEST_F(LockRun, ExportsTheGrant) {
  const auto done = run({"--holder", "ana"}, {"sh", "-c",
                                              "echo $LEASEHOLD_KEY $LEASEHOLD_TOKEN $LEASEHOLD_DB;"
                                              "test -n \"$LEASEHOLD_EXPIRES_AT\""});
  EXPECT_EQ(done.exit_code, 0);
  EXPECT_EQ(done.out, "deploy " + std::to_string(lease().token.value) + " " + url() + "\n");
  EXPECT_EQ(lease().holder.name, "ana");
}

TEST_F(LockRun, IsRefusedWhileAnotherHoldsAndNamesIt) {
  auto first = start({"--holder", "ana"}, {"sh", "-c", "echo ready; exec sleep 60"});
  ASSERT_EQ(first.read_line(patience), "ready");
  const auto marker = folder_.file("started");
  const auto second = run({}, {"touch", marker});
  EXPECT_EQ(second.exit_code, 75);
  EXPECT_NE(second.err.find("ana"), std::string::npos) << second.err;
  EXPECT_EQ(run({"-E", "9"}, {"touch", marker}).exit_code, 9);
  EXPECT_FALSE(std::filesystem::exists(marker));
  first.signal(SIGTERM);
  EXPECT_EQ(first.finish(patience).exit_code, 128 + SIGTERM);
  EXPECT_EQ(run({}, {"touch", marker}).exit_code, 0);
}

TEST_F(LockRun, WaitsItsTurn) {
  auto first = start({}, {"sh", "-c", "echo ready; read line"});
  ASSERT_EQ(first.read_line(patience), "ready");
  auto second = start({"--wait", "20s"}, {"echo", "mine"});
  ASSERT_TRUE(eventually([&] { return lease().waiters == 1; }, patience));
  first.close_input();
  EXPECT_EQ(second.read_line(patience), "mine");
  EXPECT_EQ(second.finish(patience).exit_code, 0);
}

TEST_F(LockRun, NeverStartsTheCommandWithoutTheStore) {
  const auto marker = folder_.file("started");
  const auto done = support::run({LEASEHOLD_TOOL, "lock", "run", "deploy", "--db",
                                  "postgresql://nobody@127.0.0.1:1/none?connect_timeout=2", "--", "touch", marker},
                                 {}, {}, patience);
  EXPECT_EQ(done.exit_code, 69) << done.err;
  EXPECT_FALSE(std::filesystem::exists(marker));
}

TEST_F(LockRun, PassesSignalsOn) {
  for (const auto& [signal, name] :
       {std::pair{SIGINT, "INT"}, std::pair{SIGTERM, "TERM"}, std::pair{SIGHUP, "HUP"}, std::pair{SIGQUIT, "QUIT"},
        std::pair{SIGUSR1, "USR1"}, std::pair{SIGUSR2, "USR2"}}) {
    const std::string script = std::string("trap 'echo got ") + name + "; exit 9' " + name + "; echo ready; " +
                               "i=0; while [ $i -lt 600 ]; do sleep 0.05; i=$((i+1)); done";
    auto wrapper = start({}, {"sh", "-c", script});
    ASSERT_EQ(wrapper.read_line(patience), "ready");
    wrapper.signal(signal);
    EXPECT_EQ(wrapper.read_line(patience), std::string("got ") + name);
    EXPECT_EQ(wrapper.finish(patience).exit_code, 9);
  }
}

TEST_F(LockRun, KillingTheWrapperEndsTheWholeTreeAndFreesTheLockWithinItsTtl) {
  auto wrapper = start_tree({"--ttl", "3s", "--grace", "200ms"});
  wrapper.signal(SIGKILL);
  ASSERT_EQ(wrapper.finish(patience).signal, SIGKILL);
  const auto end = lease_end();
  ASSERT_TRUE(eventually([&] { return tree_is_dead(); }, patience));
  EXPECT_LT(last_sign_of_life(), end);
  const auto next = locks().acquire("deploy", {.wait = 20s});
  ASSERT_TRUE(next) << next.error().message;
  EXPECT_LT(BootClock::now(), end + 2s);
}

// The ttl is far longer than the test's patience: that its process is gone is what frees the lock.
TEST_F(LockRun, AfterKill9TheLockIsTakenBackSoonButNotBeforeTheTreeIsGone) {
  auto wrapper = start_tree({"--ttl", "5m", "--grace", "300ms"}, /*deaf=*/true);
  wrapper.signal(SIGKILL);
  ASSERT_EQ(wrapper.finish(patience).signal, SIGKILL);
  const auto store = Store::open(url()).value();
  ASSERT_TRUE(eventually([&] { return store.recover().ok() && lease().state == LeaseState::free; }, patience));
  EXPECT_TRUE(tree_is_dead());
}

class LockRunStopped : public LockRun, public ::testing::WithParamInterface<bool> {};

// Deaf to SIGTERM or not: the tree is gone before the store gives the lock to another holder.
TEST_P(LockRunStopped, StoppingTheWrapperEndsTheTreeBeforeTheLeaseEnds) {
  auto wrapper = start_tree({"--ttl", "2s"}, GetParam());
  wrapper.signal(SIGSTOP);
  ASSERT_TRUE(eventually([&] { return is_stopped(wrapper.pid()); }));
  const auto end = lease_end();
  ASSERT_TRUE(eventually([&] { return tree_is_dead(); }, patience));
  EXPECT_LT(last_sign_of_life(), end);
  ASSERT_TRUE(eventually([&] { return lease().state == LeaseState::expired; }, patience));
  wrapper.signal(SIGCONT);
  const auto done = wrapper.finish(patience);
  EXPECT_EQ(done.exit_code, 76) << done.err;
}

INSTANTIATE_TEST_SUITE_P(Command, LockRunStopped, ::testing::Bool(),
                         [](const auto& param) { return param.param ? "DeafToTerm" : "HearsTerm"; });

TEST_F(LockRun, KillingTheGuardianEndsTheTreeAndReleases) {
  auto wrapper = start_tree({}, /*deaf=*/true);
  const auto guardian = static_cast<pid_t>(command().parent);
  ASSERT_NE(guardian, wrapper.pid());
  ::kill(guardian, SIGKILL);
  const auto done = wrapper.finish(patience);
  EXPECT_EQ(done.exit_code, 125) << done.err;
  EXPECT_TRUE(tree_is_dead());
  EXPECT_EQ(lease().state, LeaseState::free);
}

TEST_F(LockRun, StoppingTheGuardianDoesNotSaveTheTree) {
  auto wrapper = start_tree({"--ttl", "2s"}, /*deaf=*/true);
  ::kill(static_cast<pid_t>(command().parent), SIGSTOP);
  ASSERT_TRUE(locks().revoke("deploy", "test"));
  EXPECT_EQ(wrapper.finish(patience).exit_code, 76);
  EXPECT_TRUE(tree_is_dead());
}

TEST_F(LockRun, AStoppedGuardianStillSeesTheEndOfTheCommand) {
  const auto go = folder_.file("go");
  const auto pid_file = folder_.file("pid");
  auto wrapper =
      start({"--ttl", "10m"},
            {"sh", "-c", "echo $PPID > " + pid_file + "; while [ ! -e " + go + " ]; do sleep 0.02; done; exit 7"});
  pid_t guardian = 0;
  ASSERT_TRUE(eventually([&] { return bool(std::ifstream(pid_file) >> guardian); }, patience));
  ::kill(guardian, SIGSTOP);
  std::ofstream(go) << "go";
  EXPECT_EQ(wrapper.finish(patience).exit_code, 7);
  EXPECT_EQ(lease().state, LeaseState::free);
  EXPECT_TRUE(eventually([&] { return !is_alive(guardian); }, patience));
}

TEST_F(LockRun, AStoppedGuardianStillEndsTheTreeWhenTheWrapperIsKilled) {
  auto wrapper = start_tree({"--ttl", "4s"}, /*deaf=*/true);
  const auto guardian = static_cast<pid_t>(command().parent);
  wrapper.signal(SIGSTOP);
  ASSERT_TRUE(eventually([&] { return is_stopped(wrapper.pid()); }));
  ::kill(guardian, SIGSTOP);
  ASSERT_TRUE(eventually([&] { return is_stopped(guardian); }));
  const auto end = lease_end();
  wrapper.signal(SIGKILL);
  ASSERT_TRUE(eventually([&] { return tree_is_dead(); }, patience));
  EXPECT_LT(last_sign_of_life(), end);
}

// The next heartbeat comes in more than three minutes.
TEST_F(LockRun, RevokingEndsTheTreeLongBeforeTheNextHeartbeat) {
  auto wrapper = start_tree({"--ttl", "10m"});
  ASSERT_TRUE(locks().revoke("deploy", "maintenance"));
  const auto asked = BootClock::now();
  EXPECT_EQ(wrapper.finish(patience).exit_code, 76);
  EXPECT_LT(BootClock::now() - asked, 10s);
  EXPECT_TRUE(tree_is_dead());
}

TEST_F(LockRun, RevokingEndsTheTree) {
  auto wrapper = start_tree({"--ttl", "2s"});
  ASSERT_TRUE(locks().revoke("deploy", "maintenance"));
  const auto done = wrapper.finish(patience);
  EXPECT_EQ(done.exit_code, 76);
  EXPECT_NE(done.err.find("revoked"), std::string::npos) << done.err;
  EXPECT_TRUE(tree_is_dead());
}

TEST_F(LockRun, AStoppedCommandDiesAsWell) {
  auto wrapper = start_tree({"--ttl", "2s"});
  ::kill(static_cast<pid_t>(command().pid), SIGSTOP);
  ASSERT_TRUE(locks().revoke("deploy", "test"));
  EXPECT_EQ(wrapper.finish(patience).exit_code, 76);
  EXPECT_TRUE(tree_is_dead());
}

TEST_F(LockRun, LeftoverProcessesAreKilledBeforeTheRelease) {
  auto wrapper = start_role("lock_run_leaver", {});
  const auto done = wrapper.finish(patience);
  EXPECT_EQ(done.exit_code, 5);
  EXPECT_NE(done.err.find("left 1 process behind"), std::string::npos) << done.err;
  EXPECT_NE(runaway().pid, 0);
  EXPECT_FALSE(is_alive(runaway().pid));
  EXPECT_EQ(lease().state, LeaseState::free);
}

TEST_F(LockRun, AGraceThatDoesNotFitIsShortened) {
  const auto done = run({"--ttl", "3s", "--grace", "5s"}, {"true"});
  EXPECT_EQ(done.exit_code, 0);
  EXPECT_NE(done.err.find("shortened to 1s"), std::string::npos) << done.err;
}

}  // namespace
}  // namespace leasehold
