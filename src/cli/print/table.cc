#include "cli/print/table.h"

#include <algorithm>
#include <limits>

#include "cli/print/print.h"

namespace leasehold::cli {
namespace {

constexpr std::size_t gap = 2;
/// A column cut to less than this is not worth the room it takes from another one...
constexpr std::size_t comfortable = 16;
/// ...unless fewer than this many columns would be left; then `bearable` is the minimum.
constexpr std::size_t fewest_columns = 4;
constexpr std::size_t bearable = 8;

}  // namespace

std::vector<Table::Shown> Table::all_shown() const {
  std::vector<Shown> shown;
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    auto width = width_of(columns_[i].heading);
    for (const auto& row : rows_) width = std::max(width, width_of(row[i]));
    shown.push_back({.column = i, .width = width});
  }
  return shown;
}

/// The width of a line if cuttable columns are cut to `min`.
std::size_t Table::least_width(const std::vector<Shown>& shown, std::size_t min) const {
  std::size_t total = gap * (shown.size() - 1);
  for (const auto& [column, width] : shown) {
    total += columns_[column].kind == Column::may_be_cut ? std::min(width, min) : width;
  }
  return total;
}

void Table::leave_out(std::vector<Shown>& shown, std::size_t line) const {
  const auto too_wide = [&](std::size_t fewest, std::size_t min) {
    return shown.size() > fewest && least_width(shown, min) > line;
  };
  while (too_wide(fewest_columns, comfortable) || too_wide(1, bearable)) {
    // Among equals the last.
    auto min = shown.begin() + 1;
    for (auto at = min; at != shown.end(); ++at) {
      if (columns_[at->column].importance <= columns_[min->column].importance) min = at;
    }
    shown.erase(min);
  }
}

/// Shrinks the widest cuttable column, one character at a time, until the line fits or nothing can shrink.
void Table::cut(std::vector<Shown>& shown, std::size_t line) const {
  constexpr auto unlimited = std::numeric_limits<std::size_t>::max();
  const std::size_t shortest = shown.size() == 1 ? 1 : bearable;
  for (auto total = least_width(shown, unlimited); total > line; --total) {
    Shown* widest = nullptr;
    for (auto& each : shown) {
      const bool may_shrink = columns_[each.column].kind == Column::may_be_cut && each.width > shortest;
      if (may_shrink && (widest == nullptr || each.width > widest->width)) widest = &each;
    }
    if (widest == nullptr) return;
    --widest->width;
  }
}

/// `cell` returns the text of a column.
template <typename Cell>
std::string Table::line_of(const std::vector<Shown>& shown, Cell cell) const {
  std::string line;
  for (const auto& [column, width] : shown) {
    const auto kind = columns_[column].kind;
    const std::string& whole = cell(column);
    const auto text = kind == Column::may_be_cut ? cut_to(whole, width) : whole;
    const std::string padding(width - std::min(width, width_of(text)), ' ');
    line += kind == Column::to_the_right ? padding + text : text + padding;
    line.append(gap, ' ');
  }
  return line.substr(0, line.find_last_not_of(' ') + 1);
}

std::vector<std::string> Table::lines() const { return lines(terminal_width(), {.first = 0, .count = rows_.size()}); }

std::vector<std::string> Table::lines(std::optional<std::size_t> line, RowRange range) const {
  auto shown = all_shown();
  if (line) {
    leave_out(shown, *line);
    cut(shown, *line);
  }
  std::vector<std::string> lines;
  lines.push_back(line_of(shown, [&](std::size_t i) -> const std::string& { return columns_[i].heading; }));
  const auto end = std::min(rows_.size(), range.first + range.count);
  for (auto row = range.first; row < end; ++row) {
    lines.push_back(line_of(shown, [&](std::size_t i) -> const std::string& { return rows_[row][i]; }));
  }
  return lines;
}

void Table::print() const {
  for (const auto& line : lines()) print_line(line);
}

}  // namespace leasehold::cli
