#include "cli/agents/agent_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <vector>

namespace leasehold::cli {
namespace {

constexpr std::size_t context_lines = 3;

struct Line {
  char sign;  ///< ' ', '-', '+'
  std::string_view text;
};

std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const auto length = std::min(text.find('\n'), text.size());
    lines.push_back(text.substr(0, length));
    text.remove_prefix(std::min(length + 1, text.size()));
  }
  return lines;
}

/// By the longest common subsequence: the files have a few hundred lines.
std::vector<Line> compare(const std::vector<std::string_view>& before, const std::vector<std::string_view>& after) {
  const auto columns = after.size() + 1;
  std::vector<std::size_t> common((before.size() + 1) * columns, 0);
  for (std::size_t i = before.size(); i-- > 0;) {
    for (std::size_t j = after.size(); j-- > 0;) {
      common[i * columns + j] = before[i] == after[j]
                                    ? common[(i + 1) * columns + j + 1] + 1
                                    : std::max(common[(i + 1) * columns + j], common[i * columns + j + 1]);
    }
  }
  std::vector<Line> lines;
  std::size_t i = 0;
  std::size_t j = 0;
  while (i < before.size() || j < after.size()) {
    if (i < before.size() && j < after.size() && before[i] == after[j]) {
      lines.push_back({' ', before[i]});
      ++i, ++j;
    } else if (j == after.size() ||
               (i < before.size() && common[(i + 1) * columns + j] >= common[i * columns + j + 1])) {
      lines.push_back({'-', before[i++]});
    } else {
      lines.push_back({'+', after[j++]});
    }
  }
  return lines;
}

}  // namespace

std::string text_diff(std::string_view path, std::string_view before, std::string_view after) {
  if (before == after) return {};
  const auto lines = compare(lines_of(before), lines_of(after));
  std::vector<bool> shown(lines.size(), false);
  for (std::size_t at = 0; at < lines.size(); ++at) {
    if (lines[at].sign == ' ') continue;
    const auto from = at < context_lines ? 0 : at - context_lines;
    const auto to = std::min(lines.size(), at + context_lines + 1);
    std::fill(shown.begin() + static_cast<std::ptrdiff_t>(from), shown.begin() + static_cast<std::ptrdiff_t>(to), true);
  }
  auto out = fmt::format("--- {}\n+++ {}\n", before.empty() ? "/dev/null" : path, after.empty() ? "/dev/null" : path);
  for (std::size_t at = 0; at < lines.size(); ++at) {
    if (!shown[at]) continue;
    if (at > 0 && !shown[at - 1]) out += "...\n";
    out += fmt::format("{}{}\n", lines[at].sign, lines[at].text);
  }
  return out;
}

}  // namespace leasehold::cli
