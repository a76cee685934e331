// `leasehold work` with real processes, on both stores: whatever is done to the worker, to its guardians or to the
// commands, nothing of a command's tree works on once another worker may have its job.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "support/job_helpers.h"
#include "support/postgres_server.h"
#include "support/process.h"
#include "support/store_fixture.h"
#include "support/ticking_tree.h"

namespace leasehold::support {
namespace {

constexpr Duration patience = 30s;

/// A command with a runaway grandchild, each with a file of its own per attempt; with DEAF, neither hears SIGTERM.
LEASEHOLD_ROLE(work_tree) {
  if (!env("DEAF").empty()) ::signal(SIGTERM, SIG_IGN);
  const auto attempt = "." + env("LEASEHOLD_ATTEMPT");
  start_runaway(env("RUNAWAY") + attempt);
  tick_into(env("COMMAND") + attempt);
}

/// The worker's process, and what its commands do in a folder of the test's own.
class WorkCrash : public ::testing::TestWithParam<StoreKind> {
 protected:
  WorkCrash() : test_store_(GetParam(), {.real_time = true}), store_(test_store_.open()) {
    // A test started in the background of a script has it ignored, and so would what it starts.
    ::signal(SIGINT, SIG_DFL);
  }

  Jobs jobs() { return store_.jobs(); }
  JobId add_job(const NewJob& job = {}) { return add(jobs(), "q", job); }

  /// stderr comes with stdout, so that it can be read line by line.
  [[nodiscard]] Process start(const Arguments& options, const Arguments& command, const Environment& env = {}) const {
    Arguments words{"sh", "-c", "exec \"$0\" \"$@\" 2>&1", LEASEHOLD_TOOL, "work", "q", "--db", test_store_.url()};
    words.insert(words.end(), options.begin(), options.end());
    words.emplace_back("--");
    words.insert(words.end(), command.begin(), command.end());
    return Process::start(words, env);
  }
  [[nodiscard]] Finished run(const Arguments& options, const Arguments& command) const {
    return start(options, command).finish(patience);
  }

  /// This executable as the command.
  [[nodiscard]] Process start_tree(const Arguments& options, bool deaf = false) const {
    const auto self = std::filesystem::read_symlink("/proc/self/exe").string();
    return start(options, {self},
                 {{"LEASEHOLD_TEST_ROLE", "work_tree"},
                  {"COMMAND", folder_.file("command")},
                  {"RUNAWAY", folder_.file("runaway")},
                  {"DEAF", deaf ? "1" : ""}});
  }
  [[nodiscard]] Tick command(int attempt) const {
    return read_tick(folder_.file("command." + std::to_string(attempt)));
  }
  [[nodiscard]] Tick runaway(int attempt) const {
    return read_tick(folder_.file("runaway." + std::to_string(attempt)));
  }
  [[nodiscard]] bool tree_runs(int attempt) const {
    return eventually([&] { return command(attempt).boot_us != 0 && runaway(attempt).boot_us != 0; }, patience);
  }
  [[nodiscard]] bool tree_is_dead(int attempt) const {
    return !is_alive(command(attempt).pid) && !is_alive(runaway(attempt).pid);
  }
  [[nodiscard]] BootTime last_sign_of_life(int attempt) const {
    return BootTime(Duration(std::max(command(attempt).boot_us, runaway(attempt).boot_us)));
  }

  bool becomes(JobId id, JobState state) {
    return eventually([&] { return state_of(jobs(), id) == state; }, patience);
  }
  /// The lease does not end earlier, unless an operator or a takeover ends it.
  BootTime lease_end(JobId id) {
    const auto before = BootClock::now();
    const auto info = must(jobs().show(id));
    return before + (info.held_until.value() - info.store_now);
  }

  /// A command that waits for the test.
  [[nodiscard]] Arguments waiting_command() const {
    return {"sh", "-c", "echo begun; while [ ! -e " + folder_.file("go") + " ]; do sleep 0.02; done"};
  }
  void let_go() const { std::ofstream(folder_.file("go")) << "go"; }

  TempDir folder_;
  TestStore test_store_;
  Store store_;
};

LEASEHOLD_ON_BOTH_STORES(WorkCrash);

TEST_P(WorkCrash, TheExitCodeIsTheVerdict) {
  const auto done = add_job();
  EXPECT_EQ(run({"--once"}, {"true"}).exit_code, 0);
  EXPECT_EQ(state_of(jobs(), done), JobState::completed);

  const auto bad = add_job();
  EXPECT_EQ(run({"--once"}, {"sh", "-c", "echo bad news >&2; exit 3"}).exit_code, 1);
  EXPECT_EQ(must(jobs().show(bad)).error, "exit code 3: bad news");
  EXPECT_EQ(must(jobs().show(bad)).failures, 1);

  const auto crashed = add_job();
  EXPECT_EQ(run({"--once"}, {"sh", "-c", "kill -SEGV $$"}).exit_code, 1);
  EXPECT_EQ(must(jobs().show(crashed)).error, "killed by SIGSEGV");

  const auto later = add_job();
  EXPECT_EQ(run({"--once"}, {"sh", "-c", "exit 75"}).exit_code, 1);
  EXPECT_EQ(state_of(jobs(), later), JobState::deferred);
  EXPECT_EQ(must(jobs().show(later)).failures, 0);
}

TEST_P(WorkCrash, PayloadGoesInAndTheResultComesOut) {
  const std::string payload(300'000, 'x');
  const auto id = add_job({.payload = payload});
  EXPECT_EQ(run({"--once", "--result"}, {"sh", "-c", "cat; echo $LEASEHOLD_JOB_ID $LEASEHOLD_ATTEMPT $LEASEHOLD_QUEUE"})
                .exit_code,
            0);
  EXPECT_EQ(must(jobs().result(id)), payload + std::to_string(id) + " 1 q\n");
}

TEST_P(WorkCrash, ACommandThatCannotBeRunChargesNoJob) {
  const auto id = add_job();
  EXPECT_EQ(run({}, {folder_.file("missing")}).exit_code, 127);
  EXPECT_EQ(run({}, {folder_.path().string()}).exit_code, 126);
  EXPECT_EQ(state_of(jobs(), id), JobState::available);
  EXPECT_EQ(must(jobs().show(id)).failures, 0);
}

TEST_P(WorkCrash, ProgressLinesShow) {
  const auto id = add_job();
  auto worker = start({"--grace", "100ms"}, {"sh", "-c",
                                             "echo '50 copying tables' >&3; read line < " + folder_.file("pipe") +
                                                 "; echo '{\"percent\":70,\"stage\":\"check\"}' >&3; sleep 60"});
  ASSERT_EQ(::mkfifo(folder_.file("pipe").c_str(), 0600), 0);
  ASSERT_TRUE(eventually([&] { return must(jobs().show(id)).percent == 50; }, patience));
  EXPECT_EQ(must(jobs().show(id)).message, "copying tables");
  std::ofstream(folder_.file("pipe")) << "go\n";
  ASSERT_TRUE(eventually([&] { return must(jobs().show(id)).percent == 70; }, patience));
  EXPECT_EQ(must(jobs().show(id)).stage, "check");
  worker.signal(SIGTERM);
  EXPECT_EQ(worker.finish(patience).exit_code, 0);
}

// The ttl is far longer than the test's patience: that its process is gone is what frees the job.
TEST_P(WorkCrash, AfterKill9NothingSurvivesAndAnotherWorkerOfThisHostBeginsAtOnce) {
  const auto id = add_job();
  auto first = start_tree({"--ttl", "5m", "--grace", "200ms"}, /*deaf=*/true);
  ASSERT_TRUE(tree_runs(1));
  auto second = start_tree({"--ttl", "5m", "--grace", "200ms"});
  first.signal(SIGKILL);
  ASSERT_EQ(first.finish(patience).signal, SIGKILL);
  ASSERT_TRUE(tree_runs(2));
  EXPECT_TRUE(tree_is_dead(1));
  EXPECT_LT(last_sign_of_life(1), BootTime(Duration(command(2).begun_us))) << "two of them worked at once";
  EXPECT_EQ(outcomes_of(jobs(), id), (std::vector<std::string>{"expired", "running"}));
}

TEST_P(WorkCrash, StoppedPastItsLeaseItsCommandIsGoneAndItsVerdictComesTooLate) {
  const auto id = add_job();
  auto worker = start_tree({"--ttl", "2s", "--json"}, /*deaf=*/true);
  ASSERT_TRUE(tree_runs(1));
  test_store_.freeze(worker.pid());
  const auto end = lease_end(id);
  ASSERT_TRUE(eventually([&] { return tree_is_dead(1); }, patience));
  EXPECT_LT(last_sign_of_life(1), end);
  auto taken = jobs().claim("q", {.ttl = 5min, .wait = 20s});
  ASSERT_TRUE(ok(taken));
  EXPECT_EQ(taken->jobs.at(0).attempt, 2);
  worker.signal(SIGCONT);
  // It says that the lease is lost, and goes on with the next job.
  ASSERT_TRUE(worker.read_line(patience));
  ASSERT_TRUE(ok(jobs().complete(id, taken->token)));
  worker.signal(SIGTERM);
  const auto done = worker.finish(patience);
  EXPECT_EQ(done.exit_code, 0);
  EXPECT_NE(done.out.find("\"lost\":1"), std::string::npos) << done.out;
  EXPECT_EQ(outcomes_of(jobs(), id), (std::vector<std::string>{"expired", "completed"}));
}

TEST_P(WorkCrash, AStoppedGuardianStillSeesTheEndOfTheCommand) {
  const auto id = add_job();
  const auto go = folder_.file("go");
  auto worker =
      start({"--once", "--ttl", "10m"}, {"sh", "-c", "echo $PPID; while [ ! -e " + go + " ]; do sleep 0.02; done"});
  const auto guardian = worker.read_line(patience);
  ASSERT_TRUE(guardian);
  ::kill(std::stoi(*guardian), SIGSTOP);
  let_go();
  EXPECT_EQ(worker.finish(patience).exit_code, 0);
  EXPECT_EQ(state_of(jobs(), id), JobState::completed);
}

// The warden starts the commands; it is the parent of their guardians.
TEST_P(WorkCrash, AStoppedWardenStillStartsTheNextCommand) {
  const auto first = add_job();
  auto worker = start({"--ttl", "10m"},
                      {"sh", "-c", "echo $PPID; while [ ! -e " + folder_.file("go") + " ]; do sleep 0.02; done"});
  const auto guardian = worker.read_line(patience);
  ASSERT_TRUE(guardian);
  const auto warden = support::parent_of(std::stoi(*guardian));
  // Again where the worker, which was not done with it, has just let it go on.
  ASSERT_TRUE(eventually([&] { return ::kill(warden, SIGSTOP) == 0 && is_stopped(warden); }));
  const auto second = add_job();
  let_go();
  EXPECT_TRUE(becomes(first, JobState::completed));
  EXPECT_TRUE(becomes(second, JobState::completed));
  ::kill(warden, SIGSTOP);
  worker.signal(SIGTERM);
  EXPECT_EQ(worker.finish(patience).exit_code, 0);
}

/// From now on the process gets no more descriptors than this.
void limit_descriptors(pid_t process, rlim_t max) {
  rlimit limit{};
  ASSERT_EQ(::prlimit(process, RLIMIT_NOFILE, nullptr, &limit), 0);
  limit.rlim_cur = max;
  ASSERT_EQ(::prlimit(process, RLIMIT_NOFILE, &limit, nullptr), 0);
}

TEST_P(WorkCrash, OutOfDescriptorsItGivesTheJobBackAndGoesOn) {
  auto worker = start({}, {"sh", "-c", "echo begun"});
  add_job();
  ASSERT_EQ(worker.read_line(patience), "begun");
  limit_descriptors(worker.pid(), 3);
  const auto id = add_job();
  ASSERT_TRUE(becomes(id, JobState::deferred));
  EXPECT_EQ(must(jobs().show(id)).failures, 0);
  EXPECT_EQ(must(jobs().show(id)).crashes, 0);
  limit_descriptors(worker.pid(), 1000);
  EXPECT_TRUE(becomes(id, JobState::completed));
  worker.signal(SIGTERM);
  const auto done = worker.finish(patience);
  EXPECT_EQ(done.exit_code, 0);
  EXPECT_NE(done.out.find("released, to be tried again later"), std::string::npos) << done.out;
}

// The warden takes in the channel and the streams of each command.
TEST_P(WorkCrash, AWardenOutOfDescriptorsGivesTheJobBack) {
  auto worker = start({}, {"sh", "-c", "echo $PPID; while [ ! -e " + folder_.file("go") + " ]; do sleep 0.02; done"});
  const auto first = add_job();
  const auto guardian = worker.read_line(patience);
  ASSERT_TRUE(guardian);
  const auto warden = support::parent_of(std::stoi(*guardian));
  limit_descriptors(warden, 3);
  let_go();
  ASSERT_TRUE(becomes(first, JobState::completed));
  const auto id = add_job();
  ASSERT_TRUE(becomes(id, JobState::deferred));
  EXPECT_EQ(must(jobs().show(id)).failures, 0);
  limit_descriptors(warden, 1000);
  EXPECT_TRUE(becomes(id, JobState::completed));
  worker.signal(SIGTERM);
  EXPECT_EQ(worker.finish(patience).exit_code, 0);
}

// The next heartbeat comes in more than three minutes.
TEST_P(WorkCrash, CancellingEndsTheTreeLongBeforeTheNextHeartbeat) {
  const auto id = add_job();
  auto worker = start_tree({"--ttl", "10m"});
  ASSERT_TRUE(tree_runs(1));
  ASSERT_TRUE(ok(jobs().cancel(id, "changed my mind")));
  const auto asked = BootClock::now();
  EXPECT_TRUE(becomes(id, JobState::cancelled));
  EXPECT_LT(BootClock::now() - asked, 10s);
  EXPECT_TRUE(tree_is_dead(1));
  worker.signal(SIGTERM);
  EXPECT_EQ(worker.finish(patience).exit_code, 0);
}

TEST_P(WorkCrash, ACommandMayTakeLongerThanTheTtl) {
  const auto id = add_job();
  EXPECT_EQ(run({"--once", "--ttl", "1s"}, {"sleep", "3"}).exit_code, 0);
  EXPECT_EQ(outcomes_of(jobs(), id), std::vector<std::string>{"completed"});
}

TEST_P(WorkCrash, SigtermLetsRunningCommandsFinishAndClaimsNothingMore) {
  const auto first = add_job();
  const auto second = add_job();
  auto worker = start({}, waiting_command());
  ASSERT_EQ(worker.read_line(patience), "begun");
  worker.signal(SIGTERM);
  const auto said = worker.read_line(patience);
  ASSERT_TRUE(said && said->find("stopping") != std::string::npos) << said.value_or("");
  let_go();
  EXPECT_EQ(worker.finish(patience).exit_code, 0);
  EXPECT_EQ(state_of(jobs(), first), JobState::completed);
  EXPECT_EQ(state_of(jobs(), second), JobState::available);
  EXPECT_EQ(must(jobs().show(second)).attempts, 0);
}

TEST_P(WorkCrash, AfterTheGraceAJobIsReleased) {
  const auto id = add_job();
  auto worker = start_tree({"--grace", "200ms"}, /*deaf=*/true);
  ASSERT_TRUE(tree_runs(1));
  worker.signal(SIGTERM);
  EXPECT_EQ(worker.finish(patience).exit_code, 0);
  EXPECT_TRUE(tree_is_dead(1));
  EXPECT_EQ(state_of(jobs(), id), JobState::available);
  EXPECT_EQ(outcomes_of(jobs(), id), std::vector<std::string>{"released"});
}

TEST_P(WorkCrash, ASecondSignalEndsItAtOnce) {
  const auto id = add_job();
  auto worker = start_tree({"--grace", "10m", "--ttl", "1h"}, /*deaf=*/true);
  ASSERT_TRUE(tree_runs(1));
  worker.signal(SIGINT);
  ASSERT_TRUE(worker.read_line(patience));
  worker.signal(SIGINT);
  EXPECT_EQ(worker.finish(patience).exit_code, 0);
  EXPECT_TRUE(tree_is_dead(1));
  EXPECT_EQ(state_of(jobs(), id), JobState::available);
}

TEST_P(WorkCrash, CancellingAJobEndsItsCommand) {
  const auto id = add_job();
  auto worker = start_tree({"--ttl", "1500ms"});
  ASSERT_TRUE(tree_runs(1));
  ASSERT_TRUE(ok(jobs().cancel(id, "not needed any more")));
  ASSERT_TRUE(becomes(id, JobState::cancelled));
  EXPECT_TRUE(tree_is_dead(1));
}

TEST_P(WorkCrash, KillingAGuardianEndsItsTreeAndFailsTheJobOnly) {
  const auto id = add_job({.backoff = {.base = 1h}});
  auto worker = start_tree({}, /*deaf=*/true);
  ASSERT_TRUE(tree_runs(1));
  ::kill(static_cast<pid_t>(command(1).parent), SIGKILL);
  ASSERT_TRUE(becomes(id, JobState::deferred));
  EXPECT_TRUE(tree_is_dead(1));
  add_job();
  EXPECT_TRUE(eventually([&] { return is_alive(command(1).pid); }, patience)) << "it works on";
}

// The process that a lease names: when it is gone, others take over, so nothing may be left then.
TEST_P(WorkCrash, KillingTheProcessThatIsNamedAsTheHolderEndsEverything) {
  const auto id = add_job({.backoff = {.base = 1h}});
  auto worker = start_tree({"--drain"}, /*deaf=*/true);
  ASSERT_TRUE(tree_runs(1));
  const auto holder = must(jobs().show(id)).holder.value().pid;
  ASSERT_NE(holder, worker.pid());
  ::kill(static_cast<pid_t>(holder), SIGKILL);
  EXPECT_TRUE(eventually([&] { return tree_is_dead(1); }, patience));
  add_job();
  EXPECT_EQ(worker.finish(patience).exit_code, 125);
}

// Its first attempt saves where it is and hangs; the next one begins there.
TEST_P(WorkCrash, AfterKill9TheNextAttemptGetsTheCursorThatWasSaved) {
  const auto id = add_job();
  const auto cursors = folder_.file("cursors");
  const Arguments command{"sh", "-c",
                          "echo \"<$LEASEHOLD_CURSOR>\" >> " + cursors +
                              "; [ -n \"$LEASEHOLD_CURSOR\" ] && exit 0"
                              "; echo 'cursor {\"row\": 1700}' >&3; sleep 60"};
  auto first = start({"--ttl", "5m"}, command);
  ASSERT_TRUE(eventually([&] { return must(jobs().show(id)).cursor == R"({"row": 1700})"; }, patience));
  first.signal(SIGKILL);
  ASSERT_EQ(first.finish(patience).signal, SIGKILL);
  auto second = start({"--ttl", "5m"}, command);
  ASSERT_TRUE(becomes(id, JobState::completed));
  second.signal(SIGTERM);
  EXPECT_EQ(second.finish(patience).exit_code, 0);
  std::ifstream file(cursors);
  EXPECT_EQ(std::string(std::istreambuf_iterator<char>(file), {}), "<>\n<{\"row\": 1700}>\n");
  EXPECT_EQ(outcomes_of(jobs(), id), (std::vector<std::string>{"expired", "completed"}));
}

class WorkAndPostgres : public ::testing::Test {
 protected:
  PostgresServer server_;
  TempDir folder_;
};

TEST_F(WorkAndPostgres, ACommandGoesOnWhileTheServerRestarts) {
  const auto store = must(Store::open(server_.url(), {.migrate = MigrateOnOpen::yes}));
  const auto id = add(store.jobs(), "q");
  const auto go = folder_.file("go");
  auto worker = Process::start({LEASEHOLD_TOOL, "work", "q", "--drain", "--db", server_.url(), "--", "sh", "-c",
                                "echo begun; while [ ! -e " + go + " ]; do sleep 0.02; done"});
  ASSERT_EQ(worker.read_line(patience), "begun");
  server_.kill9();
  std::ofstream(go) << "go";
  // The command ends while the store is unreachable.
  server_.restart();
  const auto done = worker.finish(patience);
  EXPECT_EQ(done.exit_code, 0) << done.err;
  ASSERT_TRUE(eventually([&] { return store.jobs().show(id).ok(); }, patience));
  EXPECT_EQ(outcomes_of(store.jobs(), id), std::vector<std::string>{"completed"});
}

}  // namespace
}  // namespace leasehold::support
