#include "cli/work_progress.h"

#include <charconv>

#include "base/text.h"
#include "core/job_limits.h"

namespace leasehold::cli {
namespace {

/// A number in front is the percentage, if a percentage it can be and a word ends after it.
std::optional<int> take_percent(std::string_view& text) {
  int number = 0;
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (failure != std::errc() || number < 0 || number > 100) return std::nullopt;
  auto rest = text.substr(static_cast<std::size_t>(end - text.data()));
  if (rest.starts_with('%')) rest.remove_prefix(1);
  if (!rest.empty() && rest.front() != ' ' && rest.front() != '\t') return std::nullopt;
  text = trimmed(rest);
  return number;
}

}  // namespace

wire::ProgressReport parse_progress_line(std::string_view line) {
  auto text = trimmed(line);
  if (text.starts_with('{')) {
    if (auto report = wire::progress_from(text)) {
      report->stage = clean_text(report->stage, max_stage_bytes);
      return *report;
    }
  }
  wire::ProgressReport report;
  report.percent = take_percent(text);
  report.message = text;
  return report;
}

}  // namespace leasehold::cli
