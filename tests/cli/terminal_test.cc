// Output on a terminal: help and tables that fit it, and the reason why a command waits.
#include <algorithm>

#include "cli/tmux.h"
#include "cli/tool.h"

namespace leasehold::support {
namespace {

class Terminal : public ToolTest {
 protected:
  /// A shell in which $L is the tool, on this test's store.
  Tmux terminal(int columns) {
    return Tmux({.columns = columns, .lines = 40},
                {{"LEASEHOLD_DB", url()}, {"TZ", "UTC"}, {"L", LEASEHOLD_TOOL}, {"NO_COLOR", "1"}});
  }
  /// Without the examples: these are to be copied, and stay as they are.
  static std::size_t longest_line(const std::string& text) {
    std::size_t longest = 0;
    std::istringstream lines(text.substr(0, text.find("EXAMPLES")));
    for (std::string line; std::getline(lines, line);) longest = std::max(longest, line.size());
    return longest;
  }
};

TEST_F(Terminal, HelpTakesTheWidthThereIs) {
  for (const auto& words : {Arguments{}, Arguments{"lock", "acquire"}, Arguments{"work"}}) {
    auto asked = words;
    asked.push_back("--help");
    EXPECT_LE(longest_line(tool(asked).out), 80U) << "no terminal";
    EXPECT_LE(longest_line(tool(asked, {{"COLUMNS", "60"}}).out), 60U);
    EXPECT_GT(longest_line(tool(asked, {{"COLUMNS", "200"}}).out), 80U);
    EXPECT_LE(longest_line(tool(asked, {{"COLUMNS", "200"}}).out), 100U);
    EXPECT_GT(longest_line(tool(asked, {{"COLUMNS", "5"}}).out), 20U);
  }
  auto narrow = terminal(50);
  narrow.type("clear; $L lock show --help\n");
  ASSERT_TRUE(narrow.shows("EXAMPLES"));
  EXPECT_TRUE(contains(narrow.screen(), "Print only"));
  for (const auto& line : narrow.lines()) EXPECT_LE(line.size(), 50U) << line;
}

TEST_F(Terminal, TablesLeaveOutColumnsInsteadOfWrapping) {
  acquired("a-lock-with-quite-a-long-name", {"--holder", "somebody@a-host-with-a-long-name:12345"});
  const auto all = tool({"lock", "ls"}).out;
  for (const auto* heading : {"NAME", "STATE", "HOLDER", "HEARTBEAT", "FREES", "WAITERS", "TOKEN"}) {
    EXPECT_TRUE(contains(all, heading)) << "where there is no terminal, everything is there";
  }
  EXPECT_TRUE(contains(all, "a-lock-with-quite-a-long-name"));
  for (const int columns : {100, 60, 40, 24}) {
    auto shown = terminal(columns);
    shown.type("clear; $L lock ls\n");
    ASSERT_TRUE(shown.shows("NAME"));
    ASSERT_TRUE(shown.shows("a-lock"));
    ASSERT_TRUE(shown.shows("ready>"));
    const auto lines = shown.lines();
    EXPECT_TRUE(lines.at(1).starts_with("a-lock")) << "one line: " << shown.screen();
    EXPECT_TRUE(lines.at(2).starts_with("ready>")) << "nothing is wrapped: " << shown.screen();
    EXPECT_TRUE(columns < 40 || contains(lines.at(0), "STATE")) << lines.at(0);
    EXPECT_TRUE(columns > 60 || !contains(lines.at(0), "TOKEN")) << lines.at(0);
  }
}

TEST_F(Terminal, AWaitShowsItsReasonAndErasesIt) {
  const auto token = acquired("deploy", {"--holder", "ana", "--ttl", "10m"});
  auto shown = terminal(160);
  shown.type("clear; $L lock run deploy --wait 1m -- echo mine\n");
  EXPECT_TRUE(shown.shows("waiting for deploy: held by ana on "));
  EXPECT_TRUE(shown.shows(", frees in "));
  ASSERT_EQ(tool({"lock", "release", "deploy", "--token", token}).exit_code, 0);
  EXPECT_TRUE(shown.becomes("the command's output alone", [&] { return shown.lines().at(0) == "mine"; }));
  EXPECT_FALSE(contains(shown.screen(), "waiting for"));
}

TEST_F(Terminal, EveryWaitReportsIt) {
  acquired("deploy", {"--holder", "ana", "--ttl", "10m"});
  make_store();
  ASSERT_EQ(tool({"job", "add", "mail", "x", "--delay", "1h"}).exit_code, 0);
  ASSERT_EQ(tool({"chunk", "plan", "orders", "--range", "1..10", "--size", "10"}).exit_code, 0);
  ASSERT_EQ(tool({"chunk", "claim", "orders"}).exit_code, 0);
  ASSERT_EQ(tool({"rate", "take", "api", "--every", "1h", "--holder", "ana"}).exit_code, 0);
  for (const auto* id : {"ann-1", "bob-1"}) ASSERT_EQ(tool({"session", "open", "--id", id}).exit_code, 0);
  ASSERT_EQ(tool({"claim", "take", "SD-1", "--create", "--session", "ann-1"}).exit_code, 0);
  const std::vector<std::pair<std::string, std::string>> waits = {
      {"lock acquire deploy --wait 1m", "waiting for deploy: held by ana"},
      {"elect deploy -- true", "waiting for deploy: held by ana"},
      {"job claim mail --wait 1m", "waiting for a job in mail: 1 deferred, next due "},
      {"job wait 1", "waiting for job 1: deferred, due "},
      {"chunk claim orders --wait", "waiting for a chunk of orders: 0/1 done, 1 running"},
      {"rate take api", "waiting for a turn of api: one every 1h"},
      {"claim take SD-1 --session bob-1 --wait 1m", "waiting for SD-1: session ann-1 ("},
  };
  auto shown = terminal(160);
  for (const auto& [words, reported] : waits) {
    shown.type("clear; $L " + words + "\n");
    EXPECT_TRUE(shown.shows(reported)) << words;
    shown.press("C-c");
    EXPECT_TRUE(shown.becomes("the prompt", [&] { return shown.knows("pane_current_command") == "sh"; }));
  }
}

TEST_F(Terminal, AQuietWaitAndOneForAProgramSayNothing) {
  acquired("deploy", {"--ttl", "10m"});
  auto shown = terminal(160);
  shown.type("clear; $L lock acquire deploy --wait 1500ms -q; $L lock acquire deploy --wait 1500ms --json\n");
  ASSERT_TRUE(shown.shows("{\"error\""));
  EXPECT_FALSE(contains(shown.screen(), "waiting for"));
  EXPECT_EQ(tool({"lock", "acquire", "deploy", "--wait", "1s"}).err.find("waiting for"), std::string::npos);
}

}  // namespace
}  // namespace leasehold::support
