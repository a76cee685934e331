#include "model/job_text.h"

#include <fmt/format.h>
#include <charconv>

#include "base/text.h"
#include "base/time_text.h"
#include "model/words.h"

namespace leasehold {
namespace {

Error not_a_backoff(std::string_view text) {
  return {.code = Errc::invalid_argument,
          .message = quoted(text) + " is not a backoff: write 5s..1h (doubling up to an hour) or 5s (always)"};
}

Error not_a_rate(std::string_view text) {
  return {.code = Errc::invalid_argument, .message = quoted(text) + " is not a rate: write 100/1m or 5/1s"};
}

}  // namespace

Result<Backoff> parse_backoff(std::string_view text) {
  constexpr std::string_view range = "..";
  const auto dots = text.find(range);
  const auto base = parse_duration(text.substr(0, dots));
  if (!base) return not_a_backoff(text);
  if (dots == std::string_view::npos) return Backoff{.base = *base, .max = *base, .exponential = false};
  const auto max = parse_duration(text.substr(dots + range.size()));
  if (!max || *max < *base) return not_a_backoff(text);
  return Backoff{.base = *base, .max = *max, .exponential = true};
}

Result<IfFailed> parse_if_failed(std::string_view text) {
  if (const auto rule = from_word<IfFailed>(text)) return *rule;
  return Error{.code = Errc::invalid_argument, .message = quoted(text) + " is not cancel, run or wait"};
}

Result<DedupeMode> parse_dedupe_mode(std::string_view text) {
  if (const auto mode = from_word<DedupeMode>(text)) return *mode;
  return Error{.code = Errc::invalid_argument, .message = quoted(text) + " is not keep, replace or debounce"};
}

Result<Rate> parse_rate(std::string_view text) {
  const auto slash = text.find('/');
  if (slash == std::string_view::npos) return not_a_rate(text);
  Rate rate;
  const auto* end = text.data() + slash;
  const auto parsed = std::from_chars(text.data(), end, rate.count);
  const auto period = parse_duration(text.substr(slash + 1));
  if (parsed.ec != std::errc() || parsed.ptr != end || rate.count < 1) return not_a_rate(text);
  if (!period || *period <= Duration(0)) return not_a_rate(text);
  rate.period = *period;
  return rate;
}

std::string format_rate(const Rate& rate) { return fmt::format("{}/{}", rate.count, format_duration(rate.period)); }

}  // namespace leasehold
