// --yes and --dry-run of destructive commands: one of the two, in every command.
#include "cli/tool.h"

namespace leasehold::support {
namespace {

class ConsentTest : public ToolTest {};

const std::vector<Arguments> destructive_commands = {
    {"lock", "revoke", "deploy", "--reason", "test"},
    {"job", "rm", "17"},
    {"job", "redrive", "--all"},
    {"job", "cancel", "--all"},
    {"job", "retry", "--all", "--queue", "mail"},
    {"job", "rm", "--all", "--state", "failed"},
    {"queue", "purge", "mail"},
    {"chunk", "rm", "orders"},
    {"chunk", "reset", "orders", "--all"},
    {"session", "close", "ann-1"},
    {"item", "rm", "SD-1"},
    {"claim", "revoke", "SD-1", "--reason", "test"},
    {"schedule", "rm", "refresh"},
    {"migrate", "down", "--to", "0"},
    {"prune", "--older-than", "7d"},
};

TEST_F(ConsentTest, ExactlyOneOfTheTwoIsRequired) {
  acquired("deploy");
  for (const auto& command : destructive_commands) {
    const auto neither = tool(command);
    EXPECT_EQ(neither.exit_code, 2) << command[0] << " " << command[1];
    EXPECT_TRUE(contains(neither.err, "add --yes to do it, --dry-run to see what it would do"));
    auto both = command;
    both.insert(both.end(), {"--yes", "--dry-run"});
    EXPECT_EQ(tool(both).exit_code, 2) << command[0] << " " << command[1];
  }
  EXPECT_EQ(tool({"lock", "show", "deploy"}).exit_code, 0) << "nothing was done";
}

}  // namespace
}  // namespace leasehold::support
