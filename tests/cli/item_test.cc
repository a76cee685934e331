// The item commands: what they print, where, and with which exit code.
#include "cli/session_tool.h"

namespace leasehold::support {
namespace {

using ItemCommands = SessionToolTest;
LEASEHOLD_ON_BOTH_STORES(ItemCommands);

TEST_P(ItemCommands, AddPutsInAndChanges) {
  EXPECT_EQ(tool({"item", "add", "SD-1", "--title", "Parse nested comments"}).out, "added SD-1\n");
  EXPECT_EQ(tool({"item", "add", "SD-2"}).out, "added SD-2\n");
  EXPECT_EQ(tool({"item", "add", "SD-1.1", "--parent", "SD-1", "--conflicts", "SD-2", "--meta", R"({"n": 1.0})"}).out,
            "added SD-1.1\n");
  EXPECT_EQ(json({"item", "add", "SD-1", "--title", "Parse comments"}).at("created"), false);
  const auto item = json({"item", "show", "SD-1.1"});
  EXPECT_EQ(item.at("parent"), "SD-1");
  EXPECT_EQ(item.at("conflicts").at(0), "SD-2");
  EXPECT_EQ(item.at("state"), "open");
  EXPECT_EQ(json({"item", "show", "SD-2"}).at("conflicts").at(0), "SD-1.1") << "mutual";
  EXPECT_TRUE(contains(tool({"item", "show", "SD-1.1"}).out, "conflicts   SD-2\n"));
  EXPECT_EQ(json({"item", "show", "SD-1"}).at("title"), "Parse comments");
  tool({"item", "add", "SD-2", "--conflicts", ""});
  EXPECT_TRUE(json({"item", "show", "SD-1.1"}).at("conflicts").as_array().empty());
}

TEST_P(ItemCommands, BadRelationsAreRefused) {
  tool({"item", "add", "SD-1"});
  EXPECT_EQ(tool({"item", "add", "SD-2", "--parent", "SD-9"}).exit_code, 4);
  EXPECT_EQ(tool({"item", "add", "SD-2", "--conflicts", "SD-9"}).exit_code, 4);
  EXPECT_EQ(tool({"item", "add", "SD-1", "--parent", "SD-1"}).exit_code, 2);
  EXPECT_EQ(tool({"item", "add", "SD-1", "--meta", "{"}).exit_code, 2);
  EXPECT_EQ(tool({"item", "add", ""}).exit_code, 2);
  EXPECT_EQ(tool({"item", "show", "SD-2"}).exit_code, 4);
}

TEST_P(ItemCommands, ListShowsTheSessionOfEachItem) {
  EXPECT_EQ(tool({"item", "ls"}).err, "no items\n");
  tool({"item", "add", "SD-1", "--title", "Parse comments"});
  tool({"item", "add", "SD-2", "--parent", "SD-1"});
  opened("ann-1");
  taken("SD-2", "ann-1");
  const auto table = tool({"item", "ls"}).out;
  EXPECT_TRUE(contains(table, "ITEM  STATE    TITLE           PARENT  SESSION  SINCE\n"));
  EXPECT_TRUE(contains(table, "SD-1  open     Parse comments  -       -        -\n"));
  EXPECT_TRUE(contains(table, "SD-2  claimed                  SD-1    ann-1    "));
  EXPECT_EQ(json({"item", "ls", "--state", "claimed"}).at("items").as_array().size(), 1U);
  EXPECT_EQ(json({"item", "ls", "--parent", "SD-1"}).at("items").at(0).at("session"), "ann-1");
  EXPECT_EQ(json({"item", "ls", "--page", "SD-1"}).at("items").as_array().size(), 1U);
  EXPECT_EQ(tool({"item", "ls", "--state", "lost"}).exit_code, 2);
}

TEST_P(ItemCommands, OnlyTheOwnerMayFinishAClaimedItem) {
  opened("ann-1");
  const auto token = taken("SD-1", "ann-1");
  const auto refused = tool({"item", "done", "SD-1"});
  EXPECT_EQ(refused.exit_code, 75);
  EXPECT_TRUE(contains(refused.err, "  session    ann-1\n"));
  EXPECT_FALSE(contains(refused.err, "--token"));
  EXPECT_TRUE(contains(tool({"item", "done", "SD-1"}, {{"LEASEHOLD_SESSION", "ann-1"}}).err, "add --token"));
  EXPECT_EQ(tool({"item", "done", "SD-1", "--token", "5"}).exit_code, 76);
  EXPECT_EQ(tool({"item", "done", "SD-1", "--token", token}).out, "done SD-1\n");
  EXPECT_EQ(tool({"item", "done", "SD-1", "--token", token}).exit_code, 0) << "said twice";
  EXPECT_EQ(json({"item", "show", "SD-1"}).at("done_by"), "ann-1");
  EXPECT_EQ(json({"claim", "show", "SD-1"}).at("end_reason"), "completed");
  EXPECT_EQ(json({"claim", "take", "SD-1", "--session", "ann-1"}, 3).at("error").at("code"), "terminal");
  EXPECT_EQ(tool({"item", "reopen", "SD-1"}).out, "reopened SD-1\n");
  EXPECT_EQ(state_of("SD-1"), "open");
  EXPECT_EQ(tool({"item", "done", "SD-1"}).exit_code, 0) << "no session has it";
  EXPECT_EQ(tool({"item", "done", "SD-9"}).exit_code, 4);
  EXPECT_EQ(tool({"item", "reopen", "SD-9"}).exit_code, 4);
}

TEST_P(ItemCommands, RemoveNeedsConsentAndAnUnusedItem) {
  tool({"item", "add", "SD-1"});
  tool({"item", "add", "SD-2", "--parent", "SD-1"});
  opened("ann-1");
  taken("SD-2", "ann-1");
  EXPECT_EQ(tool({"item", "rm", "SD-2"}).exit_code, 2);
  EXPECT_EQ(tool({"item", "rm", "SD-2", "--dry-run"}).exit_code, 75);
  EXPECT_EQ(tool({"item", "rm", "SD-2", "--yes"}).exit_code, 75);
  EXPECT_EQ(json({"item", "rm", "SD-1", "--yes"}, 75).at("error").at("code"), "busy");
  const auto parent = tool({"item", "rm", "SD-1", "--dry-run"});
  EXPECT_EQ(parent.exit_code, 75);
  EXPECT_EQ(parent.err, "cannot remove it now: it has children, such as SD-2\n");
  tool({"claim", "revoke", "SD-2", "--reason", "not needed", "--yes"});
  EXPECT_EQ(tool({"item", "rm", "SD-2", "--dry-run"}).out, "would remove SD-2, which is open\n");
  EXPECT_EQ(tool({"item", "rm", "SD-2", "--yes"}).out, "removed SD-2\n");
  const auto gone = tool({"item", "rm", "SD-2", "--yes"});
  EXPECT_EQ(gone.exit_code, 4);
  EXPECT_TRUE(contains(gone.err, "item \"SD-2\" does not exist\n")) << "and need not be added first";
  EXPECT_EQ(json({"item", "rm", "SD-1", "--yes"}).at("removed"), true);
}

}  // namespace
}  // namespace leasehold::support
