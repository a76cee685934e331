// The next item, files and folders, handles and notes: what the commands print, where, and with which exit code.
#include <filesystem>

#include "cli/session_tool.h"
#include "support/temp_dir.h"

namespace leasehold::support {
namespace {

class ClaimNextCommands : public SessionToolTest {
 protected:
  std::string handle(const std::string& id) { return id + "." + opened(id); }
};
LEASEHOLD_ON_BOTH_STORES(ClaimNextCommands);

TEST_P(ClaimNextCommands, NextTakesByPriorityAndPrintsTheRest) {
  const auto ann = handle("ann-1");
  const auto ben = handle("ben-1");
  tool({"item", "add", "SD-1"});
  tool({"item", "add", "SD-2", "--priority", "5"});
  tool({"item", "add", "SD-3", "--depends-on", "SD-2"});
  const auto first = tool({"claim", "next", "--session", ann, "-q"});
  EXPECT_EQ(first.exit_code, 0) << first.err;
  EXPECT_TRUE(first.out.starts_with("SD-2 "));
  EXPECT_TRUE(contains(tool({"item", "ls", "--state", "blocked"}).out, "SD-3"));
  EXPECT_EQ(json({"claim", "next", "--session", ben}).at("key"), "SD-1");
  const auto held = json({"claim", "next", "--session", ben}, 75).at("error");
  EXPECT_EQ(held.at("code"), "held");
  EXPECT_EQ(held.at("held_by").at("session"), "ann-1");
  EXPECT_TRUE(held.at("retry_in_seconds").is_number());
  EXPECT_EQ(tool({"item", "done", "SD-2", "--session", ben}).exit_code, 75) << "it is ann's";
  EXPECT_EQ(tool({"item", "done", "SD-2", "--session", ann, "--note", "in 1f3c"}).exit_code, 0);
  EXPECT_EQ(json({"claim", "next", "--session", ben}).at("key"), "SD-3");
  EXPECT_EQ(tool({"claim", "release", "SD-3", "--session", ben}).exit_code, 0);
  EXPECT_EQ(tool({"item", "done", "SD-3"}).exit_code, 0);
  EXPECT_EQ(tool({"claim", "next", "--session", ben}).exit_code, 3) << "only the items that it has itself";
  EXPECT_EQ(tool({"claim", "next", "--session", "ben-1"}).exit_code, 2) << "no proof";
  EXPECT_EQ(tool({"claim", "next", "--session", "ben-1.1763200000000000"}).exit_code, 76) << "a wrong one";
}

TEST_P(ClaimNextCommands, NotesAreShownWithTheirAuthors) {
  tool({"item", "add", "SD-1", "--note", "see the grammar"});
  EXPECT_EQ(tool({"item", "note", "SD-1", "half done"}).exit_code, 0);
  const auto shown = tool({"item", "show", "SD-1"});
  EXPECT_TRUE(contains(shown.out, ": see the grammar\n"));
  EXPECT_TRUE(contains(shown.out, ": half done\n"));
  const auto item = json({"item", "show", "SD-1"});
  EXPECT_EQ(item.at("notes").as_array().size(), 2U);
  EXPECT_EQ(item.at("note_count"), 2);
  EXPECT_EQ(tool({"item", "note", "SD-9", "what"}).exit_code, 4);
}

TEST_P(ClaimNextCommands, PathsAreTakenTogetherAndReleased) {
  const TempDir folder;
  const auto in_folder = [&](const std::string& name) { return folder.file(name); };
  const auto ann = handle("ann-1");
  const auto ben = handle("ben-1");
  const auto taken = json({"path", "take", in_folder("src"), in_folder("doc/a.md"), "--session", ann});
  EXPECT_EQ(taken.at("added"), 2);
  EXPECT_EQ(taken.at("paths").as_array().size(), 2U);
  const auto refused = tool({"path", "take", in_folder("src/x.cc"), "--session", ben});
  EXPECT_EQ(refused.exit_code, 75);
  EXPECT_TRUE(contains(refused.err, "src\" on ")) << refused.err;
  EXPECT_TRUE(contains(refused.err, "is in the way, claimed by session \"ann-1\""));
  EXPECT_TRUE(contains(tool({"path", "ls"}).out, "doc/a.md"));
  EXPECT_EQ(json({"path", "ls", "--session", ann}).at("items").as_array().size(), 2U);
  EXPECT_EQ(tool({"path", "release", "--session", ann}).exit_code, 2) << "which?";
  EXPECT_EQ(tool({"path", "release", in_folder("src"), "--session", ann}).out, "released 1 path\n");
  EXPECT_EQ(tool({"path", "take", in_folder("src/x.cc"), "--session", ben}).exit_code, 0);
  EXPECT_EQ(tool({"path", "release", "--all", "--session", ann}).out, "released 1 path\n");
}

TEST_P(ClaimNextCommands, MineFindsTheSessionOfTheCallingProcess) {
  const auto own = std::to_string(getpid());
  EXPECT_EQ(tool({"session", "mine"}).exit_code, 3);
  const auto token = opened("ann-1", {"--pid", own});
  opened("other");
  EXPECT_EQ(tool({"session", "mine"}).out, "ann-1." + token + "\n") << "the parent of the command";
  EXPECT_EQ(tool({"session", "mine", "--watch-pid", own}).out, "ann-1." + token + "\n");
  const auto shown = json({"session", "mine"}).at("items").at(0);
  EXPECT_EQ(text_of(shown, "handle"), "ann-1." + token);
  EXPECT_EQ(shown.at("id"), "ann-1");
  EXPECT_EQ(tool({"session", "heartbeat", "ann-1." + token}).exit_code, 0) << "a handle is a session with its proof";
  auto stranger = start_mortal();
  EXPECT_EQ(tool({"session", "mine", "--watch-pid", std::to_string(stranger.pid())}).exit_code, 2);
  end(stranger);
}

}  // namespace
}  // namespace leasehold::support
