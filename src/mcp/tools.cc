// Which tools there are, and what a call of one returns.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>

#include "base/text.h"
#include "mcp/message.h"
#include "mcp/tool.h"
#include "model/errors.h"
#include "model/json.h"

namespace leasehold::mcp {
namespace {

/// Acts of the opt-in toolsets. None revokes, purges or prunes.
struct ActTool {
  Toolset toolset = Toolset::jobs;
  std::string_view name{};
};

constexpr auto act_tools = std::to_array<ActTool>({
    {Toolset::jobs, "job.enqueue"},
    {Toolset::jobs, "job.claim"},
    {Toolset::jobs, "job.heartbeat"},
    {Toolset::jobs, "job.settle"},
    {Toolset::jobs, "job.complete"},
    {Toolset::jobs, "job.fail"},
    {Toolset::jobs, "job.release"},
    {Toolset::jobs, "job.show"},
    {Toolset::jobs, "job.list"},
    {Toolset::chunks, "chunk.claim"},
    {Toolset::chunks, "chunk.heartbeat"},
    {Toolset::chunks, "chunk.complete"},
    {Toolset::chunks, "chunk.fail"},
    {Toolset::chunks, "chunk.release"},
    {Toolset::chunks, "chunk.show"},
    {Toolset::chunks, "chunk.list"},
    {Toolset::chunks, "chunk.progress"},
    {Toolset::schedules, "schedule.acquire"},
    {Toolset::schedules, "schedule.heartbeat"},
    {Toolset::schedules, "schedule.complete"},
    {Toolset::schedules, "schedule.fail"},
    {Toolset::schedules, "schedule.release"},
    {Toolset::schedules, "schedule.show"},
    {Toolset::schedules, "schedule.list"},
    {Toolset::rows, "row.claim"},
    {Toolset::rows, "row.heartbeat"},
    {Toolset::rows, "row.complete"},
    {Toolset::rows, "row.fail"},
    {Toolset::rows, "row.release"},
    {Toolset::rows, "row.show"},
    {Toolset::rows, "row.list"},
});

/// "job.claim" is job_claim: some clients accept no dots.
const std::string& tool_name_of(const act::Act& act) {
  static const auto names = [] {
    std::map<std::string_view, std::string> all;
    for (const auto& one : act::all()) {
      all[one.name] = std::string(one.name);
      std::replace(all[one.name].begin(), all[one.name].end(), '.', '_');
    }
    return all;
  }();
  return names.at(act.name);
}

Tool tool_of(const ActTool& entry) {
  const auto& act = *act::find(entry.name);
  return {.name = tool_name_of(act),
          .help = act.help,
          .reads = act::only_reads(act),
          .idempotent = act.idempotent,
          .waits = act.waits,
          .asks = std::any_of(act.refusals.begin(), act.refusals.end(), is_answer),
          .arguments = act.arguments,
          .answer = act.answer,
          .fresh = act.fresh,
          .act = &act,
          .toolset = entry.toolset};
}

void add(std::vector<Tool>& tools, std::span<const Tool> more, Toolset toolset) {
  for (auto tool : more) {
    tool.toolset = toolset;
    tools.push_back(tool);
  }
}

}  // namespace

Error no_proof() { return invalid("give the session that holds the item, or the token of the claim"); }

Error with_session(Error error, const SessionHandle& session) {
  error.detail.push_back({session_detail, session.text()});
  return error;
}

std::vector<Tool> tools_of(std::span<const Toolset> toolsets) {
  std::vector<Tool> tools;
  for (const auto toolset : toolsets) {
    if (toolset == Toolset::claims) {
      for (const auto part : {session_tools(), item_tools(), claim_tools(), path_tools()}) add(tools, part, toolset);
    }
    if (toolset == Toolset::locks) add(tools, lock_tools(), toolset);
    for (const auto& entry : act_tools) {
      if (entry.toolset == toolset) tools.push_back(tool_of(entry));
    }
  }
  return tools;
}

const std::vector<std::string>& toolset_words() {
  static const std::vector<std::string> words{"claims", "locks", "jobs", "chunks", "schedules", "rows"};
  return words;
}

std::optional<Toolset> toolset_from(std::string_view word) {
  const auto& words = toolset_words();
  const auto found = std::find(words.begin(), words.end(), word);
  if (found == words.end()) return std::nullopt;
  return static_cast<Toolset>(found - words.begin());
}

namespace {

/// What the model can do about it.
std::string_view next_step_after(Errc code) {
  switch (code) {
    case Errc::lost: return "Another holder may have it: stop working on it. Ask for it again if you still need it.";
    case Errc::unregistered:
      return "The session is over, and so are its claims. Leave `session` out to open a new one, then ask again.";
    case Errc::not_found: return "Look at the list for what exists.";
    case Errc::unavailable: return "Nothing was changed. Try again in a few seconds.";
    case Errc::in_doubt: return "It may have happened. Repeat the call: that is harmless.";
    default: return "";
  }
}

Outcome refused(const Error& error) {
  Outcome outcome{
      .is_error = true, .bad_arguments = error.code == Errc::invalid_argument, .code = to_string(error.code)};
  outcome.text = fmt::format("{}: {}", to_string(error.code), error.message);
  if (const auto next = next_step_after(error.code); !next.empty()) outcome.text += fmt::format(". {}", next);
  return outcome;
}

/// {"granted":false,"session":...,"code":...,"held_by":...,"retry_in_seconds":...}
Outcome not_granted(const Error& error) {
  auto text = model::to_json(model::object_of(error));
  const auto* session = error.find<std::string>(session_detail);
  const auto session_text = session != nullptr ? fmt::format("\"session\":{},", quoted_json(*session)) : "";
  text.replace(0, 1, "{\"granted\":false," + session_text);
  return {.text = text, .structured = text, .code = to_string(error.code)};
}

Result<act::Answer> perform(Desk& desk, const Tool& tool, std::string_view arguments, const std::stop_token& stop) {
  const auto read = tool.fresh();
  const auto type = tool.arguments();
  const auto now = std::chrono::floor<Duration>(std::chrono::system_clock::now());
  if (auto filled = model::read_json(arguments, {type, read.get()}, now); !filled) return std::move(filled).error();
  if (auto checked = model::check_fields({type, read.get()}); !checked) return std::move(checked).error();
  return tool.perform(desk, read.get(), stop);
}

}  // namespace

Outcome call_tool(Desk& desk, const Tool& tool, std::string_view arguments, const std::stop_token& stop) {
  Result<act::Answer> answer = Error{};
  if (tool.act != nullptr) {
    const auto store = desk.store();
    if (!store) return refused(store.error());
    answer = act::perform(*store, *tool.act, arguments, desk.call(stop));
  } else {
    answer = perform(desk, tool, arguments, stop);
  }
  if (!answer) {
    return tool.asks && is_answer(answer.error().code) ? not_granted(answer.error()) : refused(answer.error());
  }
  // A model needs no proof but its own.
  auto text = model::to_json(model::Object{answer->type, answer->at.get()}, model::Proofs::hidden);
  if (tool.asks) text.replace(0, 1, "{\"granted\":true,");
  return {.text = text, .structured = text};
}

}  // namespace leasehold::mcp
