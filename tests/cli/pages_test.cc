// Completions and manual pages, written from the command tree.
#include <filesystem>
#include <fstream>

#include "cli/tool.h"

namespace leasehold::support {
namespace {

using Pages = ToolTest;

/// What bash offers after the given words, one per line.
std::string offered_by_bash(const std::string& script, const std::string& words) {
  const std::string ask = "source \"$0\"; COMP_WORDS=(" + words +
                          "); COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); _leasehold; "
                          "printf '%s\\n' \"${COMPREPLY[@]}\"";
  return run({"bash", "-c", ask, script}).out;
}

TEST_F(Pages, BashCompletesCommandsOptionsAndKnownValues) {
  const auto script = folder().file("completion.bash");
  std::ofstream(script) << tool({"completion", "bash"}).out;
  EXPECT_EQ(run({"bash", "-n", script}).exit_code, 0);
  EXPECT_EQ(offered_by_bash(script, "leasehold lo"), "lock\n");
  EXPECT_EQ(offered_by_bash(script, "leasehold lock acq"), "acquire\n");
  EXPECT_EQ(offered_by_bash(script, "leasehold lock acquire deploy --tt"), "--ttl\n");
  EXPECT_EQ(offered_by_bash(script, "leasehold grant app --scope ''"), "read\nwork\nadmin\n");
  EXPECT_EQ(offered_by_bash(script, "leasehold completion z"), "zsh\n");
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
