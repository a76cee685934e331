// The screen layout of `leasehold top`. Pure: panels, the view and a size give lines.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "cli/top/panel.h"
#include "cli/top/view.h"

namespace leasehold::cli {

struct ScreenSize {
  std::size_t columns = 80;
  std::size_t lines = 24;

  friend bool operator==(const ScreenSize&, const ScreenSize&) = default;
};

/// The lines above the panels.
struct TopHead {
  std::string store;    ///< "sqlite:work.db"
  std::string clock;    ///< "14:03:22", of the picture
  std::string trouble;  ///< why there is no newer picture; empty if there is
};

struct TopFrame {
  std::vector<std::string> lines;  ///< at most as many and as wide as the screen
  std::size_t first_row = 0;       ///< the row at which the chosen panel really begins
  std::size_t page = 0;            ///< the number of rows it has room for
};

TopFrame laid_out(const std::vector<TopPanel>& panels, const TopView& view, const TopHead& head, ScreenSize size);

/// The panels one after another, with all their rows, as wide as the terminal if there is one.
std::vector<std::string> written_out(const std::vector<TopPanel>& panels, std::optional<std::size_t> columns);

/// Up to `columns` columns of a text with colours.
std::string clipped(std::string_view line, std::size_t columns);

}  // namespace leasehold::cli
