// The panels of `leasehold top`: one for each kind of thing. A panel defines its contents; layout.h places it.
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
  /// The most important first: on a narrow terminal the last ones are left out.
  std::vector<Column> columns;
  std::vector<std::vector<std::string>> rows;
};

TopPanel lease_panel(const TopPicture& picture);
TopPanel queue_panel(const TopPicture& picture);
TopPanel chunk_panel(const TopPicture& picture);
TopPanel session_panel(const TopPicture& picture);
TopPanel schedule_panel(const TopPicture& picture);
TopPanel event_panel(const TopPicture& picture);

/// Headings and some of the rows. Columns without room are left out; unset: no bound.
std::vector<std::string> table_lines(const TopPanel& panel, RowRange range, std::optional<std::size_t> columns);

/// All panels, in the order of their numbers.
std::vector<TopPanel> panels_of(const TopPicture& picture);

/// The counts of a summary: "3 active, 1 stale", each in its colour; zeros are omitted.
struct TopCount {
  std::size_t count = 0;
  std::string shown;  ///< "active"
};
/// `rows` is the length of the list, to show whether it was cut.
std::string summary_of(const std::vector<TopCount>& counts, std::size_t rows);

/// A title, a key or a name on one line, short enough for a table.
std::string short_text(std::string_view text);

}  // namespace leasehold::cli
