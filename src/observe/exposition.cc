#include "observe/exposition.h"

#include <fmt/format.h>

namespace leasehold::observe {
namespace {

// Label values may be any text: the format escapes these three characters.
std::string escaped(std::string_view text, bool quotes) {
  std::string out;
  for (const char character : text) {
    if (character == '\\') {
      out += "\\\\";
    } else if (character == '\n') {
      out += "\\n";
    } else if (character == '"' && quotes) {
      out += "\\\"";
    } else {
      out += character;
    }
  }
  return out;
}

}  // namespace

std::string seconds_text(Duration span) { return fmt::format("{}", std::chrono::duration<double>(span).count()); }

void Exposition::family(std::string_view name, std::string_view type, std::string_view help) {
  name_ = name;
  text_ += fmt::format("# HELP {} {}\n# TYPE {} {}\n", name, escaped(help, false), name, type);
}

void Exposition::line(std::string_view suffix, std::span<const Label> labels, std::string_view value) {
  text_ += name_;
  text_ += suffix;
  for (std::size_t i = 0; i < labels.size(); ++i) {
    text_ += i == 0 ? '{' : ',';
    text_ += fmt::format("{}=\"{}\"", labels[i].first, escaped(labels[i].second, true));
  }
  if (!labels.empty()) text_ += '}';
  text_ += ' ';
  text_ += value;
  text_ += '\n';
}

void Exposition::sample(std::span<const Label> labels, std::int64_t value) {
  line("", labels, fmt::format("{}", value));
}

void Exposition::sample(std::span<const Label> labels, double value) { line("", labels, fmt::format("{}", value)); }

void Exposition::histogram(std::span<const Label> labels, Bounds bounds, std::span<const std::int64_t> counts,
                           Duration sum) {
  std::vector<Label> with_bound(labels.begin(), labels.end());
  with_bound.emplace_back("le", "");
  std::int64_t so_far = 0;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    so_far += counts[i];
    const auto bound = i < bounds.size() ? seconds_text(bounds[i]) : "+Inf";
    with_bound.back().second = bound;
    line("_bucket", with_bound, fmt::format("{}", so_far));
  }
  line("_sum", labels, seconds_text(sum));
  line("_count", labels, fmt::format("{}", so_far));
}

}  // namespace leasehold::observe
