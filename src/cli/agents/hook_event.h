// What a coding agent tells a hook on its standard input, and what it understands as the answer. Agents name events and
// fields differently; the rest of the hook sees one form.
//
//   auto event = read_hook_event(text);
//   if (event && event->kind == HookKind::before_edit) print(refuse(*event, "src/a.cc is held by ..."));
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "leasehold/result.h"

namespace leasehold::cli {

enum class HookKind {
  start,           ///< a session begins, goes on, or its context was compacted
  before_edit,     ///< a tool is about to change files
  after_tool,      ///< a tool has run
  subagent_start,  ///< an agent in the same process, with a session of its own
  subagent_stop,
  task_completed,  ///< the agent says that a task is finished
  end,             ///< the session ends
  other,           ///< nothing to do
};

/// How the agent reads an answer.
enum class HookDialect { claude, gemini, cursor };

struct HookEvent {
  HookKind kind = HookKind::other;
  HookDialect dialect = HookDialect::claude;
  std::string name;      ///< as the agent spells it
  std::string session;   ///< the agent's own id of the session
  std::string subagent;  ///< the id of the sub-agent, if the event is about one or comes from one
  std::string folder;    ///< the working folder of the agent
  std::string tool;
  std::string reason;              ///< why the session started or ended, as the agent spells it
  std::vector<std::string> paths;  ///< the files that an edit changes
};

/// An event that is not known is `other`; an error says what is wrong with the text.
Result<HookEvent> read_hook_event(std::string_view text);

// Answers: one JSON object for stdout.

/// Lets the agent go on.
std::string go_on();
/// Adds a text to what the model knows.
std::string tell_model(const HookEvent& event, std::string_view text);
/// Shows a text to the person, and lets the agent go on.
std::string tell_person(const HookEvent& event, std::string_view text);
/// Refuses an edit, or the end of a task, with a reason for the model.
std::string refuse(const HookEvent& event, std::string_view why);

}  // namespace leasehold::cli
