// The tables of sessions and claims: aligned whatever is in them, coloured for people only, and watched.
#include <csignal>
#include <sstream>

#include "cli/session_tool.h"

namespace leasehold::support {
namespace {

class SessionTable : public SessionToolTest {
 protected:
  static std::vector<std::string> lines_of(const std::string& text) {
    std::vector<std::string> lines;
    std::istringstream stream(text);
    for (std::string line; std::getline(stream, line);) lines.push_back(line);
    return lines;
  }
  /// The tool on a terminal of so many columns; its output.
  std::string on_terminal(const std::string& arguments, int columns, const Environment& env = {}) {
    const auto command = std::string(LEASEHOLD_TOOL) + " " + arguments + " --db '" + url() + "'";
    auto all = env;
    all.merge(Environment{{"TERM", "xterm"}, {"NO_COLOR", ""}});
    return run({"script", "-qec", "stty rows 24 cols " + std::to_string(columns) + "; " + command, "/dev/null"}, all)
        .out;
  }
};
LEASEHOLD_ON_BOTH_STORES(SessionTable);

// Three characters of Japanese take six columns and nine bytes; an accent of its own takes none and two bytes.
TEST_P(SessionTable, WideAndCombiningCharactersStayAligned) {
  opened("a", {"--label", "abcdef"});
  opened("b", {"--label", "日本語"});
  opened("c", {"--label", "cafe\u0301 🦊"});
  const auto lines = lines_of(tool({"session", "ls"}).out);
  ASSERT_EQ(lines.size(), 4U);
  const auto host = lines[0].find("HOST");
  ASSERT_NE(host, std::string::npos);
  for (const auto& line : lines) {
    const std::size_t more_bytes = line.find("日本語") != std::string::npos ? 3
                                   : line.find("cafe") != std::string::npos ? 4
                                                                            : 0;
    EXPECT_EQ(line.substr(host + more_bytes - 2, 2), "  ") << line;
    EXPECT_NE(line[host + more_bytes], ' ') << line;
  }
}

TEST_P(SessionTable, ATitleOfAnyLengthIsOneShortLine) {
  opened("ann-1");
  const auto title = "two\nlines \x1b[31m and " + std::string(100'000, 'x');
  ASSERT_EQ(tool({"item", "add", "SD-1", "--title", title}).exit_code, 0);
  taken("SD-1", "ann-1");
  for (const Arguments& arguments : {Arguments{"claim", "ls"}, Arguments{"item", "ls"}}) {
    const auto lines = lines_of(tool(arguments).out);
    ASSERT_EQ(lines.size(), 2U);
    EXPECT_TRUE(contains(lines[1], R"(two\x0alines \x1b[31m and xxx)"));
    EXPECT_TRUE(contains(lines[1], "x…"));
    EXPECT_LT(lines[1].size(), 300U);
  }
  EXPECT_EQ(json({"item", "show", "SD-1"}).at("title").as_string(), title) << "all of it for programs";
}

TEST_P(SessionTable, ItFitsANarrowTerminal) {
  opened("ann-1", {"--label", std::string(50, 'l') + "日本語日本語"});
  taken(std::string(40, 'i'), "ann-1");
  EXPECT_TRUE(contains(on_terminal("session ls", 110), "lll…"));
}

TEST_P(SessionTable, ColourShowsHealthOnATerminalOnly) {
  opened("ann-1");
  opened("ben-1", {"--ttl", "50ms"});
  const auto token = opened("cat-1");
  ASSERT_EQ(tool({"session", "park", "cat-1", "--token", token, "--for", "1h"}).exit_code, 0);
  ASSERT_TRUE(eventually([&] { return status_of("ben-1") == "stale"; }));
  const auto coloured = on_terminal("session ls", 160);
  EXPECT_TRUE(contains(coloured, "\x1b[32mactive\x1b[0m"));
  EXPECT_TRUE(contains(coloured, "\x1b[31mstale\x1b[0m"));
  EXPECT_TRUE(contains(coloured, "\x1b[33midle\x1b[0m"));
  EXPECT_FALSE(contains(on_terminal("session ls", 160, {{"NO_COLOR", "1"}}), "\x1b["));
  EXPECT_FALSE(contains(tool({"session", "ls"}).out, "\x1b["));
}

TEST_P(SessionTable, AWatchShowsEveryChangeInALine) {
  const auto ann = opened("ann-1", {"--label", "parsing", "--holder", "ann"});
  auto sessions = watch({"session", "ls"});
  ASSERT_TRUE(tells(sessions, "ann-1: active, ann, parsing"));
  auto claims = watch({"claim", "ls", "--all"});
  const auto token = taken("SD-1", "ann-1");
  ASSERT_TRUE(tells(sessions, "ann-1: active, ann, parsing, has SD-1"));
  ASSERT_TRUE(tells(claims, "SD-1: active, session ann-1 (parsing)"));
  ASSERT_EQ(tool({"session", "heartbeat", "ann-1", "--token", ann, "--progress", "half done"}).exit_code, 0);
  ASSERT_TRUE(tells(sessions, "has SD-1: half done"));
  tool({"claim", "release", "SD-1", "--session", "ann-1", "--token", token, "--reason", "too hard"});
  ASSERT_TRUE(tells(claims, "SD-1: released, session ann-1 (parsing): too hard"));
  tool({"session", "close", "ann-1", "--token", ann});
  ASSERT_TRUE(tells(sessions, "ann-1: no longer in the list"));
  for (auto* watcher : {&sessions, &claims}) {
    watcher->signal(SIGINT);
    EXPECT_EQ(watcher->finish(20s).exit_code, 0);
  }
}

TEST_P(SessionTable, AWatchSeesASessionGoStaleByItself) {
  auto agent = start_mortal();
  opened("ann-1", {"--pid", std::to_string(agent.pid())});
  auto watcher = watch({"session", "ls", "--json"});
  ASSERT_TRUE(tells(watcher, "\"state\":\"active\""));
  end(agent);
  ASSERT_TRUE(tells(watcher, "\"state\":\"stale\""));
  watcher.signal(SIGTERM);
  EXPECT_EQ(watcher.finish(20s).exit_code, 0);
}

TEST_P(SessionTable, OnATerminalAWatchIsDrawnInPlace) {
  opened("ann-1");
  const auto command = std::string(LEASEHOLD_TOOL) + " session ls --watch --db '" + url() + "'";
  auto terminal = Process::start({"script", "-qec", "stty rows 24 cols 120; exec " + command, "/dev/null"});
  ASSERT_TRUE(tells(terminal, "ann-1"));
  opened("ben-1");
  ASSERT_TRUE(tells(terminal, "A\r")) << "the cursor moves up over the previous drawing";
  ASSERT_TRUE(tells(terminal, "ben-1"));
  // The byte that a terminal sends for Ctrl-C.
  terminal.write("\x03");
  EXPECT_EQ(terminal.finish(20s).exit_code, 0);
}

}  // namespace
}  // namespace leasehold::support
