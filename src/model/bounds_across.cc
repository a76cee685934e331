// Checks of sessions, items and schedules that concern more than one field.
#include <fmt/format.h>

#include "base/text.h"
#include "base/time_text.h"
#include "model/bounds.h"
#include "model/described.h"

namespace leasehold {

Result<void> check_silence(Duration silence) { return check_span("silence", silence, Duration(0), bounds::max_park); }

Result<void> check_item(std::string_view key, const ItemOptions& options) {
  if (auto checked = check_name("item key", key); !checked) return checked;
  if (auto checked = model::check_fields_of(options); !checked) return checked;
  if (options.parent == key) return invalid(fmt::format("item {} cannot be its own parent", quoted(key)));
  for (const auto& other : options.conflicts.value_or(std::vector<std::string>())) {
    if (other == key) return invalid(fmt::format("item {} cannot conflict with itself", quoted(key)));
  }
  return {};
}

Result<void> check_claim(std::string_view item, std::string_view session) {
  if (auto checked = check_name("item key", item); !checked) return checked;
  return check_name("session id", session);
}

namespace {

Result<void> check_order(std::string_view what, const Between& between) {
  if (between.min <= between.max) return {};
  return invalid(fmt::format("a {} from {} to {} has its maximum first", what, format_duration(between.min),
                             format_duration(between.max)));
}

/// A job, a command, or neither.
Result<void> check_task(const ScheduleOptions& options) {
  const auto& command = options.command;
  if (options.queue.empty() && !options.payload.empty()) return invalid("a payload is for a schedule with a queue");
  if (!options.queue.empty() && !command.empty()) return invalid("a schedule has a queue or a command, not both");
  if (!command.empty() && command.front().empty()) return invalid("the program of the command is empty");
  std::size_t bytes = 0;
  for (const auto& word : command) bytes += word.size();
  return check_size("command", bytes, bounds::command_bytes);
}

}  // namespace

Result<void> check_schedule(std::string_view name, const ScheduleOptions& options) {
  if (auto checked = check_name("schedule name", name); !checked) return checked;
  if (auto checked = model::check_fields_of(options); !checked) return checked;
  if (const auto* every = std::get_if<Every>(&options.rule)) {
    if (auto checked = check_order("pause", every->pause); !checked) return checked;
  }
  if (options.on_fail) {
    if (auto checked = check_order("pause after a failure", *options.on_fail); !checked) return checked;
  }
  return check_task(options);
}

Result<void> check_run_result(std::string_view name, const RunResult& result) {
  if (auto checked = check_name("schedule name", name); !checked) return checked;
  if (result.ok && !result.error.empty()) return invalid("an error is for a run that failed");
  return model::check_fields_of(result);
}

}  // namespace leasehold
