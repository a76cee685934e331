#include "core/schedule_limits.h"

#include <fmt/format.h>

#include "base/invalid.h"
#include "base/json_check.h"
#include "base/text.h"
#include "core/duration.h"
#include "core/job_limits.h"
#include "core/limits.h"

namespace leasehold {
namespace {

Result<void> check_between(std::string_view what, const Between& between) {
  if (auto checked = check_delay(what, between.least); !checked) return checked;
  if (auto checked = check_delay(what, between.most); !checked) return checked;
  if (between.least <= between.most) return {};
  return invalid(fmt::format("a {} from {} to {} has its longest first", what, format_duration(between.least),
                             format_duration(between.most)));
}

Result<void> check_pause(const Between& pause) {
  if (auto checked = check_between("pause", pause); !checked) return checked;
  if (pause.least >= min_pause) return {};
  return invalid(fmt::format("a pause of {} between runs is too short: the least is {}", format_duration(pause.least),
                             format_duration(min_pause)));
}

Result<void> check_rule(const ScheduleRule& rule) {
  if (const auto* every = std::get_if<Every>(&rule)) return check_pause(every->pause);
  return check_delay("jitter", std::get<CronRule>(rule).jitter);
}

bool is_storable(std::string_view text) { return text.find('\0') == std::string_view::npos && is_utf8(text); }

Result<void> check_command(const std::vector<std::string>& command) {
  if (command.empty()) return {};
  if (command.front().empty()) return invalid("the program of the command is empty");
  std::size_t bytes = 0;
  for (const auto& word : command) {
    if (!is_storable(word)) return invalid("a word of the command is not UTF-8 text: " + quoted(word));
    bytes += word.size();
  }
  return check_size("command", bytes, max_command_bytes);
}

/// A job, a command, or neither.
Result<void> check_task(const ScheduleOptions& options) {
  if (options.queue.empty()) {
    if (!options.payload.empty()) return invalid("a payload is for a schedule with a queue");
    return check_command(options.command);
  }
  if (!options.command.empty()) return invalid("a schedule has a queue or a command, not both");
  if (auto checked = check_name("queue name", options.queue); !checked) return checked;
  return check_size("payload", options.payload.size(), max_payload_bytes);
}

}  // namespace

Result<void> check_schedule(std::string_view name, const ScheduleOptions& options) {
  if (auto checked = check_name("schedule name", name); !checked) return checked;
  if (auto checked = check_rule(options.rule); !checked) return checked;
  if (options.on_fail) {
    if (auto checked = check_between("pause after a failure", *options.on_fail); !checked) return checked;
  }
  if (auto checked = check_ttl(options.ttl); !checked) return checked;
  if (auto checked = check_delay("misfire_after", options.misfire_after); !checked) return checked;
  return check_task(options);
}

Result<void> check_schedule_acquire(std::string_view name, const ScheduleAcquireOptions& options) {
  if (auto checked = check_name("schedule name", name); !checked) return checked;
  if (auto checked = options.ttl == Duration(0) ? Result<void>() : check_ttl(options.ttl); !checked) return checked;
  if (auto checked = check_holder(*options.holder); !checked) return checked;
  return check_name("request id", options.request_id);
}

Result<void> check_run_result(std::string_view name, const RunResult& result) {
  if (auto checked = check_name("schedule name", name); !checked) return checked;
  if (result.ok && !result.error.empty()) return invalid("an error is for a run that failed");
  if (result.counts.empty()) return {};
  if (auto checked = check_size("counts", result.counts.size(), max_counts_bytes); !checked) return checked;
  if (!is_json(result.counts)) return invalid("the counts are not JSON: " + quoted(result.counts));
  return {};
}

}  // namespace leasehold
