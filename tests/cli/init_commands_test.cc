// leasehold init: the file that names a store, and the files of coding agents.
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "cli/tool.h"

namespace leasehold::support {
namespace {

namespace fs = std::filesystem;

class InitCommands : public ToolTest {
 protected:
  InitCommands() { fs::create_directories(root() + "/.git"); }

  [[nodiscard]] std::string root() const { return folder().file("repository"); }

  /// leasehold ARGUMENTS... in a folder, without LEASEHOLD_DB.
  Finished tool_in(const std::string& place, const Arguments& arguments) const {
    Arguments line = {"/bin/sh", "-c",  R"(cd "$1" && shift && exec env -u LEASEHOLD_DB "$@")",
                      "sh",      place, LEASEHOLD_TOOL};
    line.insert(line.end(), arguments.begin(), arguments.end());
    return run(line, {{"XDG_STATE_HOME", folder().file("state")}}, "");
  }
  Finished init(Arguments arguments = {}) const {
    arguments.insert(arguments.begin(), "init");
    return tool_in(root(), arguments);
  }

  [[nodiscard]] std::string text_of(const std::string& path) const {
    std::ifstream file(root() + "/" + path);
    std::ostringstream text;
    text << file.rdbuf();
    return text.str();
  }
  void write(const std::string& path, const std::string& text) const {
    fs::create_directories(fs::path(root() + "/" + path).parent_path());
    std::ofstream(root() + "/" + path) << text;
  }
  [[nodiscard]] boost::json::value json_of(const std::string& path) const { return boost::json::parse(text_of(path)); }
};

TEST_F(InitCommands, TheStoreLiesInTheGitFolderAndIsFoundFromBelow) {
  EXPECT_EQ(init().exit_code, 0);
  EXPECT_TRUE(fs::exists(root() + "/.git/leasehold.db"));
  fs::create_directories(root() + "/src/deep");
  EXPECT_TRUE(contains(tool_in(root() + "/src/deep", {"status"}).out, root() + "/.git/leasehold.db"));
  const auto again = init();
  EXPECT_TRUE(contains(again.out, "nothing to change"));
}

TEST_F(InitCommands, OptionsThatItCannotUseAreRefused) {
  for (const Arguments& line : {Arguments{"init", "--db", "sqlite:x.db"}, {"--db", "sqlite:x.db", "init"}}) {
    const auto refused = tool_in(root(), line);
    EXPECT_EQ(refused.exit_code, 2);
    EXPECT_TRUE(contains(refused.err, "--db: init writes the store into .leasehold.toml: name it with --store URL"));
  }
  EXPECT_FALSE(fs::exists(root() + "/.leasehold.toml"));
  EXPECT_TRUE(contains(init({"--remove", "--store", "sqlite:x.db"}).err, "--store excludes --remove"));
  EXPECT_FALSE(contains(init({"--help"}).out, "--db"));
  EXPECT_TRUE(contains(tool_in(root(), {"demo", "--db", "sqlite:x.db"}).err, "the demo has a store of its own"));
  EXPECT_TRUE(contains(tool_in(root(), {"sql", "--db", "sqlite:x.db"}).err, "sql opens no store"));
}

TEST_F(InitCommands, AllWorktreesShareTheStore) {
  ASSERT_EQ(init().exit_code, 0);
  const auto other = folder().file("other");
  fs::create_directories(root() + "/.git/worktrees/other");
  std::ofstream(root() + "/.git/worktrees/other/commondir") << "../..\n";
  fs::create_directories(other);
  std::ofstream(other + "/.git") << "gitdir: " << root() << "/.git/worktrees/other\n";
  fs::copy_file(root() + "/.leasehold.toml", other + "/.leasehold.toml");
  EXPECT_TRUE(contains(tool_in(other, {"status"}).out, root() + "/.git/leasehold.db"));
}

TEST_F(InitCommands, OutsideOfARepositoryTheStoreLiesBesideTheFile) {
  const auto place = folder().file("plain");
  fs::create_directories(place);
  EXPECT_EQ(tool_in(place, {"init"}).exit_code, 0);
  EXPECT_TRUE(fs::exists(place + "/.leasehold.db"));
}

TEST_F(InitCommands, TheCommandLineAndTheEnvironmentComeFirst) {
  ASSERT_EQ(init().exit_code, 0);
  const auto chosen = tool_in(root(), {"migrate", "up", "--db", url()});
  EXPECT_EQ(chosen.exit_code, 0) << chosen.err;
  EXPECT_TRUE(contains(tool_in(root(), {"status", "--db", url()}).out, url()));
}

TEST_F(InitCommands, AMistakeInTheFileNamesFileAndLine) {
  write(".leasehold.toml", "# a comment\nstor = \"sqlite:x.db\"\n");
  const auto misspelt = tool_in(root(), {"status"});
  EXPECT_EQ(misspelt.exit_code, 2);
  EXPECT_TRUE(contains(misspelt.err, ".leasehold.toml:2: unknown key \"stor\""));
  write(".leasehold.toml", "store = \"sqlite:x.db\"\nguard = \"maybe\"\n");
  EXPECT_TRUE(
      contains(tool_in(root(), {"status"}).err, ".leasehold.toml:2: guard is \"maybe\": write deny, warn or claim"));
  write(".leasehold.toml", "guard = \"deny\"\n");
  EXPECT_TRUE(contains(tool_in(root(), {"status"}).err, "`store` is missing"));
  write(".leasehold.toml", "store = \"mysql://x\"\n");
  EXPECT_EQ(tool_in(root(), {"status"}).exit_code, 2);
}

TEST_F(InitCommands, AgentsGetTheirFilesOnceAndWithADifferenceShownFirst) {
  const auto written = init({"--agents", "claude,codex,gemini,cursor"});
  EXPECT_EQ(written.exit_code, 0) << written.err;
  EXPECT_TRUE(contains(written.err, "+++ .mcp.json"));
  for (const auto* path : {".mcp.json", ".gemini/settings.json", ".cursor/mcp.json"}) {
    EXPECT_EQ(json_of(path).at("mcpServers").at("leasehold").at("command"), "leasehold") << path;
  }
  EXPECT_TRUE(contains(text_of(".codex/config.toml"), "[mcp_servers.leasehold]"));
  EXPECT_EQ(json_of(".claude/settings.json").at("hooks").at("PreToolUse").as_array().size(), 1U);
  EXPECT_TRUE(contains(text_of("AGENTS.md"), "claim_next"));
  const auto again = init({"--agents", "claude,codex,gemini,cursor"});
  EXPECT_TRUE(contains(again.out, "nothing to change")) << again.err;
}

TEST_F(InitCommands, WhatIsThereStays) {
  const std::string settings =
      R"({"model":"x","hooks":{"PreToolUse":[{"matcher":"Bash","hooks":[{"type":"command","command":"mine"}]}]}})";
  write(".claude/settings.json", settings);
  write("AGENTS.md", "# Our rules\n");
  write(".codex/config.toml", "model = \"y\"\n");
  ASSERT_EQ(init({"--agents", "claude,codex"}).exit_code, 0);
  const auto merged = json_of(".claude/settings.json");
  EXPECT_EQ(merged.at("model"), "x");
  EXPECT_EQ(merged.at("hooks").at("PreToolUse").as_array().size(), 2U);
  EXPECT_TRUE(text_of("AGENTS.md").starts_with("# Our rules\n"));

  const auto removed = init({"--agents", "claude,codex", "--remove"});
  EXPECT_EQ(removed.exit_code, 0) << removed.err;
  EXPECT_EQ(json_of(".claude/settings.json"), boost::json::parse(settings));
  EXPECT_EQ(text_of("AGENTS.md"), "# Our rules\n");
  EXPECT_EQ(text_of(".codex/config.toml"), "model = \"y\"\n");
  EXPECT_FALSE(fs::exists(root() + "/.mcp.json"));
  EXPECT_TRUE(fs::exists(root() + "/.leasehold.toml"));
}

TEST_F(InitCommands, ADryRunAndAFileThatIsNoJsonChangeNothing) {
  EXPECT_EQ(init({"--agents", "claude", "--dry-run"}).exit_code, 0);
  EXPECT_FALSE(fs::exists(root() + "/.mcp.json"));
  EXPECT_FALSE(fs::exists(root() + "/.leasehold.toml"));
  write(".mcp.json", "{ // ours\n}\n");
  const auto refused = init({"--agents", "claude"});
  EXPECT_EQ(refused.exit_code, 2);
  EXPECT_TRUE(contains(refused.err, ".mcp.json is not JSON"));
  EXPECT_EQ(text_of(".mcp.json"), "{ // ours\n}\n");
  EXPECT_FALSE(fs::exists(root() + "/AGENTS.md"));
  EXPECT_EQ(init({"--agents", "emacs"}).exit_code, 2);
}

}  // namespace
}  // namespace leasehold::support
