#include "model/bounds.h"

#include <fmt/format.h>
#include <algorithm>
#include <limits>
#include <vector>

#include "base/json.h"
#include "base/text.h"
#include "base/time_text.h"
#include "model/described.h"
#include "model/job_text.h"

namespace leasehold {
namespace {

bool has_control_character(std::string_view text) {
  return std::any_of(text.begin(), text.end(), [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return byte < 0x20 || byte == 0x7F;
  });
}

}  // namespace

Result<void> check_name(std::string_view what, std::string_view name) {
  if (name.empty()) return invalid(fmt::format("the {} is empty", what));
  if (name.size() > bounds::name_bytes) {
    return invalid(
        fmt::format("the {} has {} bytes, {} are allowed: {}", what, name.size(), bounds::name_bytes, quoted(name)));
  }
  if (has_control_character(name)) return invalid(fmt::format("the {} has control characters: {}", what, quoted(name)));
  if (!is_utf8(name)) return invalid(fmt::format("the {} is not UTF-8: {}", what, quoted(name)));
  return {};
}

Result<void> check_text(std::string_view what, std::string_view text) {
  if (auto checked = check_size(what, text.size(), bounds::text_bytes); !checked) return checked;
  return check_utf8(what, text);
}

Result<void> check_utf8(std::string_view what, std::string_view text) {
  if (text.find('\0') == std::string_view::npos && is_utf8(text)) return {};
  return invalid(fmt::format("the {} is not UTF-8 text: {}", what, quoted(text)));
}

Result<void> check_span(std::string_view what, Duration span, Duration min, Duration max) {
  if (span >= min && span <= max) return {};
  const auto end = max == bounds::max_delay ? years_of(max) : format_duration(max);
  return invalid(
      fmt::format("{} is {}, not between {} and {}", what, format_duration(span), format_duration(min), end));
}

Result<void> check_ttl(Duration ttl) { return check_span("ttl", ttl, bounds::min_ttl, bounds::max_ttl); }

Result<void> check_new_ttl(const std::optional<Duration>& ttl) { return ttl ? check_ttl(*ttl) : Result<void>(); }

Result<void> check_wait(Duration wait) {
  if (wait >= Duration(0)) return {};
  return invalid(fmt::format("a time to wait of {} is negative", format_duration(wait)));
}

Result<void> check_moment(std::string_view what, Timestamp moment) {
  if (moment >= first_moment && moment < end_of_moments) return {};
  return invalid(fmt::format("a {} of {} is not in the years 1 to {}", what, to_string(moment), bounds::last_year));
}

Duration bounded_wait(Duration wait) { return std::min(wait, bounds::max_delay); }

Result<void> check_range(std::string_view what, std::int64_t value, std::int64_t lowest, std::int64_t highest) {
  if (value >= lowest && value <= highest) return {};
  if (highest == std::numeric_limits<int>::max()) {
    return invalid(fmt::format("{} is {}: write {} or more", what, value, lowest));
  }
  return invalid(fmt::format("{} is {}, not between {} and {}", what, value, lowest, highest));
}

Result<void> check_size(std::string_view what, std::size_t bytes, std::size_t max) {
  if (bytes <= max) return {};
  return invalid(fmt::format("the {} has {} bytes, {} are allowed", what, bytes, max));
}

std::string years_of(Duration span) {
  return fmt::format("{} years", std::chrono::floor<std::chrono::years>(span).count());
}

Result<void> check_list_max(int max) { return check_range("max", max, 1, std::numeric_limits<int>::max()); }

Result<void> check_holder(const Holder& holder) {
  if (auto name = check_name("holder name", holder.name); !name) return name;
  for (const auto* text : {&holder.host, &holder.boot_id, &holder.tty, &holder.instance}) {
    if (auto checked = check_text("holder", *text); !checked) return checked;
  }
  return {};
}

Result<void> check_call(const Call& call) {
  if (call.lease) return invalid("a shared lease is for claims of jobs and chunks: leave it out");
  return check_claim_call(call);
}

Result<void> check_claim_call(const Call& call) {
  if (call.timeout && *call.timeout <= Duration(0)) {
    return invalid(fmt::format("a timeout of {} leaves no time for the call", format_duration(*call.timeout)));
  }
  if (call.lease) {
    if (auto checked = check_text("instance", call.lease->instance); !checked) return checked;
  }
  return call.holder ? check_holder(*call.holder) : Result<void>();
}

BootTime trusted_until(BootTime before_sending, Duration ttl, Duration remaining) {
  const auto margin = std::clamp<Duration>(ttl / 20, std::chrono::milliseconds(5), std::chrono::seconds(1));
  return before_sending + std::min(ttl, remaining) - margin;
}

namespace {

Result<void> check_tags(const std::vector<std::string>& tags) {
  for (const auto& tag : tags) {
    if (auto checked = check_size("tag", tag.size(), bounds::tag_bytes); !checked) return checked;
  }
  return {};
}

}  // namespace

Result<void> check_delay(std::string_view what, Duration delay) {
  return check_span(what, delay, Duration(0), bounds::max_delay);
}

Result<void> check_new_job(const NewJob& job) {
  if (auto checked = model::check_fields_of(job); !checked) return checked;
  if (job.run_at && job.delay != Duration(0)) return invalid("a job has a delay or a time to run at, not both");
  if (job.expires_in && job.expires_at) return invalid("a job expires after a time or at a moment, not both");
  if (!job.metadata.empty() && !is_json_object(job.metadata)) {
    return invalid("the metadata of a job is a JSON object: " + quoted(job.metadata));
  }
  if (job.dedupe_key.empty() && (job.dedupe_mode != DedupeMode::keep || job.dedupe_for)) {
    return invalid("a dedupe mode or period needs a dedupe key");
  }
  if (job.dedupe_mode == DedupeMode::debounce && job.run_at) {
    return invalid("debounce moves a job to a delay from now, not to a moment: set `delay`");
  }
  if (!job.batch.empty() && job.batch == job.on_batch_end) {
    return invalid("a job cannot wait for the end of its own batch");
  }
  return check_tags(job.tags);
}

Result<void> check_verdict(const Verdict& verdict) {
  if (verdict.kind == Verdict::Kind::skip) return invalid("a job cannot be skipped: cancel it, or fail it finally");
  if (verdict.rows || verdict.cursor) return invalid("a job has no rows and no cursor: only chunks have them");
  if (verdict.kind == Verdict::Kind::complete) {
    if (auto checked = check_size("result", verdict.text.size(), bounds::result_bytes); !checked) return checked;
  }
  return check_delay("delay", verdict.delay.value_or(Duration(0)));
}

Result<void> check_progress(const Progress& progress) { return model::check_fields_of(progress); }

Result<void> check_queue_settings(const QueueSettings& settings) {
  if (auto checked = model::check_fields_of(settings); !checked) return checked;
  const auto period = settings.rate_period.value_or(Duration(0));
  const auto count = settings.rate_count.value_or(0);
  if ((count > 0) != (period > Duration(0))) {
    return invalid("a rate needs a count and a period: N claims per period");
  }
  // The stores count in whole microseconds.
  if (count > period.count()) {
    return invalid(fmt::format("a rate of {} is more than one claim per microsecond",
                               format_rate({.count = count, .period = period})));
  }
  const auto timeout = settings.timeout.value_or(Duration(0));
  if (timeout != Duration(0)) {
    if (auto checked = check_span("timeout", timeout, bounds::min_timeout, bounds::max_delay); !checked) return checked;
  }
  const auto ttl = settings.default_ttl.value_or(Duration(0));
  return ttl == Duration(0) ? Result<void>() : check_ttl(ttl);
}

namespace {

/// `what` is for the message: "cursor".
Result<void> check_json(std::string_view what, std::string_view text) {
  if (auto checked = check_size(what, text.size(), bounds::chunk_json_bytes); !checked) return checked;
  if (!is_json(text)) return invalid(fmt::format("the {} must be JSON: {}", what, quoted(text)));
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
  // The message is built only on error: a plan may have millions of chunks.
  if (chunk.spec.size() <= bounds::chunk_json_bytes && is_json(chunk.spec)) return {};
  return check_json("spec of chunk " + quoted(chunk.key), chunk.spec);
}

}  // namespace

Result<void> check_chunk(std::string_view set, std::string_view key) {
  if (auto checked = check_name("set name", set); !checked) return checked;
  return check_name("chunk key", key);
}

Result<void> check_plan(std::string_view set, std::span<const PlannedChunk> chunks, const PlanOptions& options) {
  if (auto checked = check_name("set name", set); !checked) return checked;
  if (auto checked = model::check_fields_of(options); !checked) return checked;
  for (const auto& chunk : chunks) {
    if (auto checked = check_planned(chunk); !checked) return checked;
  }
  return check_no_key_twice(chunks);
}

Result<void> check_chunk_settings(const ChunkSetSettings& settings) { return model::check_fields_of(settings); }

Result<void> check_chunk_save(const ChunkSave& save) { return model::check_fields_of(save); }

Result<void> check_chunk_verdict(const Verdict& verdict) {
  using Kind = Verdict::Kind;
  if (verdict.kind == Kind::snooze) return invalid("a chunk cannot be snoozed: release it, or fail it with a delay");
  if (verdict.kind == Kind::complete && !verdict.text.empty()) return invalid("a chunk has no result: save a cursor");
  if (verdict.kind == Kind::skip) {
    if (verdict.rows || verdict.cursor) return invalid("a skipped chunk saves nothing");
    if (auto checked = check_text("reason", verdict.text); !checked) return checked;
  }
  if (auto checked = check_delay("delay", verdict.delay.value_or(Duration(0))); !checked) return checked;
  return check_chunk_save({.cursor = verdict.cursor, .rows = verdict.rows});
}

Result<void> check_chunk_reset(const ChunkReset& reset) {
  if (reset.which == ChunkReset::Which::keys && reset.keys.empty()) return invalid("no chunk to reset was named");
  return model::check_fields_of(reset);
}

}  // namespace leasehold
