#include "cli/agents/agent_files.h"

#include <fmt/format.h>

#include <array>
#include <utility>

#include "base/json.h"
#include "base/text.h"

namespace leasehold::cli {
namespace {

namespace json = boost::json;

constexpr std::array<std::pair<std::string_view, Agent>, 4> agent_names = {
    {{"claude", Agent::claude}, {"codex", Agent::codex}, {"gemini", Agent::gemini}, {"cursor", Agent::cursor}}};

constexpr std::string_view toml_begin = "# leasehold: begin (written by `leasehold init`)\n";
constexpr std::string_view toml_end = "# leasehold: end\n";
constexpr std::string_view toml_block = R"([mcp_servers.leasehold]
command = "leasehold"
args = ["mcp"]
)";

constexpr std::string_view guide_begin = "<!-- leasehold: begin (written by `leasehold init`) -->\n";
constexpr std::string_view guide_end = "<!-- leasehold: end -->\n";
constexpr std::string_view guide_block = R"(## Sharing this repository with other agents

Other agents and people may work in this repository at the same time. The MCP server `leasehold` knows who works on what.

- Call `overview` first: it shows the open items, who holds what, and your own sessions with their handles.
- Take work with `claim_next`, or one item with `claim_take`. The first call returns a session: pass it to every later call.
- Before you edit files that others may edit, call `paths_take` with them.
- If an answer says that something is held, do other work until `retry_in_seconds` is over. Do not work around it.
- When an item is finished, call `item_done`. If an answer says `lost`, stop working on that item: another agent has it.
)";

/// The text between two marks replaced by `block`, or appended; an empty block removes all of it.
std::string with_block(std::string_view text, std::string_view begin, std::string_view end, std::string_view block) {
  std::string before(text);
  std::string after;
  if (const auto from = text.find(begin); from != std::string_view::npos) {
    const auto to = text.find(end, from);
    before = std::string(text.substr(0, from));
    after = to == std::string_view::npos ? "" : std::string(text.substr(to + end.size()));
  } else if (!block.empty() && !before.empty()) {
    before += before.ends_with("\n") ? "\n" : "\n\n";
  }
  if (!block.empty()) return fmt::format("{}{}{}{}{}", before, begin, block, end, after);
  // The blank line that came with the block goes with it.
  if (before.ends_with("\n\n")) before.pop_back();
  return before + after;
}

Result<json::object> read_object(const AgentFile& file, std::string_view text) {
  if (trimmed(text).empty()) return json::object();
  auto value = parse_json(text);
  if (!value) {
    return invalid(fmt::format("{} is not JSON ({}): add leasehold there by hand, or remove the comments", file.path,
                               value.error().message));
  }
  if (!value->is_object()) return invalid(file.path + " is not a JSON object: nothing was changed");
  return std::move(value->as_object());
}

/// The object under a key, made if it is missing.
Result<json::object*> object_in(const AgentFile& file, json::object& parent, std::string_view key) {
  auto& value = parent[key];
  if (value.is_null()) value = json::object();
  if (!value.is_object()) return invalid(fmt::format("{}: \"{}\" is not an object", file.path, key));
  return &value.as_object();
}

Result<void> set_mcp(const AgentFile& file, json::object& root, bool wanted) {
  if (!wanted && !root.contains("mcpServers")) return {};
  auto servers = object_in(file, root, "mcpServers");
  if (!servers) return std::move(servers).error();
  if (wanted) {
    (**servers)["leasehold"] = json::object{{"command", "leasehold"}, {"args", json::array{"mcp"}}};
  } else {
    (*servers)->erase("leasehold");
    if ((*servers)->empty()) root.erase("mcpServers");
  }
  return {};
}

Result<void> set_hooks(const AgentFile& file, json::object& root, bool wanted) {
  if (!wanted && !root.contains("hooks")) return {};
  auto hooks = object_in(file, root, "hooks");
  if (!hooks) return std::move(hooks).error();
  if (auto set = set_agent_hooks(file.agent, **hooks, wanted); !set) {
    return invalid(fmt::format("{}: {}", file.path, set.error().message));
  }
  if (file.agent == Agent::cursor && wanted) root["version"] = 1;
  if ((*hooks)->empty()) root.erase("hooks");
  if (file.agent == Agent::cursor && root.size() == 1 && root.contains("version")) root.clear();
  return {};
}

Result<std::string> changed(const AgentFile& file, std::string_view text, bool wanted) {
  const auto first = file.forms.front();
  if (first == FileForm::mcp_toml) return with_block(text, toml_begin, toml_end, wanted ? toml_block : "");
  if (first == FileForm::guide) return with_block(text, guide_begin, guide_end, wanted ? guide_block : "");
  auto root = read_object(file, text);
  if (!root) return std::move(root).error();
  const auto before = *root;
  for (const auto form : file.forms) {
    auto set = form == FileForm::mcp_json ? set_mcp(file, *root, wanted) : set_hooks(file, *root, wanted);
    if (!set) return std::move(set).error();
  }
  // What need not change keeps its form.
  if (*root == before) return std::string(text);
  return root->empty() ? std::string() : pretty_json(*root) + "\n";
}

}  // namespace

std::optional<Agent> agent_from(std::string_view word) {
  for (const auto& [name, agent] : agent_names) {
    if (name == word) return agent;
  }
  return std::nullopt;
}

std::string agent_words() {
  std::string words;
  for (const auto& [name, agent] : agent_names) words += (words.empty() ? "" : ", ") + std::string(name);
  return words;
}

std::vector<AgentFile> files_of(Agent agent) {
  const AgentFile guide{"AGENTS.md", {FileForm::guide}, agent};
  const auto both = std::vector{FileForm::mcp_json, FileForm::hooks_json};
  switch (agent) {
    case Agent::claude:
      return {
          {".mcp.json", {FileForm::mcp_json}, agent}, {".claude/settings.json", {FileForm::hooks_json}, agent}, guide};
    case Agent::codex:
      return {{".codex/config.toml", {FileForm::mcp_toml}, agent},
              {".codex/hooks.json", {FileForm::hooks_json}, agent},
              guide};
    case Agent::gemini: return {{".gemini/settings.json", both, agent}, guide};
    case Agent::cursor:
      return {{".cursor/mcp.json", {FileForm::mcp_json}, agent},
              {".cursor/hooks.json", {FileForm::hooks_json}, agent},
              guide};
  }
  return {};
}

Result<std::string> with_leasehold(const AgentFile& file, std::string_view text) { return changed(file, text, true); }

Result<std::string> without_leasehold(const AgentFile& file, std::string_view text) {
  return changed(file, text, false);
}

}  // namespace leasehold::cli
