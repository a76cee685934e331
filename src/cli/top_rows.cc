#include "cli/top_rows.h"

#include <algorithm>

#include "cli/print.h"

namespace leasehold::cli {
namespace {

constexpr std::size_t gap = 2;
/// A column that is cut to less than this is not worth the room that a further one takes away...
constexpr std::size_t comfortable = 16;
/// ...unless there would be less than so many columns left; then this is the least.
constexpr std::size_t fewest_columns = 4;
constexpr std::size_t bearable = 8;

/// How wide a column wants to be. All rows count, so that scrolling moves nothing sideways.
std::size_t natural_width(const TopPanel& panel, std::size_t column) {
  auto width = width_of(panel.columns[column].heading);
  for (const auto& row : panel.rows) width = std::max(width, width_of(row[column]));
  return width;
}

/// How many columns there is room for when those that may be cut are cut to `least`.
std::size_t columns_within(const TopPanel& panel, std::size_t line, std::size_t least) {
  std::size_t taken = 0;
  for (std::size_t i = 0; i < panel.columns.size(); ++i) {
    const auto natural = natural_width(panel, i);
    const bool may_be_cut = panel.columns[i].kind == Column::may_be_cut;
    taken += (i > 0 ? gap : 0) + (may_be_cut ? std::min(natural, least) : natural);
    if (taken > line) return i;
  }
  return panel.columns.size();
}

std::size_t fitting_columns(const TopPanel& panel, std::optional<std::size_t> line) {
  if (!line) return panel.columns.size();
  const auto comfortably = columns_within(panel, *line, comfortable);
  if (comfortably >= fewest_columns) return comfortably;
  return std::clamp<std::size_t>(columns_within(panel, *line, bearable), 1, fewest_columns);
}

}  // namespace

std::vector<std::string> table_lines(const TopPanel& panel, RowRange range, std::optional<std::size_t> columns) {
  const auto count = static_cast<std::ptrdiff_t>(fitting_columns(panel, columns));
  Table table(std::vector<Column>(panel.columns.begin(), panel.columns.begin() + count));
  const auto end = std::min(panel.rows.size(), range.first + range.count);
  for (auto i = range.first; i < end; ++i) {
    const auto& row = panel.rows[i];
    table.add(std::vector<std::string>(row.begin(), row.begin() + count));
  }
  return table.lines(columns);
}

}  // namespace leasehold::cli
