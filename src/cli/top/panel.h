// The panels of `leasehold top`: one for each kind of thing there is to look at, one file each. A panel says what it
// shows; top_layout.h says where.
//
//   TopPanel lease_panel(const TopPicture& picture);       // top_leases.cc
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/print/table.h"
#include "cli/top/picture.h"

namespace leasehold::cli {

struct TopPanel {
  std::string name;     ///< "sessions"
  std::string summary;  ///< "3 active, 1 stale"; "none"
  /// What matters most comes first: where the terminal is narrow, the last ones are left out.
  std::vector<Column> columns;
  std::vector<std::vector<std::string>> rows;
};

TopPanel lease_panel(const TopPicture& picture);
TopPanel queue_panel(const TopPicture& picture);
TopPanel chunk_panel(const TopPicture& picture);
TopPanel session_panel(const TopPicture& picture);
TopPanel schedule_panel(const TopPicture& picture);
TopPanel event_panel(const TopPicture& picture);

/// Headings and some of the rows. Columns that find no room are left out; unset: there is room.
std::vector<std::string> table_lines(const TopPanel& panel, RowRange range, std::optional<std::size_t> columns);

/// All of them, in the order of their numbers.
std::vector<TopPanel> panels_of(const TopPicture& picture);

/// What a summary counts: "3 active, 1 stale", each in its colour, those that are 0 left out.
struct TopCount {
  std::size_t count = 0;
  std::string shown;  ///< "active"
};
/// `rows`: how long the list is, to say so where it was cut.
std::string summary_of(const std::vector<TopCount>& counts, std::size_t rows);

/// A title, a key or a name on one line, not longer than anybody reads in a table.
std::string short_text(std::string_view text);

}  // namespace leasehold::cli
