// `leasehold chunk run` with real processes, on both stores: whatever is done to the runner or to the commands, nothing
// of a command's tree works on once another loader may have its chunk, and the rows add up.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "support/chunk_helpers.h"
#include "support/postgres_server.h"
#include "support/process.h"
#include "support/store_fixture.h"
#include "support/ticking_tree.h"

namespace leasehold::support {
namespace {

constexpr Duration patience = 30s;

/// A command with a runaway grandchild, each with a file of its own per attempt; neither hears SIGTERM.
LEASEHOLD_ROLE(chunk_tree) {
  ::signal(SIGTERM, SIG_IGN);
  const auto attempt = "." + env("LEASEHOLD_ATTEMPT");
  start_runaway(env("RUNAWAY") + attempt);
  const std::string saved = "{\"cursor\":3,\"rows\":30}\n";
  if (::write(3, saved.data(), saved.size()) < 0) return 1;
  tick_into(env("COMMAND") + attempt);
}

class ChunkRun : public ::testing::TestWithParam<StoreKind> {
 protected:
  ChunkRun() : test_store_(GetParam(), {.real_time = true}), store_(test_store_.open()), chunks_(store_.chunks()) {
    // A test started in the background of a script has it ignored, and so would what it starts.
    ::signal(SIGINT, SIG_DFL);
  }

  void plan(int count, const ChunkSetSettings& settings = {}) {
    plan_numbers(chunks_, "orders", count, {.settings = settings});
  }
  [[nodiscard]] ChunkInfo show(const std::string& key) const { return support::show(chunks_, "orders", key); }
  [[nodiscard]] ChunkSetInfo progress() const { return must(chunks_.progress("orders")); }
  [[nodiscard]] bool becomes(const std::string& key, ChunkState state) const {
    return eventually([&] { return show(key).state == state; }, patience);
  }

  /// stderr comes with stdout, so that it can be read line by line.
  [[nodiscard]] Process start(const Arguments& options, const Arguments& command, const Environment& env = {}) const {
    Arguments words{"sh",     "-c",   "exec \"$0\" \"$@\" 2>&1", LEASEHOLD_TOOL, "chunk", "run",
                    "orders", "--db", test_store_.url()};
    words.insert(words.end(), options.begin(), options.end());
    words.emplace_back("--");
    words.insert(words.end(), command.begin(), command.end());
    return Process::start(words, env);
  }
  [[nodiscard]] Finished run(const Arguments& options, const std::string& script) const {
    return start(options, {"sh", "-c", script}).finish(patience);
  }

  /// Loads five pages of ten rows each from where it was left, and notes each in the file `loaded`. What `before_page`
  /// says is done before page $page.
  [[nodiscard]] std::string paged_load(const std::string& before_page = "") const {
    return "page=${LEASEHOLD_CURSOR:-0}; rows=$LEASEHOLD_ROWS; while [ $page -lt 5 ]; do page=$((page+1)); " +
           before_page + " echo $LEASEHOLD_KEY/$page >> " + folder_.file("loaded") +
           "; rows=$((rows+10)); echo \"{\\\"cursor\\\":$page,\\\"rows\\\":$rows}\" >&3; done";
  }
  [[nodiscard]] std::vector<std::string> loaded() const {
    std::ifstream file(folder_.file("loaded"));
    std::vector<std::string> lines;
    for (std::string line; std::getline(file, line);) lines.push_back(line);
    std::sort(lines.begin(), lines.end());
    return lines;
  }
  static std::vector<std::string> every_page(int chunks) {
    std::vector<std::string> lines;
    for (int chunk = 1; chunk <= chunks; ++chunk) {
      for (int page = 1; page <= 5; ++page) lines.push_back(std::to_string(chunk) + "/" + std::to_string(page));
    }
    std::sort(lines.begin(), lines.end());
    return lines;
  }
  [[nodiscard]] std::string waits_for(const std::string& name) const {
    return "while [ ! -e " + folder_.file(name) + " ]; do sleep 0.02; done;";
  }
  void make(const std::string& name) const { std::ofstream(folder_.file(name)) << "here"; }

  /// This executable as the command.
  [[nodiscard]] Process start_tree(const Arguments& options) const {
    const auto self = std::filesystem::read_symlink("/proc/self/exe").string();
    return start(options, {self},
                 {{"LEASEHOLD_TEST_ROLE", "chunk_tree"},
                  {"COMMAND", folder_.file("command")},
                  {"RUNAWAY", folder_.file("runaway")}});
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

  TempDir folder_;
  TestStore test_store_;
  Store store_;
  Chunks chunks_;
};

LEASEHOLD_ON_BOTH_STORES(ChunkRun);

TEST_P(ChunkRun, LoadsASetAndSaysHowItIs) {
  plan(4);
  const auto done = run({"-c", "2", "--json"}, paged_load());
  EXPECT_EQ(done.exit_code, 0) << done.out;
  EXPECT_NE(done.out.find("\"completed\":4"), std::string::npos) << done.out;
  EXPECT_NE(done.out.find("\"summary\":\"complete\""), std::string::npos) << done.out;
  EXPECT_EQ(loaded(), every_page(4));
  EXPECT_EQ(progress().rows, 4 * 50);
}

TEST_P(ChunkRun, TheExitCodeIsTheVerdict) {
  plan(5);
  const auto done = run({},
                        "case $LEASEHOLD_KEY in 1) exit 0;; 2) echo bad news >&2; exit 65;; 3) kill -SEGV $$;; "
                        "4) [ $LEASEHOLD_ATTEMPT -gt 1 ] || exit 3;; esac");
  EXPECT_EQ(done.exit_code, 1) << "partial: " << done.out;
  EXPECT_EQ(show("1").state, ChunkState::completed);
  EXPECT_EQ(show("2").state, ChunkState::exhausted) << "at once";
  EXPECT_EQ(show("2").error, "exit code 65: bad news");
  EXPECT_EQ(show("2").failures, 1);
  EXPECT_EQ(show("3").state, ChunkState::exhausted) << "after three tries";
  EXPECT_EQ(show("3").error, "killed by SIGSEGV");
  EXPECT_EQ(show("3").failures, 3);
  EXPECT_EQ(show("4").state, ChunkState::completed);
  EXPECT_EQ(show("4").attempts, 2);
  EXPECT_EQ(progress().summary(), "partial 3/5 (2 exhausted)");
}

TEST_P(ChunkRun, OnceIsOneChunk) {
  plan(2);
  EXPECT_EQ(run({"--once"}, "exit 0").exit_code, 0);
  EXPECT_EQ(run({"--once"}, "exit 75").exit_code, 1);
  EXPECT_EQ(show("2").state, ChunkState::available) << "given back";
  EXPECT_EQ(show("2").failures, 0);
  EXPECT_EQ(run({"--once"}, "exit 0").exit_code, 0);
  EXPECT_EQ(run({"--once"}, "exit 0").exit_code, 3) << "there is none";
}

TEST_P(ChunkRun, AnUnplannedSetIsNotFound) {
  EXPECT_EQ(run({}, "exit 0").exit_code, 4);
  must(chunks_.plan("orders", {}));
  EXPECT_EQ(run({}, "exit 1").exit_code, 0) << "nothing to load is complete";
}

TEST_P(ChunkRun, ACommandThatCannotBeRunChargesNoChunk) {
  plan(1);
  EXPECT_EQ(start({}, {folder_.file("missing")}).finish(patience).exit_code, 127);
  EXPECT_EQ(start({}, {folder_.path().string()}).finish(patience).exit_code, 126);
  EXPECT_EQ(show("1").state, ChunkState::available);
  EXPECT_EQ(show("1").failures + show("1").crashes, 0);
}

TEST_P(ChunkRun, TheCommandReceivesTheSpecAndTheCursor) {
  must(chunks_.plan("orders", std::vector<PlannedChunk>{{"a b", R"({"from": 1.50, "id":12345678901234567890123})"}}));
  const auto cursor = R"({"after":98765432109876543210.10,"text":")" + std::string(60'000, 'x') + "\"}";
  const auto before = must(chunks_.claim("orders")).chunks.at(0);
  must(chunks_.release("orders", "a b", before.token, {.cursor = cursor, .rows = 17}));
  const auto seen = folder_.file("seen");
  const auto done =
      run({"--once"}, "cat > " + seen +
                          "; printf '%s|%s|%s|%s|%s|%s' \"$LEASEHOLD_SET\" \"$LEASEHOLD_KEY\" "
                          "\"$LEASEHOLD_ROWS\" \"$LEASEHOLD_ATTEMPT\" \"$LEASEHOLD_TOKEN\" \"$LEASEHOLD_CURSOR\" >> " +
                          seen);
  EXPECT_EQ(done.exit_code, 0) << done.out;
  std::stringstream text;
  text << std::ifstream(seen).rdbuf();
  const auto chunk = show("a b");
  for (const auto& part :
       {std::string(R"("set":"orders")"), std::string(R"("key":"a b")"), std::string(R"("rows":17)"),
        std::string(R"("attempt":2)"), "\"token\":" + std::to_string(chunk.token.value), "\"hash\":\"" + chunk.hash,
        std::string(R"("spec":{"from": 1.50, "id":12345678901234567890123})"), "\"cursor\":" + cursor,
        "\norders|a b|17|2|" + std::to_string(chunk.token.value) + "|" + cursor}) {
    EXPECT_NE(text.str().find(part), std::string::npos) << part.substr(0, 200);
  }
  EXPECT_EQ(chunk.rows, 17) << "it reported no other count";
}

TEST_P(ChunkRun, LinesOnDescriptor3AreSavedAtOnceOrRemembered) {
  plan(1);
  auto runner =
      start({}, {"sh", "-c",
                 "echo 'rows 5' >&3; echo 'rows +2' >&3; echo 'cursor {\"page\": 1.0}' >&3; " + waits_for("second") +
                     "echo '{\"rows\":20,\"cursor\":[1e400]}' >&3; " + waits_for("third") + "echo 'rows +3' >&3"});
  ASSERT_TRUE(eventually([&] { return show("1").rows == 7; }, patience));
  EXPECT_EQ(show("1").cursor, R"({"page": 1.0})");
  make("second");
  ASSERT_TRUE(eventually([&] { return show("1").rows == 20; }, patience));
  EXPECT_EQ(show("1").cursor, "[1e400]");
  make("third");
  EXPECT_EQ(runner.finish(patience).exit_code, 0);
  EXPECT_EQ(show("1").rows, 23) << "the last count counts";
}

TEST_P(ChunkRun, EverythingReportedBeforeTheEndCounts) {
  plan(2);
  EXPECT_EQ(run({"--once"}, "yes 'rows +1' | head -n 3000 >&3").exit_code, 0);
  EXPECT_EQ(show("1").rows, 3000);
  EXPECT_EQ(run({"--once"}, "echo 'rows 7' >&3; echo 'cursor 1' >&3; exit 3").exit_code, 1);
  EXPECT_EQ(show("2").cursor, "1") << "the next try goes on there";
  EXPECT_EQ(show("2").rows, 7);
}

TEST_P(ChunkRun, BadLinesAreReportedAndIgnored) {
  plan(1);
  const auto done = run({},
                        "for line in hello 'rows many' 'rows -1' 'rows +9999999999999999' 'cursor {' 'cursor' '{' "
                        "'{\"percent\":5}' '{\"rows\":1.5}' ; do echo \"$line\" >&3; done; echo 'rows 4' >&3; "
                        "printf 'rows 99' >&3");
  EXPECT_EQ(done.exit_code, 0) << done.out;
  EXPECT_EQ(show("1").rows, 4);
  EXPECT_FALSE(show("1").cursor.has_value());
  std::size_t reported = 0;
  for (auto at = done.out.find("ignored a line"); at != std::string::npos;
       at = done.out.find("ignored a line", at + 1)) {
    ++reported;
  }
  EXPECT_EQ(reported, 10U) << done.out;
}

// The ttl is far longer than the test's patience: that its process is gone is what frees the chunk.
TEST_P(ChunkRun, AfterKill9AnotherRunnerOfThisHostGoesOnFromTheCursorAtOnce) {
  plan(3);
  const auto script = paged_load("if [ $LEASEHOLD_KEY.$page.$LEASEHOLD_ATTEMPT = 2.4.1 ]; then sleep 60; fi;");
  auto first = start({"--ttl", "5m", "--grace", "200ms"}, {"sh", "-c", script});
  ASSERT_TRUE(eventually([&] { return show("2").rows == 30; }, patience));
  first.signal(SIGKILL);
  ASSERT_EQ(first.finish(patience).signal, SIGKILL);
  const auto done = start({"--ttl", "5m"}, {"sh", "-c", script}).finish(patience);
  EXPECT_EQ(done.exit_code, 0) << done.out;
  EXPECT_EQ(loaded(), every_page(3)) << "each page once";
  EXPECT_EQ(progress().rows, 3 * 50);
  EXPECT_EQ(show("2").attempts, 2);
  EXPECT_EQ(show("2").crashes, 1);
  const auto story = story_of(store_, "orders", "2");
  EXPECT_NE(std::find(story.begin(), story.end(), "reclaimed"), story.end());
}

TEST_P(ChunkRun, AfterKill9NothingOfTheCommandSurvives) {
  plan(1);
  auto first = start_tree({"--ttl", "5m", "--grace", "200ms"});
  ASSERT_TRUE(tree_runs(1));
  auto second = start_tree({"--ttl", "5m", "--grace", "200ms"});
  first.signal(SIGKILL);
  ASSERT_EQ(first.finish(patience).signal, SIGKILL);
  ASSERT_TRUE(tree_runs(2));
  EXPECT_TRUE(tree_is_dead(1));
  EXPECT_LT(last_sign_of_life(1), BootTime(Duration(command(2).begun_us))) << "two of them worked at once";
}

TEST_P(ChunkRun, AfterKill9TheCommandHasTheGraceToEndWell) {
  plan(1);
  auto runner = start({"--grace", "20s"}, {"sh", "-c",
                                           "trap 'sleep 0.3; echo well > " + folder_.file("ended") +
                                               "; exit' TERM; echo begun; " + waits_for("never")});
  ASSERT_EQ(runner.read_line(patience), "begun");
  runner.signal(SIGKILL);
  EXPECT_TRUE(eventually([&] { return std::filesystem::exists(folder_.file("ended")); }, patience));
}

TEST_P(ChunkRun, StoppedPastItsLeaseItsCommandIsGoneAndItsSavesAreRefused) {
  plan(1);
  const auto pid_file = folder_.file("pid");
  auto runner = start({"--ttl", "2s"}, {"sh", "-c",
                                        "echo $$ > " + pid_file + ".new; mv " + pid_file + ".new " + pid_file +
                                            "; echo '{\"cursor\":1,\"rows\":10}' >&3; " + waits_for("second") +
                                            "echo '{\"cursor\":2,\"rows\":20}' >&3; echo reported > " +
                                            folder_.file("reported") + "; sleep 60"});
  ASSERT_TRUE(eventually([&] { return show("1").rows == 10; }, patience));
  pid_t pid = 0;
  std::ifstream(pid_file) >> pid;
  test_store_.freeze(runner.pid());
  make("second");
  ASSERT_TRUE(eventually([&] { return std::filesystem::exists(folder_.file("reported")); }, patience));
  ASSERT_TRUE(eventually([&] { return !is_alive(pid); }, patience)) << "ended by its guardian";
  const auto taken = must(chunks_.claim("orders", {.ttl = 5min, .wait = 20s})).chunks.at(0);
  EXPECT_EQ(taken.cursor, "1");
  EXPECT_EQ(taken.rows, 10);
  runner.signal(SIGCONT);
  bool refused = false;
  while (const auto line = runner.read_line(patience)) {
    refused = refused || line->find("not saved") != std::string::npos;
    if (line->find("lost before the verdict") != std::string::npos) break;
  }
  EXPECT_TRUE(refused);
  EXPECT_EQ(show("1").rows, 10) << "the counters did not move";
  must(chunks_.complete("orders", "1", taken.token, {.rows = 50}));
  const auto done = runner.finish(patience);
  EXPECT_EQ(done.exit_code, 0) << "the set is complete, whichever runner completed it: " << done.out;
  EXPECT_EQ(progress().rows, 50);
}

TEST_P(ChunkRun, ACommandMayTakeLongerThanTheTtl) {
  plan(1, {.default_ttl = 1s});
  EXPECT_EQ(run({}, "sleep 3").exit_code, 0);
  EXPECT_EQ(show("1").attempts, 1);
}

TEST_P(ChunkRun, SigtermLetsRunningCommandsFinishAndClaimsNothingMore) {
  plan(2);
  auto runner = start({}, {"sh", "-c", "echo begun; " + waits_for("go")});
  ASSERT_EQ(runner.read_line(patience), "begun");
  runner.signal(SIGTERM);
  const auto said = runner.read_line(patience);
  ASSERT_TRUE(said && said->find("stopping") != std::string::npos) << said.value_or("");
  make("go");
  EXPECT_EQ(runner.finish(patience).exit_code, 128 + SIGTERM) << "stopped before the end";
  EXPECT_EQ(show("1").state, ChunkState::completed);
  EXPECT_EQ(show("2").state, ChunkState::available);
  EXPECT_EQ(show("2").attempts, 0);
}

TEST_P(ChunkRun, AfterTheGraceAChunkIsReleasedWithItsCursor) {
  plan(1);
  auto runner = start_tree({"--grace", "200ms"});
  ASSERT_TRUE(tree_runs(1));
  runner.signal(SIGTERM);
  EXPECT_EQ(runner.finish(patience).exit_code, 128 + SIGTERM);
  EXPECT_TRUE(tree_is_dead(1));
  const auto chunk = show("1");
  EXPECT_EQ(chunk.state, ChunkState::available);
  EXPECT_EQ(chunk.cursor, "3");
  EXPECT_EQ(chunk.rows, 30);
  EXPECT_EQ(chunk.failures + chunk.crashes, 0);
}

TEST_P(ChunkRun, ASecondSignalEndsItAtOnce) {
  plan(1);
  auto runner = start_tree({"--grace", "10m", "--ttl", "1h"});
  ASSERT_TRUE(tree_runs(1));
  runner.signal(SIGINT);
  ASSERT_TRUE(runner.read_line(patience));
  runner.signal(SIGINT);
  EXPECT_EQ(runner.finish(patience).exit_code, 128 + SIGINT);
  EXPECT_TRUE(tree_is_dead(1));
  EXPECT_EQ(show("1").state, ChunkState::available);
}

TEST_P(ChunkRun, NotNowIsKeptForAWhileAndGivenBackWhenTheRunnerEnds) {
  plan(1);
  auto runner = start({}, {"sh", "-c", "echo begun; exit 75"});
  ASSERT_EQ(runner.read_line(patience), "begun");
  runner.signal(SIGTERM);
  const auto done = runner.finish(patience);
  EXPECT_EQ(done.exit_code, 128 + SIGTERM) << done.out;
  EXPECT_EQ(show("1").state, ChunkState::available);
  EXPECT_EQ(show("1").attempts, 1);
}

TEST_P(ChunkRun, KeepWaitingLoadsResetChunksAndEndsWellWhenStopped) {
  plan(1);
  auto runner = start({"--keep-waiting"}, {"sh", "-c", paged_load()});
  ASSERT_TRUE(becomes("1", ChunkState::completed));
  must(chunks_.reset("orders", {.which = ChunkReset::Which::all}));
  ASSERT_TRUE(eventually([&] { return loaded().size() == 10 && show("1").state == ChunkState::completed; }, patience));
  runner.signal(SIGTERM);
  EXPECT_EQ(runner.finish(patience).exit_code, 0);
}

TEST_P(ChunkRun, ForgedNamesDoNotReachTheShell) {
  must(chunks_.plan("orders", std::vector<PlannedChunk>{{"$(touch " + folder_.file("broken-in") + ")", "1"}}));
  EXPECT_EQ(run({}, "test -n \"$LEASEHOLD_KEY\"").exit_code, 0);
  EXPECT_FALSE(std::filesystem::exists(folder_.file("broken-in")));
}

class ChunkRunAndPostgres : public ::testing::Test {
 protected:
  PostgresServer server_;
  TempDir folder_;
};

TEST_F(ChunkRunAndPostgres, ACommandGoesOnAndItsSavesArriveWhenTheServerIsBack) {
  const auto store = must(Store::open(server_.url(), {.migrate = MigrateOnOpen::yes}));
  plan_numbers(store.chunks(), "orders", 1);
  const auto go = folder_.file("go");
  auto runner = Process::start(
      {LEASEHOLD_TOOL, "chunk", "run", "orders", "--db", server_.url(), "--", "sh", "-c",
       "echo begun; while [ ! -e " + go + " ]; do sleep 0.02; done; echo 'rows 30' >&3; echo 'cursor 3' >&3; exit 75"});
  ASSERT_EQ(runner.read_line(patience), "begun");
  server_.kill9();
  std::ofstream(go) << "go";
  server_.restart();
  ASSERT_TRUE(eventually(
      [&] {
        const auto chunk = store.chunks().show("orders", "1");
        return chunk && chunk->rows == 30;
      },
      patience));
  runner.signal(SIGTERM);
  const auto done = runner.finish(patience);
  EXPECT_EQ(done.exit_code, 128 + SIGTERM) << done.err;
  const auto chunk = must(store.chunks().show("orders", "1"));
  EXPECT_EQ(chunk.cursor, "3");
  EXPECT_EQ(chunk.crashes + chunk.failures, 0);
}

}  // namespace
}  // namespace leasehold::support
