// Completions and manual pages, written from the command tree.
#include <filesystem>
#include <fstream>

#include "cli/tool.h"

namespace leasehold::support {
namespace {

using Pages = ToolTest;

/// The completions of bash after the given words, one per line.
std::string offered_by_bash(const std::string& script, const std::string& words, const Environment& env = {}) {
  const std::string ask = "source \"$0\"; COMP_WORDS=(" + words +
                          "); COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); _leasehold; "
                          "printf '%s\\n' \"${COMPREPLY[@]}\"";
  return run({"bash", "-c", ask, script}, env).out;
}

TEST_F(Pages, BashCompletesCommandsOptionsAndKnownValues) {
  const auto script = folder().file("completion.bash");
  std::ofstream(script) << tool({"completion", "bash"}).out;
  EXPECT_EQ(run({"bash", "-n", script}).exit_code, 0);
  EXPECT_EQ(offered_by_bash(script, "leasehold lo"), "lock\n");
  EXPECT_EQ(offered_by_bash(script, "leasehold lock acq"), "acquire\n");
  EXPECT_EQ(offered_by_bash(script, "leasehold lock acquire deploy --tt"), "--ttl\n");
  EXPECT_EQ(offered_by_bash(script, "leasehold grant app --scope ''"), "read\nproduce\nwork\nadmin\n");
  EXPECT_EQ(offered_by_bash(script, "leasehold completion z"), "zsh\n");
}

TEST_F(Pages, BashCompletesNamesThatAreInTheStore) {
  const auto script = folder().file("completion.bash");
  std::ofstream(script) << tool({"completion", "bash"}).out;
  const auto tool_word = std::string(LEASEHOLD_TOOL);
  const auto offered = [&](const std::string& words) {
    return offered_by_bash(script, tool_word + " " + words, {{"LEASEHOLD_DB", url()}});
  };
  EXPECT_EQ(offered("lock release dep"), "\n") << "no store, no names, no complaint";
  EXPECT_FALSE(std::filesystem::exists(file())) << "and none is made";
  acquired("deploy-web");
  acquired("deploy $(touch " + folder().file("evil") + ")");
  ASSERT_EQ(tool({"job", "add", "mail", "x"}).exit_code, 0);
  ASSERT_EQ(tool({"schedule", "set", "refresh", "--every", "1h"}).exit_code, 0);
  ASSERT_EQ(tool({"session", "open", "--id", "ann-1"}).exit_code, 0);
  ASSERT_EQ(tool({"item", "add", "SD-1"}).exit_code, 0);
  ASSERT_EQ(tool({"chunk", "plan", "orders", "--range", "1..10", "--size", "10"}).exit_code, 0);
  ASSERT_EQ(tool({"rate", "set", "api", "--every", "1s"}).exit_code, 0);
  EXPECT_EQ(offered("lock release deploy-"), "deploy-web\n");
  EXPECT_TRUE(contains(offered("lock release deploy"), "deploy\\ \\$\\(touch")) << "quoted for the shell";
  EXPECT_FALSE(std::filesystem::exists(folder().file("evil")));
  EXPECT_EQ(offered("elect deploy-"), "deploy-web\n");
  EXPECT_EQ(offered("job claim m"), "mail\n");
  EXPECT_EQ(offered("job ls --queue ''"), "mail\n");
  EXPECT_EQ(offered("work ma"), "mail\n");
  EXPECT_EQ(offered("schedule show r"), "refresh\n");
  EXPECT_EQ(offered("session show a"), "ann-1\n");
  EXPECT_EQ(offered("claim take S"), "SD-1\n");
  EXPECT_EQ(offered("claim ls --session a"), "ann-1\n");
  EXPECT_EQ(offered("chunk progress o"), "orders\n");
  EXPECT_EQ(offered("rate show a"), "api\n");
  EXPECT_FALSE(contains(tool({"--help"}).out, "completion-names")) << "not for people";
}

TEST_F(Pages, ZshAndFishScriptsKnowEveryCommand) {
  for (const auto* shell : {"zsh", "fish"}) {
    const auto script = tool({"completion", shell}).out;
    for (const auto* word : {"leasehold lock acquire", "leasehold migrate verify", "conflict-exit-code"}) {
      EXPECT_TRUE(contains(script, word)) << shell;
    }
  }
  EXPECT_TRUE(tool({"completion", "zsh"}).out.starts_with("#compdef leasehold\n"));
  EXPECT_EQ(tool({"completion", "tcsh"}).exit_code, 2);
}

TEST_F(Pages, EveryCommandHasAManualPageWithAllSections) {
  const auto pages = folder().path() / "man1";
  ASSERT_EQ(tool({"man", "--into", pages.string()}).exit_code, 0);
  int count = 0;
  for (const auto& entry : std::filesystem::directory_iterator(pages)) {
    std::ifstream file(entry.path());
    const std::string page((std::istreambuf_iterator<char>(file)), {});
    EXPECT_TRUE(page.starts_with(".TH leasehold")) << entry.path();
    for (const auto* section :
         {"NAME", "SYNOPSIS", "DESCRIPTION", "OPTIONS", "EXAMPLES", "EXIT STATUS", "ENVIRONMENT"}) {
      EXPECT_TRUE(contains(page, std::string("\n.SH ") + section + "\n")) << entry.path();
    }
    ++count;
  }
  EXPECT_GE(count, 52);
  EXPECT_TRUE(std::filesystem::exists(pages / "leasehold-lock-run.1"));
}

TEST_F(Pages, ManPrintsOnePage) {
  EXPECT_TRUE(tool({"man", "lock", "run"}).out.starts_with(".TH leasehold\\-lock\\-run 1"));
  EXPECT_TRUE(tool({"man"}).out.starts_with(".TH leasehold 1"));
  EXPECT_EQ(tool({"man", "lock", "fly"}).exit_code, 4);
}

}  // namespace
}  // namespace leasehold::support
