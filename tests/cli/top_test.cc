// leasehold top, in a real terminal: what it shows, how it takes keys and sizes, and how it leaves.
#include <csignal>
#include <fstream>

#include "cli/print/print.h"
#include "cli/tmux.h"
#include "cli/tool.h"
#include "support/postgres_server.h"

namespace leasehold::support {
namespace {

Environment variables(const std::string& url, Environment more = {}) {
  more.merge(Environment{{"LEASEHOLD_DB", url}, {"LEASEHOLD", LEASEHOLD_TOOL}, {"TZ", "UTC"}});
  return more;
}

/// A terminal in which top runs on this store.
std::unique_ptr<Tmux> top_of(const std::string& url, Tmux::Size size = {}, const Environment& more = {}) {
  auto terminal = std::make_unique<Tmux>(size, variables(url, more));
  terminal->type("echo before $(stty -g | cksum); \"$LEASEHOLD\" top; echo ended with $? after $(stty -g | cksum)\n");
  EXPECT_TRUE(terminal->becomes("top has the screen", [&] { return terminal->knows("alternate_on") == "1"; }));
  EXPECT_TRUE(terminal->shows("leasehold top"));
  return terminal;
}

/// On either store.
class TopTest : public StoreToolTest {};
LEASEHOLD_ON_BOTH_STORES(TopTest);

/// Cases that do not depend on the store.
class TopInTerminal : public ToolTest {
 protected:
  std::unique_ptr<Tmux> top(Tmux::Size size = {}, const Environment& more = {}) { return top_of(url(), size, more); }

  /// The terminal is as it was before: its screen, its cursor, its settings.
  static void expect_restored(Tmux& terminal, int exit_code) {
    const auto ended = "ended with " + std::to_string(exit_code) + " after ";
    ASSERT_TRUE(terminal.shows(ended));
    EXPECT_EQ(terminal.knows("alternate_on"), "0");
    EXPECT_EQ(terminal.knows("cursor_flag"), "1");
    std::string before;
    std::string after;
    for (const auto& line : terminal.lines()) {
      if (line.starts_with("before ")) before = line.substr(7);
      if (line.starts_with(ended)) after = line.substr(ended.size());
    }
    EXPECT_EQ(before, after);
    EXPECT_FALSE(before.empty());
  }
};

TEST_P(TopTest, FollowsWhatHappens) {
  const auto terminal = top_of(url());
  EXPECT_TRUE(terminal->shows("── 1 leases  none ──"));
  const auto token = acquired("deploy", {"--ttl", "10m", "--holder", "ana"});
  EXPECT_TRUE(terminal->shows("lock  deploy  running  in "));
  EXPECT_TRUE(terminal->shows("lock  deploy  acquired  ana"));
  ASSERT_EQ(tool({"job", "add", "mail", "{}"}).exit_code, 0);
  EXPECT_TRUE(terminal->shows("── 2 queues  1 available ──"));
  ASSERT_EQ(tool({"lock", "release", "deploy", "--token", token}).exit_code, 0);
  EXPECT_TRUE(terminal->shows("── 1 leases  none ──"));
}

TEST_P(TopTest, ShowsSessionsWithTheirItems) {
  ASSERT_EQ(tool({"session", "open", "--id", "s-1", "--label", "パーサー 🦀"}).exit_code, 0);
  ASSERT_EQ(tool({"claim", "take", "SD-1", "--session", "s-1", "--create"}).exit_code, 0);
  const auto terminal = top_of(url());
  EXPECT_TRUE(terminal->shows("── 4 sessions  1 active ──"));
  EXPECT_TRUE(terminal->shows("s-1      active  SD-1  "));
  EXPECT_TRUE(terminal->shows("パーサー 🦀"));
}

TEST_P(TopTest, ShowsSchedulesAndTheirHolders) {
  ASSERT_EQ(tool({"schedule", "set", "refresh", "--every", "10m-15m", "--next", "now"}).exit_code, 0);
  const auto terminal = top_of(url());
  EXPECT_TRUE(terminal->shows("── 5 schedules  1 due ──"));
  ASSERT_EQ(tool({"schedule", "acquire", "refresh", "--holder", "ana"}).exit_code, 0);
  EXPECT_TRUE(terminal->shows("── 5 schedules  1 running ──"));
  EXPECT_TRUE(terminal->shows("refresh   running  -     -     ana     every 10m-15m"));
}

TEST_F(TopInTerminal, KeysChooseAPanelPauseAndHelp) {
  const auto terminal = top();
  terminal->type("4");
  EXPECT_TRUE(terminal->shows("[4 sessions]"));
  terminal->press("Tab");
  EXPECT_TRUE(terminal->shows("[5 schedules]"));
  terminal->press("Left");
  EXPECT_TRUE(terminal->shows("[4 sessions]"));
  terminal->press("Escape");
  EXPECT_TRUE(terminal->shows("── 4 sessions"));
  terminal->type("?");
  EXPECT_TRUE(terminal->shows("quit; also ctrl-c"));
  terminal->type("?");
  EXPECT_TRUE(terminal->shows_no("quit; also ctrl-c"));
  terminal->type("p");
  EXPECT_TRUE(terminal->shows("paused at "));
  acquired("deploy");
  terminal->type("p");
  EXPECT_TRUE(terminal->shows_no("paused at "));
  EXPECT_TRUE(terminal->shows("lock  deploy"));
}

TEST_F(TopInTerminal, APanelScrolls) {
  const auto store = Store::open(url());
  ASSERT_TRUE(ok(store));
  for (int i = 10; i < 40; ++i) ASSERT_TRUE(ok(store->items().add("SD-" + std::to_string(i))));
  const auto terminal = top({.columns = 80, .lines = 15});
  terminal->type("6");
  EXPECT_TRUE(terminal->shows("rows 1-10 of 30"));
  terminal->press("PageDown");
  EXPECT_TRUE(terminal->shows("rows 11-20 of 30"));
  terminal->press("Down");
  EXPECT_TRUE(terminal->shows("rows 12-21 of 30"));
  terminal->press("End");
  EXPECT_TRUE(terminal->shows("rows 21-30 of 30"));
  EXPECT_TRUE(terminal->shows("SD-10"));
  terminal->press("Home");
  EXPECT_TRUE(terminal->shows("rows 1-10 of 30"));
}

TEST_F(TopInTerminal, FitsAWindowThatIsResized) {
  acquired("deploy", {"--ttl", "10m", "--holder", "ana"});
  const auto terminal = top();
  EXPECT_TRUE(terminal->shows("lock  deploy"));
  for (const auto size : {Tmux::Size{40, 10}, Tmux::Size{120, 40}, Tmux::Size{25, 4}, Tmux::Size{80, 24}}) {
    terminal->resize(size);
    const auto height = static_cast<std::size_t>(size.lines);
    // Its rules reach to the very edge, and its last line is the one with the keys, where there is room for that.
    const auto fits = [&] {
      const auto lines = terminal->lines();
      const bool keys = height < 6 || (lines.size() == height && lines.back().starts_with("q quit"));
      return keys && lines.size() > 1 && lines[0].starts_with("leasehold top") && lines[1].starts_with("── 1 leases") &&
             cli::width_of(lines[1]) == static_cast<std::size_t>(size.columns);
    };
    EXPECT_TRUE(terminal->becomes("it fits " + std::to_string(size.columns), fits));
  }
  EXPECT_TRUE(terminal->shows("── 6 events  newest first ─"));
}

TEST_F(TopInTerminal, LeavesTheTerminalAsItWas) {
  for (const auto& [key, code] : {std::pair{"q", 0}, std::pair{"C-c", 0}, std::pair{"C-\\", 128 + SIGQUIT}}) {
    const auto terminal = top();
    terminal->press(key);
    expect_restored(*terminal, code);
  }
}

TEST_F(TopInTerminal, LeavesTheTerminalAsItWasWhenItIsEndedFromOutside) {
  const auto terminal = top();
  const auto shell = terminal->knows("pane_pid");
  std::ifstream children("/proc/" + shell + "/task/" + shell + "/children");
  pid_t child = 0;
  ASSERT_TRUE(children >> child);
  ::kill(child, SIGTERM);
  expect_restored(*terminal, 0);
}

TEST_F(TopInTerminal, StopsAndComesBack) {
  const auto terminal = top();
  terminal->press("C-z");
  EXPECT_TRUE(terminal->shows("ready> "));
  EXPECT_EQ(terminal->knows("alternate_on"), "0");
  EXPECT_EQ(terminal->knows("cursor_flag"), "1");
  terminal->type("fg\n");
  EXPECT_TRUE(terminal->shows("── 1 leases"));
  terminal->type("q");
  EXPECT_TRUE(terminal->becomes("it has ended", [&] { return terminal->knows("alternate_on") == "0"; }));
}

TEST_F(TopInTerminal, HasColoursOnlyWhereTheyAreWanted) {
  acquired("deploy", {"--ttl", "10m"});
  const auto colourful = top();
  EXPECT_TRUE(colourful->shows("lock  deploy"));
  EXPECT_TRUE(contains(colourful->coloured_screen(), "\x1b[32mrunning"));
  const auto colourless = top({}, {{"NO_COLOR", "1"}});
  EXPECT_TRUE(colourless->shows("lock  deploy"));
  EXPECT_EQ(colourless->coloured_screen().find("\x1b["), std::string::npos);
}

TEST_P(TopTest, WithoutATerminalItPrintsOnceAndDoesNotRedraw) {
  acquired("deploy", {"--ttl", "10m", "--holder", "ana"});
  const auto reported = tool({"top"});
  EXPECT_EQ(reported.exit_code, 0) << reported.err;
  EXPECT_TRUE(contains(reported.out, "── 1 leases  1 held ──"));
  EXPECT_TRUE(contains(reported.out, "KIND  KEY     STATE    FREES"));
  EXPECT_EQ(reported.out.find('\x1b'), std::string::npos);
  const auto answered_again = json({"top"});
  EXPECT_EQ(answered_again.at("leases").at(0).at("key"), "deploy");
  EXPECT_EQ(answered_again.at("events").as_array().size(), 1U) << "looking is no event";
  for (const auto* list : {"queues", "chunk_sets", "sessions", "schedules"})
    EXPECT_TRUE(answered_again.at(list).as_array().empty());
  EXPECT_EQ(tool({"top", "--every", "5ms"}).exit_code, 2);
}

TEST(TopOfAStoreThatGoesAway, ReportsTheOutageAndContinuesAfterIt) {
  PostgresServer server;
  ASSERT_EQ(run({LEASEHOLD_TOOL, "--db", server.url(), "migrate", "up"}).exit_code, 0);
  ASSERT_EQ(run({LEASEHOLD_TOOL, "--db", server.url(), "lock", "acquire", "deploy", "--ttl", "10m"}).exit_code, 0);
  Tmux terminal({}, variables(server.url()));
  Tmux other({}, variables(server.url()));
  for (auto* screen : {&terminal, &other}) {
    screen->type("\"$LEASEHOLD\" top --every 200ms\n");
    ASSERT_TRUE(screen->shows("lock  deploy"));
  }
  server.kill9();
  for (auto* screen : {&terminal, &other}) {
    EXPECT_TRUE(screen->shows("store unreachable, trying again: "));
    EXPECT_TRUE(screen->shows("lock  deploy")) << "the last picture stays";
  }
  terminal.type("4");
  EXPECT_TRUE(terminal.shows("[4 sessions]")) << "keys work all the same";
  other.type("q");
  EXPECT_TRUE(other.becomes("it has ended", [&] { return other.knows("alternate_on") == "0"; }));
  server.restart();
  EXPECT_TRUE(terminal.shows_no("store unreachable"));
}

TEST(TopOfAStoreThatIsNotThere, EndsAtOnce) {
  const auto reported = run({LEASEHOLD_TOOL, "--db", "postgresql://127.0.0.1:1/none", "top", "--once"});
  EXPECT_EQ(reported.exit_code, 69) << reported.out << reported.err;
}

}  // namespace
}  // namespace leasehold::support
