// Help, completions and manual pages of the schedule commands.
#include <filesystem>

#include "cli/tool.h"

namespace leasehold::support {
namespace {

using SchedulePages = ToolTest;

constexpr const char* commands[] = {"set",  "run",     "daemon",  "acquire", "heartbeat", "complete",
                                    "fail", "release", "trigger", "pause",   "resume",    "ls",
                                    "show", "next",    "history", "rename",  "rm"};

TEST_F(SchedulePages, EveryCommandHasHelpAManualPageAndCompletions) {
  const auto pages = folder().path() / "man1";
  ASSERT_EQ(tool({"man", "--into", pages.string()}).exit_code, 0);
  for (const auto* shell : {"bash", "zsh", "fish"}) {
    const auto script = tool({"completion", shell}).out;
    for (const auto* command : commands) {
      EXPECT_TRUE(contains(script, std::string("leasehold schedule ") + command)) << shell;
    }
  }
  for (const auto* command : commands) {
    EXPECT_TRUE(std::filesystem::exists(pages / ("leasehold-schedule-" + std::string(command) + ".1"))) << command;
    const auto help = tool({"schedule", command, "--help"});
    EXPECT_EQ(help.exit_code, 0);
    EXPECT_TRUE(contains(help.out, "EXAMPLES\n  leasehold schedule " + std::string(command))) << command;
  }
  EXPECT_TRUE(contains(tool({"completion", "bash"}).out, "'leasehold schedule set --misfire') words='skip once all'"));
}

TEST_F(SchedulePages, MistypedWordsGetAGuess) {
  EXPECT_TRUE(contains(tool({"schedul", "ls"}).err, "did you mean schedule?"));
  EXPECT_TRUE(contains(tool({"schedule", "triger", "x"}).err, "did you mean trigger?"));
}

}  // namespace
}  // namespace leasehold::support
