#include "cli/top/layout.h"

#include <fmt/format.h>
#include <algorithm>

#include "cli/print/print.h"
#include "cli/top/view.h"

namespace leasehold::cli {
namespace {

constexpr std::size_t default_columns = 80;
/// A smaller screen has no line for the keys.
constexpr std::size_t fewest_lines_with_keys = 6;
/// An open panel: its title, the headings, a row.
constexpr std::size_t fewest_lines_open = 3;

std::string spread(const std::string& left, const std::string& right, std::size_t columns) {
  const auto taken = width_of(left) + width_of(right);
  return taken + 2 > columns ? left : left + std::string(columns - taken, ' ') + right;
}

/// "-- 4 sessions  3 active, 1 stale ----------"
std::string title_of(const TopPanel& panel, std::size_t number, std::size_t hidden, std::size_t columns) {
  const auto more = hidden == 0 ? "" : fmt::format(" ({} more)", hidden);
  const auto text =
      fmt::format("{} {} {}  {}{} ", coloured(Tone::faint, "──"), number, panel.name, panel.summary, more);
  const auto taken = std::min(width_of(text), columns);
  std::string rule;
  for (auto rest = columns - taken; rest > 0; --rest) rule += "─";
  return text + coloured(Tone::faint, rule);
}

std::string head_line(const TopView& view, const TopHead& head, std::size_t columns) {
  const auto clock = view.paused ? coloured(Tone::warning, "paused at " + head.clock) : head.clock;
  const auto room = columns - std::min(columns, width_of(clock) + 2);
  return spread(cut_to("leasehold top  " + printable(head.store), std::max<std::size_t>(room, 1)), clock, columns);
}

/// The number of lines per panel: one for its title; the rest is divided evenly among those with rows.
std::vector<std::size_t> shares_of(const std::vector<TopPanel>& panels, std::size_t lines) {
  std::vector<std::size_t> shares(panels.size(), 1);
  auto left = lines - std::min(lines, panels.size());
  for (std::size_t i = 0; i < panels.size() && left >= fewest_lines_open - 1; ++i) {
    if (panels[i].rows.empty()) continue;
    shares[i] = fewest_lines_open;
    left -= fewest_lines_open - 1;
  }
  for (bool given = true; given && left > 0;) {
    given = false;
    for (std::size_t i = 0; i < panels.size() && left > 0; ++i) {
      const bool open = shares[i] >= fewest_lines_open && shares[i] < panels[i].rows.size() + 2;
      if (!open) continue;
      ++shares[i];
      --left;
      given = true;
    }
  }
  return shares;
}

void append(std::vector<std::string>& lines, const std::vector<std::string>& more) {
  lines.insert(lines.end(), more.begin(), more.end());
}

void add_overview(TopFrame& frame, const std::vector<TopPanel>& panels, std::size_t columns, std::size_t lines) {
  const auto shares = shares_of(panels, lines);
  for (std::size_t i = 0; i < panels.size(); ++i) {
    const auto rows = shares[i] >= fewest_lines_open ? shares[i] - 2 : 0;
    frame.lines.push_back(title_of(panels[i], i + 1, panels[i].rows.size() - rows, columns));
    if (rows > 0) append(frame.lines, table_lines(panels[i], {.first = 0, .count = rows}, columns));
  }
}

/// "1 leases  2 queues  3 chunks  [4 sessions]  5 schedules  6 events"; without the names if there is no room for them.
std::string tabs_of(const std::vector<TopPanel>& panels, std::size_t chosen, std::size_t columns) {
  std::string tabs;
  std::string numbers;
  for (std::size_t i = 0; i < panels.size(); ++i) {
    const auto tab = fmt::format("{} {}", i + 1, panels[i].name);
    const bool here = i + 1 == chosen;
    tabs += here ? fmt::format(" [{}]", tab) : coloured(Tone::faint, fmt::format("  {} ", tab));
    numbers += here ? fmt::format(" [{}]", tab) : coloured(Tone::faint, fmt::format(" {}", i + 1));
  }
  return width_of(tabs) <= columns ? tabs : numbers;
}

void add_panel(TopFrame& frame, const std::vector<TopPanel>& panels, const TopView& view, std::size_t columns,
               std::size_t lines) {
  constexpr std::size_t above_rows = 3;
  const auto& panel = panels[view.chosen - 1];
  const auto count = panel.rows.size();
  frame.page = std::max<std::size_t>(lines, above_rows + 1) - above_rows;
  frame.first_row = std::min(view.first_row, count - std::min(count, frame.page));
  const auto last = std::min(count, frame.first_row + frame.page);
  const auto shown = count > frame.page ? fmt::format("  rows {}-{} of {}", frame.first_row + 1, last, count) : "";
  frame.lines.push_back(tabs_of(panels, view.chosen, columns));
  frame.lines.push_back(panel.summary + shown);
  if (count > 0) append(frame.lines, table_lines(panel, {.first = frame.first_row, .count = frame.page}, columns));
}

}  // namespace

std::string clipped(std::string_view line, std::size_t columns) {
  if (width_of(line) <= columns) return std::string(line);
  std::string kept;
  std::size_t width = 0;
  while (!line.empty()) {
    // Colours take no room, and the sequence that ends them must not be lost.
    const bool escape = line.front() == '\x1b';
    const auto next = escape ? DisplayedCharacter{.bytes = std::min(line.find('m'), line.size() - 1) + 1, .columns = 0}
                             : first_character(line);
    width += next.columns;
    if (escape || width <= columns) kept += line.substr(0, next.bytes);
    line.remove_prefix(next.bytes);
  }
  return kept;
}

TopFrame laid_out(const std::vector<TopPanel>& panels, const TopView& view, const TopHead& head, ScreenSize size) {
  TopFrame frame;
  frame.lines.push_back(head_line(view, head, size.columns));
  if (!head.trouble.empty()) frame.lines.push_back(coloured(Tone::bad, cut_to(head.trouble, size.columns)));
  const bool with_keys = size.lines >= fewest_lines_with_keys;
  const auto taken = frame.lines.size() + (with_keys ? 1 : 0);
  const auto body = size.lines - std::min(size.lines, taken);
  if (view.help) {
    append(frame.lines, help_lines(panels));
  } else if (view.chosen == TopView::overview) {
    add_overview(frame, panels, size.columns, body);
  } else {
    add_panel(frame, panels, view, size.columns, body);
  }
  frame.lines.resize(std::min(frame.lines.size(), size.lines - (with_keys ? 1 : 0)));
  if (with_keys) {
    frame.lines.resize(size.lines - 1);
    frame.lines.push_back(coloured(Tone::faint, keys_line(panels.size())));
  }
  for (auto& line : frame.lines) line = clipped(line, size.columns);
  return frame;
}

std::vector<std::string> written_out(const std::vector<TopPanel>& panels, std::optional<std::size_t> columns) {
  std::vector<std::string> lines;
  for (std::size_t i = 0; i < panels.size(); ++i) {
    const auto& panel = panels[i];
    lines.push_back(title_of(panel, i + 1, 0, columns.value_or(default_columns)));
    if (!panel.rows.empty()) append(lines, table_lines(panel, {.first = 0, .count = panel.rows.size()}, columns));
    if (i + 1 < panels.size()) lines.emplace_back();
  }
  return lines;
}

}  // namespace leasehold::cli
