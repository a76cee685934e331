#include "cli/table.h"

#include <algorithm>
#include <numeric>

#include "cli/print.h"

namespace leasehold::cli {
namespace {

constexpr std::size_t gap = 2;
/// A shorter rest of a name tells nothing.
constexpr std::size_t shortest_cut = 8;

}  // namespace

Table::Table(std::vector<Column> columns) : columns_(std::move(columns)) {
  auto& headings = rows_.emplace_back();
  for (const auto& column : columns_) headings.push_back(column.heading);
}

std::vector<std::size_t> Table::widths() const {
  std::vector<std::size_t> widths(columns_.size());
  for (const auto& row : rows_) {
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], width_of(row[i]));
  }
  return widths;
}

/// Takes from the widest column that may be cut, a character at a time, until the line fits or nothing is left to take.
void Table::fit(std::vector<std::size_t>& widths, std::size_t line) const {
  auto total = std::accumulate(widths.begin(), widths.end(), gap * (widths.size() - 1));
  for (; total > line; --total) {
    auto* widest = static_cast<std::size_t*>(nullptr);
    for (std::size_t i = 0; i < widths.size(); ++i) {
      const bool may_shrink = columns_[i].kind == Column::may_be_cut && widths[i] > shortest_cut;
      if (may_shrink && (widest == nullptr || widths[i] > *widest)) widest = &widths[i];
    }
    if (widest == nullptr) return;
    --*widest;
  }
}

std::string Table::line_of(const std::vector<std::string>& row, const std::vector<std::size_t>& widths) const {
  std::string line;
  for (std::size_t i = 0; i < row.size(); ++i) {
    const auto kind = columns_[i].kind;
    const auto cell = kind == Column::may_be_cut ? cut_to(row[i], widths[i]) : row[i];
    const std::string padding(widths[i] - std::min(widths[i], width_of(cell)), ' ');
    line += kind == Column::to_the_right ? padding + cell : cell + padding;
    line.append(gap, ' ');
  }
  return line.substr(0, line.find_last_not_of(' ') + 1);
}

std::vector<std::string> Table::lines() const { return lines(terminal_width()); }

std::vector<std::string> Table::lines(std::optional<std::size_t> columns) const {
  auto fitting = widths();
  if (columns) fit(fitting, *columns);
  std::vector<std::string> lines;
  for (const auto& row : rows_) lines.push_back(line_of(row, fitting));
  return lines;
}

void Table::print() const {
  for (const auto& line : lines()) print_line(line);
}

}  // namespace leasehold::cli
