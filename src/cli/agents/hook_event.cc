#include "cli/agents/hook_event.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <boost/json.hpp>
#include <utility>

#include "base/json.h"
#include "base/text.h"

namespace leasehold::cli {
namespace {

namespace json = boost::json;

struct EventName {
  std::string_view name;
  HookKind kind;
  HookDialect dialect;
};

// SessionStart and SessionEnd of Gemini are read as those of Claude: both understand the same answer.
constexpr std::array<EventName, 15> event_names = {{
    {"SessionStart", HookKind::start, HookDialect::claude},
    {"PreToolUse", HookKind::before_edit, HookDialect::claude},
    {"PostToolUse", HookKind::after_tool, HookDialect::claude},
    {"SubagentStart", HookKind::subagent_start, HookDialect::claude},
    {"SubagentStop", HookKind::subagent_stop, HookDialect::claude},
    {"TaskCompleted", HookKind::task_completed, HookDialect::claude},
    {"SessionEnd", HookKind::end, HookDialect::claude},
    {"BeforeTool", HookKind::before_edit, HookDialect::gemini},
    {"AfterTool", HookKind::after_tool, HookDialect::gemini},
    {"sessionStart", HookKind::start, HookDialect::cursor},
    {"preToolUse", HookKind::before_edit, HookDialect::cursor},
    {"postToolUse", HookKind::after_tool, HookDialect::cursor},
    {"subagentStart", HookKind::subagent_start, HookDialect::cursor},
    {"subagentStop", HookKind::subagent_stop, HookDialect::cursor},
    {"sessionEnd", HookKind::end, HookDialect::cursor},
}};

std::string text_in(const json::object& object, std::initializer_list<std::string_view> keys) {
  for (const auto key : keys) {
    const auto* value = object.if_contains(key);
    if (value != nullptr && value->is_string()) return std::string(value->as_string());
  }
  return {};
}

void add_path(std::vector<std::string>& paths, std::string_view path) {
  const auto clean = std::string(trimmed(path));
  if (!clean.empty() && std::find(paths.begin(), paths.end(), clean) == paths.end()) paths.push_back(clean);
}

/// The files in a patch of Codex: "*** Update File: src/a.cc".
void add_patched(std::vector<std::string>& paths, std::string_view patch) {
  constexpr std::array<std::string_view, 4> heads = {
      "*** Update File: ", "*** Add File: ", "*** Delete File: ", "*** Move to: "};
  while (!patch.empty()) {
    const auto length = std::min(patch.find('\n'), patch.size());
    const auto line = patch.substr(0, length);
    for (const auto head : heads) {
      if (line.starts_with(head)) add_path(paths, line.substr(head.size()));
    }
    patch.remove_prefix(std::min(length + 1, patch.size()));
  }
}

std::vector<std::string> edited_paths(const json::object& input) {
  std::vector<std::string> paths;
  add_path(paths, text_in(input, {"file_path", "notebook_path", "absolute_path", "target_file", "path"}));
  add_patched(paths, text_in(input, {"command", "patch", "input"}));
  if (const auto* files = input.if_contains("files"); files != nullptr && files->is_array()) {
    for (const auto& file : files->as_array()) {
      if (file.is_string()) add_path(paths, std::string_view(file.as_string()));
    }
  }
  return paths;
}

/// Cursor sends the input of some tools as a text with JSON in it.
json::object tool_input_of(const json::object& event) {
  const auto* input = event.if_contains("tool_input");
  if (input == nullptr) return event;
  if (input->is_object()) return input->as_object();
  if (!input->is_string()) return {};
  auto parsed = parse_json(input->as_string());
  return parsed && parsed->is_object() ? parsed->as_object() : json::object();
}

std::string folder_of(const json::object& event) {
  auto folder = text_in(event, {"cwd"});
  const auto* roots = event.if_contains("workspace_roots");
  if (folder.empty() && roots != nullptr && roots->is_array() && !roots->as_array().empty() &&
      roots->as_array().front().is_string()) {
    folder = std::string(roots->as_array().front().as_string());
  }
  return folder;
}

std::string serialized(const json::object& answer) { return json::serialize(answer); }

}  // namespace

Result<HookEvent> read_hook_event(std::string_view text) {
  auto value = parse_json(text);
  if (!value) return invalid("the event on stdin is not JSON: " + value.error().message);
  if (!value->is_object()) return invalid("the event on stdin is not a JSON object");
  const auto& object = value->as_object();
  HookEvent event{.name = text_in(object, {"hook_event_name"})};
  if (event.name.empty()) return invalid("the event on stdin has no hook_event_name");
  for (const auto& [name, kind, dialect] : event_names) {
    if (event.name != name) continue;
    event.kind = kind;
    event.dialect = dialect;
  }
  event.session = text_in(object, {"session_id", "conversation_id"});
  event.subagent = text_in(object, {"agent_id", "subagent_id"});
  event.folder = folder_of(object);
  event.tool = text_in(object, {"tool_name"});
  event.reason = text_in(object, {"source", "reason", "trigger"});
  if (event.kind == HookKind::before_edit || event.kind == HookKind::after_tool) {
    event.paths = edited_paths(tool_input_of(object));
  }
  return event;
}

std::string go_on() { return "{}"; }

std::string tell_model(const HookEvent& event, std::string_view text) {
  if (event.dialect == HookDialect::cursor) return serialized({{"additional_context", text}});
  return serialized({{"hookSpecificOutput", {{"hookEventName", event.name}, {"additionalContext", text}}}});
}

std::string tell_person(const HookEvent& event, std::string_view text) {
  if (event.dialect == HookDialect::cursor) return serialized({{"user_message", text}});
  return serialized({{"systemMessage", text}});
}

std::string refuse(const HookEvent& event, std::string_view why) {
  if (event.dialect == HookDialect::cursor) {
    return serialized({{"permission", "deny"}, {"user_message", why}, {"agent_message", why}});
  }
  if (event.dialect == HookDialect::gemini) return serialized({{"decision", "deny"}, {"reason", why}});
  if (event.kind == HookKind::task_completed) return serialized({{"decision", "block"}, {"reason", why}});
  return serialized(
      {{"hookSpecificOutput",
        {{"hookEventName", event.name}, {"permissionDecision", "deny"}, {"permissionDecisionReason", why}}}});
}

}  // namespace leasehold::cli
