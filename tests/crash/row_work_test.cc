// `leasehold row work` with real processes, on both databases: whatever is done to the worker, nothing of a command's
// tree works on once another worker may have its row, and no row is completed twice.
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <filesystem>

#include "leasehold/adopt.h"
#include "leasehold/row.h"
#include "support/job_helpers.h"
#include "support/process.h"
#include "support/store_fixture.h"
#include "support/ticking_tree.h"

namespace leasehold::support {
namespace {

constexpr Duration patience = 30s;

/// A command with a runaway grandchild, each with a file of its own per grant; neither hears SIGTERM.
LEASEHOLD_ROLE(row_tree) {
  ::signal(SIGTERM, SIG_IGN);
  const auto worker = "." + env("WORKER");
  start_runaway(env("RUNAWAY") + worker);
  tick_into(env("COMMAND") + worker);
}

class RowWork : public ::testing::TestWithParam<StoreKind> {
 protected:
  RowWork() : store_(GetParam(), {.migrate = false, .real_time = true, .own_database = true}), made_(store_.path()) {
    // A test started in the background of a script has it ignored, and so would what it starts.
    ::signal(SIGINT, SIG_DFL);
    if (on_postgres()) store_.run("CREATE SCHEMA IF NOT EXISTS " + schema());
  }

  [[nodiscard]] static bool on_postgres() { return GetParam() == StoreKind::postgres; }
  [[nodiscard]] std::string schema() const { return on_postgres() ? store_.schema() : "main"; }
  [[nodiscard]] std::string url() const { return on_postgres() ? store_.database_url() : "sqlite:" + store_.path(); }

  /// Rows 1 to `count`. Each completion writes the row's key and its token into `ledger`, in the same commit.
  void adopt(int count, const std::string& ttl = "2s") {
    store_.run("CREATE TABLE " + schema() +
               ".jobs (id integer PRIMARY KEY, status text NOT NULL DEFAULT 'PENDING', error text)");
    store_.run("CREATE TABLE " + schema() + ".ledger (job integer, token bigint)");
    for (int id = 1; id <= count; ++id) {
      store_.run("INSERT INTO " + schema() + ".jobs (id) VALUES (" + std::to_string(id) + ")");
    }
    const auto file = "[" + schema() + ".jobs]\nshape = \"work\"\nttl = \"" + ttl +
                      "\"\norder = \"id\"\nclaimable = \"status IN ('PENDING', 'RUNNING')\"\n"
                      "final = { completed = \"status = 'COMPLETED'\", failed = \"status = 'FAILED'\" }\n"
                      "on_claim = \"status = 'RUNNING'\"\non_complete = \"status = 'COMPLETED'\"\n"
                      "on_fail = \"status = 'FAILED', error = :error\"\non_release = \"status = 'PENDING'\"\n"
                      "also = { complete = \"INSERT INTO " +
                      std::string(on_postgres() ? schema() + "." : "") +
                      "ledger (job, token) VALUES (:key, :token)\" }\n";
    const auto applied = Adoption::open(url()).value().apply(file, "adopt.toml");
    ASSERT_TRUE(applied.ok()) << applied.error().message;
    rows_.emplace(Rows::open(url(), schema() + ".jobs").value());
  }

  Rows& rows() { return *rows_; }
  std::string state_of(const std::string& key) { return rows().show({key}).value().state; }
  bool becomes(const std::string& key, const std::string& state) {
    return eventually([&] { return state_of(key) == state; }, patience);
  }
  /// How often each row was completed: "1:1 2:1".
  std::string ledger() {
    std::string text;
    for (const auto& row : store_.rows("SELECT job, count(*) FROM " + schema() + ".ledger GROUP BY job ORDER BY job")) {
      text += (text.empty() ? "" : " ") + row[0].value_or("") + ":" + row[1].value_or("");
    }
    return text;
  }

  /// stderr comes with stdout, so that it can be read line by line.
  [[nodiscard]] Process start(const Arguments& options, const Arguments& command, const Environment& env = {}) const {
    Arguments words{"sh", "-c", "exec \"$0\" \"$@\" 2>&1", LEASEHOLD_TOOL, "row", "work", "jobs", "--db", url()};
    words.insert(words.end(), options.begin(), options.end());
    words.emplace_back("--");
    words.insert(words.end(), command.begin(), command.end());
    return Process::start(words, env);
  }
  /// This executable as the command; `worker` names its files.
  [[nodiscard]] Process start_tree(const Arguments& options, const std::string& worker) const {
    const auto self = std::filesystem::read_symlink("/proc/self/exe").string();
    return start(options, {self},
                 {{"LEASEHOLD_TEST_ROLE", "row_tree"},
                  {"WORKER", worker},
                  {"COMMAND", folder_.file("command")},
                  {"RUNAWAY", folder_.file("runaway")}});
  }
  [[nodiscard]] Tick command(const std::string& worker) const { return read_tick(folder_.file("command." + worker)); }
  [[nodiscard]] Tick runaway(const std::string& worker) const { return read_tick(folder_.file("runaway." + worker)); }
  [[nodiscard]] bool tree_runs(const std::string& worker) const {
    return eventually([&] { return command(worker).boot_us != 0 && runaway(worker).boot_us != 0; }, patience);
  }
  [[nodiscard]] bool tree_is_dead(const std::string& worker) const {
    return !is_alive(command(worker).pid) && !is_alive(runaway(worker).pid);
  }
  [[nodiscard]] BootTime last_sign_of_life(const std::string& worker) const {
    return BootTime(Duration(std::max(command(worker).boot_us, runaway(worker).boot_us)));
  }

  TempDir folder_;
  TestStore store_;
  SqliteFile made_;
  std::optional<Rows> rows_;
};

LEASEHOLD_ON_BOTH_STORES(RowWork);

TEST_P(RowWork, AfterKill9NothingSurvivesAndAnotherWorkerHasTheRowWithinOneTtl) {
  adopt(1);
  auto first = start_tree({"--grace", "200ms"}, "first");
  ASSERT_TRUE(tree_runs("first"));
  auto second = start_tree({"--grace", "200ms"}, "second");
  const auto before = rows().show({"1"}).value();
  first.signal(SIGKILL);
  ASSERT_EQ(first.finish(patience).signal, SIGKILL);
  const auto killed = BootClock::now();
  ASSERT_TRUE(tree_runs("second"));
  EXPECT_TRUE(tree_is_dead("first"));
  const auto began = BootTime(Duration(command("second").begun_us));
  EXPECT_LT(last_sign_of_life("first"), began) << "two of them worked at once";
  // The worker looks once a second, and a command needs a moment to start.
  EXPECT_LT(began - killed, 2s + 2s);
  EXPECT_GT(rows().show({"1"}).value().token->value, before.token->value);
  second.signal(SIGTERM);
  second.finish(patience);
}

TEST_P(RowWork, KillingTheGuardianOfACommandEndsItsTreeAndFailsTheRow) {
  adopt(1);
  auto worker = start_tree({}, "first");
  ASSERT_TRUE(tree_runs("first"));
  ::kill(static_cast<pid_t>(command("first").parent), SIGKILL);
  ASSERT_TRUE(becomes("1", "failed"));
  EXPECT_TRUE(tree_is_dead("first"));
  worker.signal(SIGTERM);
  EXPECT_EQ(worker.finish(patience).exit_code, 0);
}

TEST_P(RowWork, StoppedPastItsLeaseItsCommandIsGoneAndItsVerdictComesTooLate) {
  adopt(1);
  auto worker = start_tree({"--once", "--json"}, "first");
  ASSERT_TRUE(tree_runs("first"));
  store_.freeze(worker.pid());
  ASSERT_TRUE(eventually([&] { return tree_is_dead("first"); }, patience));
  const auto dead = BootClock::now();
  const auto heir = rows().claim({.ttl = 5min, .wait = 20s});
  ASSERT_TRUE(ok(heir));
  EXPECT_LE(last_sign_of_life("first"), dead);
  worker.signal(SIGCONT);
  const auto done = worker.finish(patience);
  EXPECT_EQ(done.exit_code, 76) << done.out;
  EXPECT_NE(done.out.find("\"lost\":1"), std::string::npos) << done.out;
  EXPECT_EQ(rows().show({"1"}).value().token, heir->front().token);
  ASSERT_TRUE(ok(rows().complete({"1"}, heir->front().token)));
  EXPECT_EQ(ledger(), "1:1");
}

// A worker that is not a leasehold: it completes by hand, after it has slept past its lease.
TEST_P(RowWork, TheLateCompletionOfAStoppedProcessIsRefused) {
  adopt(1, "1s");
  auto late = Process::start(
      {"sh", "-c",
       std::string("set -- $(" LEASEHOLD_TOOL " row claim jobs -q); echo claimed; read go; exec " LEASEHOLD_TOOL
                   " row complete jobs $1 --token $2")},
      {{"LEASEHOLD_DB", url()}});
  ASSERT_EQ(late.read_line(patience), "claimed");
  late.signal(SIGSTOP);
  const auto heir = rows().claim({.ttl = 5min, .wait = 20s});
  ASSERT_TRUE(ok(heir));
  ASSERT_TRUE(ok(rows().complete({"1"}, heir->front().token)));
  late.signal(SIGCONT);
  late.write("go\n");
  EXPECT_EQ(late.finish(patience).exit_code, 76);
  EXPECT_EQ(ledger(), "1:1");
}

TEST_P(RowWork, AWorkerPerKillAndNoRowIsCompletedByTwo) {
  adopt(12, "1s");
  const Arguments command = {"sh", "-c", "sleep 0.2"};
  // Killed in the middle of a command, again and again; each leaves its rows to the next.
  for (int round = 0; round < 3; ++round) {
    auto killed = start({"-c", "3", "-v", "--holder", "killed-" + std::to_string(round)}, command);
    ASSERT_TRUE(killed.read_line(patience));  // one is completed, others are running
    killed.signal(SIGKILL);
    killed.finish(patience);
  }
  auto last = start({"-c", "3"}, command);
  for (int id = 1; id <= 12; ++id) EXPECT_TRUE(becomes(std::to_string(id), "completed")) << id;
  last.signal(SIGTERM);
  EXPECT_EQ(last.finish(patience).exit_code, 0);
  EXPECT_EQ(ledger(), "1:1 2:1 3:1 4:1 5:1 6:1 7:1 8:1 9:1 10:1 11:1 12:1");
}

}  // namespace
}  // namespace leasehold::support
