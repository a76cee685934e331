// leasehold chunk progress: once, and watched until the set is final.
#include <csignal>

#include "cli/chunk_tool.h"

namespace leasehold::support {
namespace {

class ChunkProgress : public ChunkToolTest {
 protected:
  Process watch(const Arguments& more = {}) {
    Arguments arguments = {LEASEHOLD_TOOL, "chunk", "progress", "orders", "--watch", "--db", url()};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return Process::start(arguments, {{"TZ", "UTC"}});
  }
  /// Reads on until a line has this in it.
  static testing::AssertionResult tells(Process& watcher, const std::string& part) {
    std::string lines;
    while (auto line = watcher.read_line(20s)) {
      if (line->find(part) != std::string::npos) return testing::AssertionSuccess();
      lines += *line + "\n";
    }
    return testing::AssertionFailure() << "no \"" << part << "\" in:\n" << lines;
  }
};
LEASEHOLD_ON_BOTH_STORES(ChunkProgress);

TEST_P(ChunkProgress, ShowsProgressHoldersAndErrors) {
  EXPECT_EQ(tool({"chunk", "progress", "orders"}).exit_code, 4);
  plan("orders", {"a", "b", "c", "d"});
  EXPECT_TRUE(contains(tool({"chunk", "progress", "orders"}).out,
                       "orders  planned  [....................]   0%  0/4 chunks  0 rows\n4 available\n"));
  say("complete", "orders", claimed("orders", {"--holder", "ana"}), {"--rows", "10"});
  say("fail", "orders", claimed("orders", {"--holder", "ana"}), {"--final", "--error", "no route"});
  say("heartbeat", "orders", claimed("orders", {"--holder", "ben"}), {"--cursor", "{\"page\":4}", "--rows", "7"});
  const auto shown = tool({"chunk", "progress", "orders"});
  EXPECT_EQ(shown.exit_code, 0) << shown.err;
  for (const auto* part :
       {"orders  running  [#####...............]  25%  1/4 chunks  17 rows\n", " rows/s, ", " chunks/min, about ",
        "1 available, 1 running, 1 completed, 1 exhausted\n", "KEY  STATE    HOLDER  TRY  ROWS  CURSOR",
        "c    running  ben       1     7  {\"page\":4}  ", "EXHAUSTED  FAILURES  CRASHES  ROWS  ERROR\n", "no route"}) {
    EXPECT_TRUE(contains(shown.out, part));
  }
  const auto picture = json({"chunk", "progress", "orders"});
  EXPECT_EQ(picture.at("completed"), 1);
  EXPECT_EQ(picture.at("held_chunks").at(0).at("cursor").at("page"), 4);
  EXPECT_EQ(picture.at("exhausted_chunks").at(0).at("error"), "no route");
}

TEST_P(ChunkProgress, AWatchEndsWithTheSet) {
  plan("orders", {"a", "b"});
  auto watcher = watch();
  ASSERT_TRUE(tells(watcher, "planned 0/2, 0 rows; 2 available"));
  say("complete", "orders", claimed("orders", {"--holder", "ana"}), {"--rows", "10"});
  ASSERT_TRUE(tells(watcher, "running 1/2, 10 rows, "));
  say("complete", "orders", claimed("orders", {"--holder", "ana"}), {"--rows", "5"});
  const auto finished = watcher.finish(20s);
  EXPECT_EQ(finished.exit_code, 0) << finished.err;
  EXPECT_TRUE(contains(finished.out, "complete 2/2, 15 rows, "));
  EXPECT_TRUE(contains(finished.out, ", took "));
}

TEST_P(ChunkProgress, AWatchOfASetThatEndsPartialIs1) {
  plan("orders", {"a"});
  auto watcher = watch({"--json"});
  ASSERT_TRUE(tells(watcher, "\"state\":\"planned\""));
  say("fail", "orders", claimed("orders", {"--holder", "ana"}), {"--final", "--error", "no route"});
  const auto finished = watcher.finish(20s);
  EXPECT_EQ(finished.exit_code, 1) << finished.err;
  EXPECT_TRUE(contains(finished.out, "\"summary\":\"partial 0/1 (1 exhausted)\""));
  EXPECT_EQ(watch().finish(20s).exit_code, 1);
}

TEST_P(ChunkProgress, AWatchShowsTheNextHolderAndItsCursor) {
  plan("orders", {"a"});
  const auto late = claimed("orders", {"--holder", "ana", "--ttl", "1h"});
  say("heartbeat", "orders", late, {"--cursor", "{\"page\":4}", "--rows", "40"});
  auto watcher = watch();
  ASSERT_TRUE(tells(watcher, "1 running"));
  say("heartbeat", "orders", late, {"--ttl", "50ms"});
  ASSERT_TRUE(tells(watcher, "a: ana went silent, the next claim takes it from {\"page\":4} (40 rows)"));
  const auto heir = claimed("orders", {"--holder", "ben", "--wait"});
  ASSERT_TRUE(tells(watcher, "a: ben continues from {\"page\":4} (40 rows), after ana; attempt 2"));
  say("complete", "orders", heir, {"--rows", "60"});
  const auto finished = watcher.finish(20s);
  EXPECT_EQ(finished.exit_code, 0) << finished.err;
  EXPECT_TRUE(contains(finished.out, "complete 1/1, 60 rows"));
}

TEST_P(ChunkProgress, AnInterruptedWatchReportsThatTheSetIsNotFinal) {
  plan("orders", {"a"});
  for (const int signal : {SIGINT, SIGTERM}) {
    auto watcher = watch();
    ASSERT_TRUE(tells(watcher, "planned"));
    watcher.signal(signal);
    EXPECT_EQ(watcher.finish(20s).exit_code, 128 + signal);
  }
}

TEST_P(ChunkProgress, OnATerminalItIsDrawnInPlace) {
  plan("orders", {"a", "b"});
  const auto command = std::string(LEASEHOLD_TOOL) + " chunk progress orders --watch --db '" + url() + "'";
  auto terminal = Process::start({"script", "-qec", "stty rows 24 cols 100; exec " + command, "/dev/null"});
  ASSERT_TRUE(tells(terminal, "0/2 chunks"));
  say("complete", "orders", claimed("orders", {"--holder", "ana"}), {"--rows", "10"});
  ASSERT_TRUE(tells(terminal, "1/2 chunks"));
  say("complete", "orders", claimed("orders", {"--holder", "ana"}), {"--rows", "5"});
  const auto finished = terminal.finish(20s);
  EXPECT_EQ(finished.exit_code, 0) << finished.err;
  // Back up over what was drawn before.
  EXPECT_TRUE(contains(finished.out, "A\r"));
  EXPECT_TRUE(contains(finished.out, "2/2 chunks  15 rows"));
}

}  // namespace
}  // namespace leasehold::support
