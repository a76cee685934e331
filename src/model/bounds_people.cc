
#include <fmt/format.h>

#include "base/json.h"
#include "base/text.h"
#include "base/time_text.h"
#include "model/bounds.h"

namespace leasehold {
namespace {

Result<void> check_metadata(std::string_view metadata) {
  if (auto checked = check_size("metadata", metadata.size(), bounds::metadata_bytes); !checked) return checked;
  if (!is_json(metadata)) return invalid("the metadata is not JSON: " + quoted(metadata));
  return {};
}

Result<void> check_title(std::string_view title) {
  if (auto checked = check_size("title", title.size(), bounds::title_bytes); !checked) return checked;
  if (title.find('\0') != std::string_view::npos || !is_utf8(title)) {
    return invalid("the title is not UTF-8 text: " + quoted(title));
  }
  return {};
}

/// Unset: no bound.
Result<void> check_max_age(const std::optional<Duration>& max_age) {
  if (!max_age || (*max_age >= bounds::min_ttl && *max_age <= bounds::max_delay)) return {};
  return invalid(fmt::format("a longest age of {} is not between {} and {}", format_duration(*max_age),
                             format_duration(bounds::min_ttl), years_of(bounds::max_delay)));
}

Result<void> check_conflicts(std::string_view key, const std::vector<std::string>& conflicts) {
  for (const auto& other : conflicts) {
    if (auto checked = check_name("key of a conflicting item", other); !checked) return checked;
    if (other == key) return invalid(fmt::format("item {} cannot conflict with itself", quoted(key)));
  }
  return {};
}

}  // namespace

Result<void> check_session_options(const SessionOptions& options) {
  if (auto checked = check_name("session id", options.id); !checked) return checked;
  if (auto checked = check_ttl(options.ttl); !checked) return checked;
  for (const auto& [what, text] : {std::pair{"label", &options.label}, std::pair{"codebase", &options.codebase},
                                   std::pair{"track", &options.track}}) {
    if (auto checked = check_text(what, *text); !checked) return checked;
  }
  if (auto checked = check_metadata(options.metadata); !checked) return checked;
  if (auto checked = check_max_age(options.max_age); !checked) return checked;
  return check_name("request id", options.request_id);
}

Result<void> check_session_heartbeat(std::string_view id, const SessionHeartbeat& heartbeat) {
  if (auto checked = check_name("session id", id); !checked) return checked;
  if (auto checked = check_new_ttl(heartbeat.ttl); !checked) return checked;
  return heartbeat.progress ? check_text("progress", *heartbeat.progress) : Result<void>();
}

Result<void> check_silence(Duration silence) {
  if (silence >= Duration(0) && silence <= bounds::max_park) return {};
  return invalid(fmt::format("a silence of {} is not between 0s and {}", format_duration(silence),
                             format_duration(bounds::max_park)));
}

Result<void> check_item(std::string_view key, const ItemOptions& options) {
  if (auto checked = check_name("item key", key); !checked) return checked;
  if (auto checked = options.title ? check_title(*options.title) : Result<void>(); !checked) return checked;
  if (options.parent && !options.parent->empty()) {
    if (auto checked = check_name("key of the parent", *options.parent); !checked) return checked;
    if (*options.parent == key) return invalid(fmt::format("item {} cannot be its own parent", quoted(key)));
  }
  if (auto checked = options.metadata ? check_metadata(*options.metadata) : Result<void>(); !checked) return checked;
  return options.conflicts ? check_conflicts(key, *options.conflicts) : Result<void>();
}

Result<void> check_claim(std::string_view item, std::string_view session) {
  if (auto checked = check_name("item key", item); !checked) return checked;
  return check_name("session id", session);
}

namespace {

Result<void> check_between(std::string_view what, const Between& between) {
  if (auto checked = check_delay(what, between.min); !checked) return checked;
  if (auto checked = check_delay(what, between.max); !checked) return checked;
  if (between.min <= between.max) return {};
  return invalid(fmt::format("a {} from {} to {} has its maximum first", what, format_duration(between.min),
                             format_duration(between.max)));
}

Result<void> check_pause(const Between& pause) {
  if (auto checked = check_between("pause", pause); !checked) return checked;
  if (pause.min >= bounds::min_pause) return {};
  return invalid(fmt::format("a pause of {} between runs is too short: the minimum is {}", format_duration(pause.min),
                             format_duration(bounds::min_pause)));
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
  return check_size("command", bytes, bounds::command_bytes);
}

Result<void> check_next_run(const std::optional<Timestamp>& at, const std::optional<Duration>& in) {
  if (at && in) return invalid("the next run has a time or a delay, not both");
  if (in) return check_delay("time until the next run", *in);
  return at ? check_moment("next run", *at) : Result<void>();
}

/// A job, a command, or neither.
Result<void> check_task(const ScheduleOptions& options) {
  if (options.queue.empty()) {
    if (!options.payload.empty()) return invalid("a payload is for a schedule with a queue");
    return check_command(options.command);
  }
  if (!options.command.empty()) return invalid("a schedule has a queue or a command, not both");
  if (auto checked = check_name("queue name", options.queue); !checked) return checked;
  return check_size("payload", options.payload.size(), bounds::payload_bytes);
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
  if (auto checked = check_next_run(options.next_run_at, options.next_run_in); !checked) return checked;
  return check_task(options);
}

Result<void> check_schedule_acquire(std::string_view name, const ScheduleAcquireOptions& options) {
  if (auto checked = check_name("schedule name", name); !checked) return checked;
  if (auto checked = check_new_ttl(options.ttl); !checked) return checked;
  return check_name("request id", options.request_id);
}

Result<void> check_run_result(std::string_view name, const RunResult& result) {
  if (auto checked = check_name("schedule name", name); !checked) return checked;
  if (result.ok && !result.error.empty()) return invalid("an error is for a run that failed");
  if (auto checked = check_next_run(result.next_run_at, result.next_run_in); !checked) return checked;
  if (result.counts.empty()) return {};
  if (auto checked = check_size("counts", result.counts.size(), bounds::counts_bytes); !checked) return checked;
  if (!is_json(result.counts)) return invalid("the counts are not JSON: " + quoted(result.counts));
  return {};
}

}  // namespace leasehold
