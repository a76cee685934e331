// leasehold hook: what an agent sends, what it gets back, and what the store knows then. The agent is this test: it is
// the process above the hook.
#include <filesystem>
#include <fstream>

#include "cli/tool.h"

namespace leasehold::support {
namespace {

namespace fs = std::filesystem;

class HookCommands : public ToolTest {
 protected:
  HookCommands() {
    fs::create_directories(root() + "/.git");
    guard("deny");
    make_store();
  }
  ~HookCommands() override {
    // Without its session, the heartbeater ends.
    for (const auto* session : {"s1", "s2"}) hook("SessionEnd", {{"session_id", session}});
  }

  [[nodiscard]] std::string root() const { return folder().file("repository"); }
  void guard(const std::string& word) const {
    std::ofstream(root() + "/.leasehold.toml") << "store = \"" << url() << "\"\nguard = \"" << word << "\"\n";
  }

  Finished send(boost::json::object event, const Environment& env = {}) {
    if (!event.contains("session_id")) event["session_id"] = "s1";
    if (!event.contains("cwd")) event["cwd"] = root();
    auto all = env;
    all.emplace("XDG_RUNTIME_DIR", folder().file("."));
    return run({LEASEHOLD_TOOL, "hook"}, all, boost::json::serialize(event));
  }
  /// The answer to an event, which lets the agent go on.
  boost::json::value hook(const std::string& name, boost::json::object more = {}) {
    more["hook_event_name"] = name;
    const auto finished = send(more);
    EXPECT_EQ(finished.exit_code, 0) << finished.err;
    return boost::json::parse(finished.out);
  }
  boost::json::value edit(const std::string& path, const std::string& session = "s1") {
    return hook("PreToolUse", {{"session_id", session}, {"tool_name", "Edit"}, {"tool_input", {{"file_path", path}}}});
  }
  /// The handle in the answer to SessionStart.
  std::string started(boost::json::object more = {}, const std::string& name = "SessionStart") {
    const auto answer = hook(name, std::move(more));
    const std::string text(answer.at("hookSpecificOutput").at("additionalContext").as_string());
    const std::string mark = "your session is ";
    const auto from = text.find(mark) + mark.size();
    return text.substr(from, text.find(". Pass", from) - from);
  }
  std::string taken_by_bob(const std::string& path) {
    const auto opened = tool({"session", "open", "--id", "bob", "--label", "parser", "-q"});
    auto handle = opened.out.substr(0, opened.out.find('\n'));
    handle[handle.find(' ')] = '.';
    const auto taken = tool({"path", "take", path, "--session", handle});
    EXPECT_EQ(taken.exit_code, 0) << taken.err;
    return handle;
  }
};

const boost::json::value nothing = boost::json::object();

TEST_F(HookCommands, AStartOpensASessionOnceAndPrintsItsHandle) {
  const auto handle = started();
  EXPECT_TRUE(handle.starts_with("agent-s1.")) << handle;
  EXPECT_EQ(started({{"source", "compact"}}), handle) << "after a compaction the model gets the same handle";
  EXPECT_EQ(json({"session", "ls"}).at("items").as_array().size(), 1U);
  ASSERT_EQ(tool({"item", "add", "A-1"}).exit_code, 0);
  EXPECT_EQ(tool({"claim", "take", "A-1", "--session", handle}).exit_code, 0);
  EXPECT_EQ(hook("SessionEnd", {{"reason", "exit"}}), nothing);
  EXPECT_EQ(json({"item", "show", "A-1"}).at("state"), "open");
}

TEST_F(HookCommands, ASubagentHasASessionOfItsOwn) {
  const auto handle = started();
  const auto other = started({{"agent_id", "a7"}}, "SubagentStart");
  EXPECT_TRUE(other.starts_with("agent-s1/a7.")) << other;
  hook("SubagentStop", {{"agent_id", "a7"}});
  const auto sessions = json({"session", "ls"}).at("items").as_array();
  ASSERT_EQ(sessions.size(), 1U);
  EXPECT_EQ(sessions.at(0).at("id"), "agent-s1");
}

TEST_F(HookCommands, AnEditOfWhatAnotherSessionHoldsIsRefusedWithItsOwner) {
  started();
  const auto path = root() + "/src/parser.cc";
  const auto bob = taken_by_bob(root() + "/src");
  const auto answer = edit(path).at("hookSpecificOutput");
  EXPECT_EQ(answer.at("permissionDecision"), "deny");
  const std::string why(answer.at("permissionDecisionReason").as_string());
  EXPECT_TRUE(contains(why, "is held by session bob (parser) on "));
  EXPECT_TRUE(contains(why, "frees at "));
  EXPECT_FALSE(contains(why, bob.substr(bob.find('.') + 1))) << "no other session gets the owner's token";
  EXPECT_EQ(edit(root() + "/README.md"), nothing);
  EXPECT_EQ(edit("docs/x.md"), nothing) << "relative to the folder of the agent";
  ASSERT_EQ(tool({"path", "release", "--session", bob, "--all"}).exit_code, 0);
  EXPECT_EQ(edit(path), nothing);
}

TEST_F(HookCommands, OtherAgentsAreUnderstoodInTheirOwnWords) {
  taken_by_bob(root() + "/src");
  const auto gemini =
      hook("BeforeTool", {{"tool_name", "replace"}, {"tool_input", {{"file_path", root() + "/src/a"}}}});
  EXPECT_EQ(gemini.at("decision"), "deny");
  const auto cursor = hook("preToolUse", {{"tool_name", "Write"}, {"tool_input", {{"file_path", root() + "/src/a"}}}});
  EXPECT_EQ(cursor.at("permission"), "deny");
  const auto patch = "*** Begin Patch\n*** Update File: README.md\n*** Add File: src/a.cc\n*** End Patch\n";
  const auto codex = hook("PreToolUse", {{"tool_name", "apply_patch"}, {"tool_input", {{"command", patch}}}});
  EXPECT_EQ(codex.at("hookSpecificOutput").at("permissionDecision"), "deny");
}

TEST_F(HookCommands, TheGuardWarnsOrTakesTheFile) {
  taken_by_bob(root() + "/src");
  guard("warn");
  EXPECT_TRUE(contains(std::string(edit(root() + "/src/a").at("systemMessage").as_string()), "session bob"));
  guard("claim");
  EXPECT_EQ(edit(root() + "/lib/b", "s1"), nothing);
  EXPECT_EQ(edit(root() + "/lib/b", "s1"), nothing) << "it has the file already";
  EXPECT_EQ(json({"path", "ls"}).at("items").as_array().size(), 2U);
  EXPECT_EQ(edit(root() + "/lib/b", "s2").at("hookSpecificOutput").at("permissionDecision"), "deny");
}

TEST_F(HookCommands, ATaskWhoseClaimIsLostCannotBeCompleted) {
  const auto handle = started();
  ASSERT_EQ(tool({"item", "add", "A-1"}).exit_code, 0);
  ASSERT_EQ(tool({"claim", "take", "A-1", "--session", handle}).exit_code, 0);
  EXPECT_EQ(hook("TaskCompleted"), nothing);
  ASSERT_EQ(tool({"claim", "revoke", "A-1", "--reason", "wrong agent", "--yes"}).exit_code, 0);
  const auto refused = send({{"hook_event_name", "TaskCompleted"}});
  EXPECT_EQ(refused.exit_code, 2);
  EXPECT_TRUE(contains(refused.err, "the claim on A-1 was lost (revoked)"));
}

TEST_F(HookCommands, WithoutAStoreOrWithOneThatIsAwayTheAgentGoesOn) {
  const auto place = folder().file("plain");
  fs::create_directories(place);
  EXPECT_EQ(hook("SessionStart", {{"cwd", place}}), nothing);
  const Environment away = {{"LEASEHOLD_DB", "postgresql://nobody@127.0.0.1:1/none"}};
  const boost::json::object start = {{"hook_event_name", "SessionStart"}};
  const auto first = send(start, away);
  EXPECT_EQ(first.exit_code, 0);
  EXPECT_TRUE(contains(first.out, "leasehold cannot reach its store"));
  EXPECT_EQ(boost::json::parse(send(start, away).out), nothing) << "only the first time";
  EXPECT_EQ(hook("Notification"), nothing);
  const auto garbage = run({LEASEHOLD_TOOL, "hook"}, {}, "{");
  EXPECT_EQ(garbage.exit_code, 1) << "2 would stop the agent";
  EXPECT_TRUE(contains(garbage.err, "not JSON"));
}

}  // namespace
}  // namespace leasehold::support
