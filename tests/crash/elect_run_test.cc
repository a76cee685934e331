// `leasehold elect` with real processes: one leads at a time, and when it dies, resigns or is cut off, the next one
// does, but not before nothing of the old leader's command is left.
#include <gtest/gtest.h>
#include <signal.h>

#include <filesystem>

#include "leasehold/store.h"
#include "support/process.h"
#include "support/sqlite.h"
#include "support/temp_dir.h"
#include "support/ticking_tree.h"

namespace leasehold {
namespace {

using namespace std::chrono_literals;
using support::Arguments;
using support::eventually;
using support::is_alive;
using support::is_stopped;
using support::Process;
using support::read_tick;
using support::Tick;

constexpr Duration patience = 30s;

/// A leader's command with a runaway grandchild.
LEASEHOLD_ROLE(elect_run_tree) {
  support::start_runaway(support::env("RUNAWAY"));
  support::tick_into(support::env("COMMAND"));
}

class ElectRun : public ::testing::Test {
 protected:
  ElectRun() {
    // A test started in the background of a script has these ignored, and so would what it starts.
    for (const int signal : {SIGINT, SIGQUIT}) ::signal(signal, SIG_DFL);
  }

  [[nodiscard]] std::string file() const { return folder_.file("store.db"); }
  [[nodiscard]] std::string url() const { return "sqlite:" + file(); }
  [[nodiscard]] std::string trace(const std::string& who, const char* what) const { return folder_.file(who + what); }

  [[nodiscard]] Arguments words(const std::string& who, const Arguments& options, const Arguments& command) const {
    Arguments all{LEASEHOLD_TOOL, "elect", "billing", "--db", url(), "--holder", who};
    all.insert(all.end(), options.begin(), options.end());
    all.emplace_back("--");
    all.insert(all.end(), command.begin(), command.end());
    return all;
  }
  /// Its command says its term, then works until it is ended.
  [[nodiscard]] Process start(const std::string& who, const Arguments& options = {}) const {
    return Process::start(words(who, options, {"sh", "-c", "echo $LEASEHOLD_TERM; exec sleep 60"}));
  }
  /// Its command is this executable, with something that runs away from it.
  [[nodiscard]] Process start_tree(const std::string& who, const Arguments& options) const {
    const auto self = std::filesystem::read_symlink("/proc/self/exe").string();
    return Process::start(words(who, options, {self}), {{"LEASEHOLD_TEST_ROLE", "elect_run_tree"},
                                                        {"COMMAND", trace(who, ".command")},
                                                        {"RUNAWAY", trace(who, ".runaway")}});
  }
  [[nodiscard]] Tick command_of(const std::string& who) const { return read_tick(trace(who, ".command")); }
  [[nodiscard]] Tick runaway_of(const std::string& who) const { return read_tick(trace(who, ".runaway")); }
  [[nodiscard]] bool leads(const std::string& who) const {
    return command_of(who).boot_us != 0 && runaway_of(who).boot_us != 0;
  }
  [[nodiscard]] std::int64_t last_sign_of_life(const std::string& who) const {
    return std::max(command_of(who).boot_us, runaway_of(who).boot_us);
  }

  [[nodiscard]] Locks locks() const { return Store::open(url()).value().locks(); }
  [[nodiscard]] LockInfo lock() const { return locks().show("billing").value(); }
  [[nodiscard]] bool wait_for_candidates(std::int64_t count) const {
    return eventually([&] { return lock().waiters == count; }, patience);
  }

  support::TempDir folder_;
};

std::int64_t term_in(const std::optional<std::string>& line) { return line ? std::stoll(*line) : 0; }

TEST_F(ElectRun, AfterKill9TheNextOneLeadsWithinTheTtlAndNotBeforeTheOldCommandIsGone) {
  auto ana = start_tree("ana", {"--ttl", "3s", "--grace", "200ms"});
  ASSERT_TRUE(eventually([&] { return leads("ana"); }, patience));
  const auto term = lock().token;
  auto bob = start_tree("bob", {"--ttl", "3s", "--grace", "200ms"});
  ASSERT_TRUE(wait_for_candidates(1));
  ana.signal(SIGKILL);
  ASSERT_EQ(ana.finish(patience).signal, SIGKILL);
  ASSERT_TRUE(eventually([&] { return leads("bob"); }, patience));
  EXPECT_LT(last_sign_of_life("ana"), command_of("bob").begun_us);
  EXPECT_FALSE(is_alive(command_of("ana").pid));
  EXPECT_FALSE(is_alive(runaway_of("ana").pid));
  EXPECT_EQ(lock().holder.name, "bob");
  EXPECT_GT(lock().token, term);
}

// The ttl is far longer than the test's patience: that the first one resigned is what lets the second one lead.
TEST_F(ElectRun, AfterTermTheNextOneLeadsAtOnce) {
  auto ana = start("ana", {"--ttl", "10m"});
  const auto term = term_in(ana.read_line(patience));
  ASSERT_GT(term, 0);
  auto bob = start("bob", {"--ttl", "10m"});
  ASSERT_TRUE(wait_for_candidates(1));
  ana.signal(SIGTERM);
  EXPECT_EQ(ana.finish(patience).exit_code, 128 + SIGTERM);
  EXPECT_GT(term_in(bob.read_line(patience)), term);
  bob.signal(SIGINT);
  EXPECT_EQ(bob.finish(patience).exit_code, 128 + SIGINT);
  EXPECT_EQ(lock().end_reason, "released");
}

TEST_F(ElectRun, AStoppedCandidateLeavesTheLine) {
  auto ana = start("ana");
  ASSERT_GT(term_in(ana.read_line(patience)), 0);
  auto bob = start("bob");
  ASSERT_TRUE(wait_for_candidates(1));
  bob.signal(SIGTERM);
  EXPECT_EQ(bob.finish(patience).exit_code, 128 + SIGTERM);
  EXPECT_EQ(lock().waiters, 0);
}

TEST_F(ElectRun, CandidatesAreElectedInTheOrderInWhichTheyCame) {
  auto ana = start("ana");
  ASSERT_GT(term_in(ana.read_line(patience)), 0);
  auto bob = start("bob");
  ASSERT_TRUE(wait_for_candidates(1));
  auto cat = start("cat");
  ASSERT_TRUE(wait_for_candidates(2));
  ana.signal(SIGTERM);
  const auto second = term_in(bob.read_line(patience));
  ASSERT_GT(second, 0);
  EXPECT_EQ(lock().holder.name, "bob");
  bob.signal(SIGTERM);
  EXPECT_GT(term_in(cat.read_line(patience)), second);
  EXPECT_EQ(lock().holder.name, "cat");
}

TEST_F(ElectRun, ALeaderThatLostItsTermCampaignsAgain) {
  auto ana = start("ana", {"--ttl", "2s"});
  const auto first = term_in(ana.read_line(patience));
  ASSERT_GT(first, 0);
  ASSERT_TRUE(locks().revoke("billing", "maintenance"));
  EXPECT_GT(term_in(ana.read_line(patience)), first);
  ana.signal(SIGTERM);
  const auto done = ana.finish(patience);
  EXPECT_EQ(done.exit_code, 128 + SIGTERM);
  EXPECT_NE(done.err.find("revoked"), std::string::npos) << done.err;
  EXPECT_NE(done.err.find("billing  lost  term "), std::string::npos) << done.err;
}

TEST_F(ElectRun, OnceMeansOneTerm) {
  auto ana = start("ana", {"--ttl", "2s", "--once"});
  ASSERT_GT(term_in(ana.read_line(patience)), 0);
  ASSERT_TRUE(locks().revoke("billing", "maintenance"));
  EXPECT_EQ(ana.finish(patience).exit_code, 76);
}

// The file cannot be written for a while: no heartbeat gets through.
TEST_F(ElectRun, ALeaderThatIsCutOffEndsItsCommandBeforeItsLeaseAndLeadsAgainLater) {
  auto ana = start_tree("ana", {"--ttl", "3s", "--grace", "200ms"});
  ASSERT_TRUE(eventually([&] { return leads("ana"); }, patience));
  const auto first = command_of("ana").pid;
  const support::SqliteFile other(file());
  sqlite3_busy_timeout(other.handle(), 10'000);
  other.run("BEGIN IMMEDIATE");
  const auto before = BootClock::now();
  const auto lease_end = before + lock().retry_in();
  ASSERT_TRUE(eventually([&] { return !is_alive(first) && !is_alive(runaway_of("ana").pid); }, patience));
  EXPECT_LT(last_sign_of_life("ana"), lease_end.time_since_epoch().count());
  const auto term = lock().token;
  other.run("ROLLBACK");
  ASSERT_TRUE(eventually([&] { return command_of("ana").pid != first && is_alive(command_of("ana").pid); }, patience));
  EXPECT_GT(lock().token, term);
}

TEST_F(ElectRun, AStoppedLeaderLosesItsCommandAndTheNextOneLeads) {
  auto ana = start_tree("ana", {"--ttl", "2s"});
  ASSERT_TRUE(eventually([&] { return leads("ana"); }, patience));
  auto bob = start_tree("bob", {"--ttl", "30s"});
  ASSERT_TRUE(wait_for_candidates(1));
  ana.signal(SIGSTOP);
  ASSERT_TRUE(eventually([&] { return is_stopped(ana.pid()); }));
  ASSERT_TRUE(eventually([&] { return leads("bob"); }, patience));
  EXPECT_LT(last_sign_of_life("ana"), command_of("bob").begun_us);
  ana.signal(SIGCONT);
  ASSERT_TRUE(wait_for_candidates(1)) << "it stands again";
}

TEST_F(ElectRun, KillingTheGuardianEndsTheCommandAndTheTerm) {
  auto ana = start_tree("ana", {});
  ASSERT_TRUE(eventually([&] { return leads("ana"); }, patience));
  ::kill(static_cast<pid_t>(command_of("ana").parent), SIGKILL);
  EXPECT_EQ(ana.finish(patience).exit_code, 125);
  EXPECT_FALSE(is_alive(command_of("ana").pid));
  EXPECT_FALSE(is_alive(runaway_of("ana").pid));
  EXPECT_EQ(lock().state, LeaseState::free);
}

}  // namespace
}  // namespace leasehold
