#include "cli/agents/agent_files.h"

#include <algorithm>
#include <span>
#include <string>

#include "base/json.h"

namespace leasehold::cli {
namespace {

namespace json = boost::json;

constexpr std::string_view hook_command = "leasehold hook";

struct HookEntry {
  const char* name;
  const char* matcher = nullptr;  ///< of tools that edit files; none: every occasion
};

constexpr const char* claude_edits = "Edit|Write|MultiEdit|NotebookEdit";
constexpr HookEntry claude_events[] = {{"SessionStart"}, {"PreToolUse", claude_edits},
                                       {"PostToolUse"},  {"SubagentStart"},
                                       {"SubagentStop"}, {"TaskCompleted"},
                                       {"SessionEnd"}};
constexpr HookEntry codex_events[] = {
    {"SessionStart"}, {"PreToolUse", "apply_patch|Edit|Write"}, {"PostToolUse"}, {"SubagentStart"}, {"SubagentStop"}};
constexpr HookEntry gemini_events[] = {
    {"SessionStart"}, {"BeforeTool", "write_file|replace"}, {"AfterTool"}, {"SessionEnd"}};
constexpr HookEntry cursor_events[] = {{"sessionStart"}, {"preToolUse", "Write|Edit|StrReplace|Delete"},
                                       {"postToolUse"},  {"subagentStart"},
                                       {"subagentStop"}, {"sessionEnd"}};

std::span<const HookEntry> events_of(Agent agent) {
  switch (agent) {
    case Agent::claude: return claude_events;
    case Agent::codex: return codex_events;
    case Agent::gemini: return gemini_events;
    case Agent::cursor: break;
  }
  return cursor_events;
}

/// Claude, Codex and Gemini have a group of commands per matcher, Cursor has plain commands. A hook that has no answer
/// after ten seconds is given up; `leasehold hook` itself gives up the store after one.
json::object entry_for(Agent agent, const HookEntry& event) {
  json::object entry;
  if (event.matcher != nullptr) entry["matcher"] = event.matcher;
  if (agent == Agent::cursor) {
    entry["command"] = hook_command;
    entry["timeout"] = 10;
    return entry;
  }
  json::object one{{"type", "command"}, {"command", hook_command}};
  one["timeout"] = agent == Agent::gemini ? 10'000 : 10;  // Gemini counts milliseconds
  entry["hooks"] = json::array{std::move(one)};
  return entry;
}

bool is_ours(const json::value& entry) {
  if (!entry.is_object()) return false;
  const auto& object = entry.as_object();
  if (const auto* direct = object.if_contains("command"); direct != nullptr && direct->is_string()) {
    return direct->as_string() == hook_command;
  }
  const auto* inner = object.if_contains("hooks");
  return inner != nullptr && inner->is_array() && inner->as_array().size() == 1 && is_ours(inner->as_array().front());
}

std::string indentation(std::size_t depth) { return std::string(depth * 2, ' '); }

template <typename Container, typename Write>
void write_list(std::string& out, const Container& list, std::size_t depth, char open, char close, Write write) {
  out += open;
  if (list.empty()) {
    out += close;
    return;
  }
  bool first = true;
  for (const auto& one : list) {
    out += first ? "\n" : ",\n";
    out += indentation(depth + 1);
    write(one);
    first = false;
  }
  out += "\n" + indentation(depth) + close;
}

void write_value(std::string& out, const json::value& value, std::size_t depth) {
  if (value.is_object()) {
    write_list(out, value.as_object(), depth, '{', '}', [&](const json::key_value_pair& member) {
      out += json::serialize(json::string(member.key())) + ": ";
      write_value(out, member.value(), depth + 1);
    });
  } else if (value.is_array()) {
    write_list(out, value.as_array(), depth, '[', ']',
               [&](const json::value& one) { write_value(out, one, depth + 1); });
  } else {
    out += json::serialize(value);
  }
}

}  // namespace

std::string pretty_json(const json::value& value) {
  std::string out;
  write_value(out, value, 0);
  return out;
}

Result<void> set_agent_hooks(Agent agent, json::object& hooks, bool wanted) {
  for (const auto& event : events_of(agent)) {
    if (!wanted && !hooks.contains(event.name)) continue;
    auto& list = hooks[event.name];
    if (list.is_null()) list = json::array();
    if (!list.is_array())
      return Error{.code = Errc::invalid_argument, .message = std::string(event.name) + " is not a list"};
    auto& entries = list.as_array();
    auto entry = entry_for(agent, event);
    const auto ours = std::find_if(entries.begin(), entries.end(), is_ours);
    if (wanted && ours != entries.end()) {
      *ours = std::move(entry);
    } else if (wanted) {
      entries.push_back(std::move(entry));
    } else if (ours != entries.end()) {
      entries.erase(ours);
      if (entries.empty()) hooks.erase(event.name);
    }
  }
  return {};
}

}  // namespace leasehold::cli
