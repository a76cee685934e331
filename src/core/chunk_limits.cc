#include "core/chunk_limits.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "base/invalid.h"
#include "base/json_check.h"
#include "base/text.h"
#include "core/job_limits.h"
#include "core/limits.h"

namespace leasehold {
namespace {

/// `what` is for the message: "cursor".
Result<void> check_json(std::string_view what, std::string_view text) {
  if (auto checked = check_size(what, text.size(), max_chunk_json_bytes); !checked) return checked;
  if (!is_json(text)) return invalid(fmt::format("{} is not JSON: {}", what, quoted(text)));
  return {};
}

Result<void> check_no_key_twice(std::span<const PlannedChunk> chunks) {
  std::vector<std::string_view> keys;
  keys.reserve(chunks.size());
  for (const auto& chunk : chunks) keys.push_back(chunk.key);
  std::sort(keys.begin(), keys.end());
  const auto twice = std::adjacent_find(keys.begin(), keys.end());
  if (twice == keys.end()) return {};
  return invalid(fmt::format("the plan has chunk {} twice", quoted(*twice)));
}

Result<void> check_planned(const PlannedChunk& chunk) {
  if (auto checked = check_name("chunk key", chunk.key); !checked) return checked;
  // The message is made only where it is needed: a plan may have millions of chunks.
  if (chunk.spec.size() <= max_chunk_json_bytes && is_json(chunk.spec)) return {};
  return check_json("spec of chunk " + quoted(chunk.key), chunk.spec);
}

}  // namespace

Result<void> check_chunk(std::string_view set, std::string_view key) {
  if (auto checked = check_name("set name", set); !checked) return checked;
  return check_name("chunk key", key);
}

Result<void> check_plan(std::string_view set, std::span<const PlannedChunk> chunks, const PlanOptions& options) {
  if (auto checked = check_name("set name", set); !checked) return checked;
  if (auto checked = check_name("planner version", options.planner); !checked) return checked;
  if (auto checked = check_chunk_settings(options.settings); !checked) return checked;
  for (const auto& chunk : chunks) {
    if (auto checked = check_planned(chunk); !checked) return checked;
  }
  return check_no_key_twice(chunks);
}

Result<void> check_chunk_settings(const ChunkSetSettings& settings) {
  for (const auto& [what, budget] :
       {std::pair{"failure budget", settings.failure_budget}, std::pair{"crash budget", settings.crash_budget}}) {
    if (auto checked = check_range(what, budget.value_or(1), 1, max_budget); !checked) return checked;
  }
  for (const auto& [what, backoff] :
       {std::pair{"backoff", settings.backoff_base}, std::pair{"longest backoff", settings.backoff_most}}) {
    if (auto checked = check_delay(what, backoff.value_or(Duration(0))); !checked) return checked;
  }
  return settings.default_ttl ? check_ttl(*settings.default_ttl) : Result<void>();
}

Result<void> check_chunk_save(const ChunkSave& save) {
  if (auto checked = check_range("row count", save.rows.value_or(0), 0, max_rows); !checked) return checked;
  return save.cursor ? check_json("cursor", *save.cursor) : Result<void>();
}

Result<void> check_chunk_reset(const ChunkReset& reset) {
  if (reset.which == ChunkReset::Which::keys && reset.keys.empty()) return invalid("no chunk to reset was named");
  for (const auto& key : reset.keys) {
    if (auto checked = check_name("chunk key", key); !checked) return checked;
  }
  return check_delay("age", reset.older_than);
}

}  // namespace leasehold
