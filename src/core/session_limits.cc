#include "core/session_limits.h"

#include <fmt/format.h>

#include "base/invalid.h"
#include "base/json_check.h"
#include "base/text.h"
#include "core/duration.h"
#include "core/job_limits.h"
#include "core/limits.h"

namespace leasehold {
namespace {

Result<void> check_metadata(std::string_view metadata) {
  if (auto checked = check_size("metadata", metadata.size(), max_metadata_bytes); !checked) return checked;
  if (!is_json(metadata)) return invalid("the metadata is not JSON: " + quoted(metadata));
  return {};
}

Result<void> check_title(std::string_view title) {
  if (auto checked = check_size("title", title.size(), max_title_bytes); !checked) return checked;
  if (title.find('\0') != std::string_view::npos || !is_utf8(title)) {
    return invalid("the title is not UTF-8 text: " + quoted(title));
  }
  return {};
}

/// Unset: no bound.
Result<void> check_max_age(const std::optional<Duration>& max_age) {
  if (!max_age || (*max_age >= min_ttl && *max_age <= max_delay)) return {};
  return invalid(fmt::format("a longest age of {} is not between {} and 100 years", format_duration(*max_age),
                             format_duration(min_ttl)));
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
  if (auto checked = options.holder ? check_holder(*options.holder) : Result<void>(); !checked) return checked;
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
  return heartbeat.progress ? check_text("progress", *heartbeat.progress) : Result<void>();
}

Result<void> check_silence(Duration silence) {
  if (silence >= Duration(0) && silence <= Sessions::longest_park) return {};
  return invalid(fmt::format("a silence of {} is not between 0s and {}", format_duration(silence),
                             format_duration(Sessions::longest_park)));
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

}  // namespace leasehold
