#include "core/job_limits.h"

#include <fmt/format.h>

#include <limits>

#include "base/invalid.h"
#include "base/text.h"
#include "core/duration.h"
#include "core/limits.h"

namespace leasehold {
namespace {

Result<void> check_key(std::string_view what, std::string_view key) {
  if (key.empty()) return {};
  return check_name(what, key);
}

Result<void> check_tags(const std::vector<std::string>& tags) {
  if (tags.size() > max_tags)
    return invalid(fmt::format("{} tags are too many, {} are allowed", tags.size(), max_tags));
  for (const auto& tag : tags) {
    if (auto checked = check_name("tag", tag); !checked) return checked;
    if (auto checked = check_size("tag", tag.size(), max_tag_bytes); !checked) return checked;
  }
  return {};
}

Result<void> check_backoff(const Backoff& backoff) {
  if (auto checked = check_delay("backoff", backoff.base); !checked) return checked;
  return check_delay("longest backoff", backoff.most);
}

Result<void> check_times(const NewJob& job) {
  if (job.run_at && job.delay != Duration(0)) return invalid("a job has a delay or a time to run at, not both");
  return check_delay("delay", job.delay);
}

}  // namespace

Result<void> check_delay(std::string_view what, Duration delay) {
  if (delay >= Duration(0) && delay <= max_delay) return {};
  return invalid(fmt::format("a {} of {} is not between 0s and 100 years", what, format_duration(delay)));
}

Result<void> check_most(int most) { return check_range("claim", most, 1, max_claim); }

Result<void> check_new_job(const NewJob& job) {
  using Priority = std::numeric_limits<std::int16_t>;
  if (auto checked = check_size("payload", job.payload.size(), max_payload_bytes); !checked) return checked;
  if (auto checked = check_range("priority", job.priority, Priority::min(), Priority::max()); !checked) return checked;
  if (auto checked = check_times(job); !checked) return checked;
  if (auto checked = check_key("dedupe key", job.dedupe_key); !checked) return checked;
  if (auto checked = check_key("limit key", job.limit_key); !checked) return checked;
  if (auto checked = check_range("failure budget", job.failure_budget, 1, max_budget); !checked) return checked;
  if (auto checked = check_range("crash budget", job.crash_budget, 1, max_budget); !checked) return checked;
  if (auto checked = check_backoff(job.backoff); !checked) return checked;
  return check_tags(job.tags);
}

Result<void> check_result(std::string_view result) { return check_size("result", result.size(), max_result_bytes); }

Result<void> check_progress(const Progress& progress) {
  if (progress.percent) {
    if (auto checked = check_range("percentage", *progress.percent, 0, 100); !checked) return checked;
  }
  if (progress.stage.empty()) return {};
  if (auto checked = check_name("stage", progress.stage); !checked) return checked;
  return check_size("stage", progress.stage.size(), max_stage_bytes);
}

Result<void> check_queue_settings(const QueueSettings& settings) {
  constexpr auto most = std::numeric_limits<int>::max();
  for (const auto& [what, limit] :
       {std::pair{"limit of running jobs", settings.max_running}, std::pair{"limit per key", settings.max_per_key},
        std::pair{"rate", settings.rate_count}}) {
    if (auto checked = check_range(what, limit.value_or(0), 0, most); !checked) return checked;
  }
  const auto period = settings.rate_period.value_or(Duration(0));
  if (auto checked = check_delay("period", period); !checked) return checked;
  if ((settings.rate_count.value_or(0) > 0) != (period > Duration(0))) {
    return invalid("a rate needs a count and a period: so many claims in this time");
  }
  const auto ttl = settings.default_ttl.value_or(Duration(0));
  return ttl == Duration(0) ? Result<void>() : check_ttl(ttl);
}

}  // namespace leasehold
