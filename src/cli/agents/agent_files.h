// The files through which coding agents find leasehold: an entry for `leasehold mcp`, hooks that call `leasehold hook`,
// and a section of AGENTS.md. What else such a file contains stays.
//
//   for (const auto& file : files_of(*agent)) {
//     auto changed = with_leasehold(file, text);        // or without_leasehold()
//     if (!changed) return changed.error();             // "not JSON: ...": the file is left alone
//   }
#pragma once

#include <boost/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "leasehold/result.h"

namespace leasehold::cli {

enum class Agent { claude, codex, gemini, cursor };
std::optional<Agent> agent_from(std::string_view word);
/// "claude, codex, gemini, cursor"
std::string agent_words();

/// How a file is changed.
enum class FileForm {
  mcp_json,    ///< a member of "mcpServers"
  mcp_toml,    ///< a marked block with [mcp_servers.leasehold]
  hooks_json,  ///< members of "hooks", as the agent wants them
  guide,       ///< a marked section of Markdown
};

struct AgentFile {
  std::string path;  ///< below the root of the worktree
  std::vector<FileForm> forms;
  Agent agent = Agent::claude;
};

/// The files of this agent, AGENTS.md included.
std::vector<AgentFile> files_of(Agent agent);

/// The file's text with our parts in it; the same text if they are there already. An empty text is a new file.
Result<std::string> with_leasehold(const AgentFile& file, std::string_view text);
/// The file's text without our parts; empty if nothing else is left.
Result<std::string> without_leasehold(const AgentFile& file, std::string_view text);

/// Adds our entry to each event of "hooks" that calls `leasehold hook`, once, or removes it. Entries of others stay.
Result<void> set_agent_hooks(Agent agent, boost::json::object& hooks, bool wanted);

// For showing a change before it is made.

/// JSON for files that people read: two blanks per level, the members in their order.
std::string pretty_json(const boost::json::value& value);

/// The difference of two texts line by line, with three lines around each change; empty if they are equal. `path` is
/// for the two heads.
std::string text_diff(std::string_view path, std::string_view before, std::string_view after);

}  // namespace leasehold::cli
