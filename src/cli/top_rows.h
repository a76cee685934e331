// The rows of a panel of `leasehold top` as a table that fits the screen.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "cli/top_panel.h"

namespace leasehold::cli {

struct RowRange {
  std::size_t first = 0;
  std::size_t count = 0;
};

/// Headings and some of the rows. Columns that find no room are left out, from the last one on; unset: there is room.
std::vector<std::string> table_lines(const TopPanel& panel, RowRange range, std::optional<std::size_t> columns);

}  // namespace leasehold::cli
