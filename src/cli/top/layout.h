// Where everything stands on the screen of `leasehold top`. Pure: panels, what was chosen and a size give lines.
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

/// What stands above the panels.
struct TopHead {
  std::string store;    ///< "sqlite:work.db"
  std::string clock;    ///< "14:03:22", of the picture
  std::string trouble;  ///< why there is no newer picture; empty: there is
};

struct TopFrame {
  std::vector<std::string> lines;  ///< no more, and none wider, than the screen has room for
  std::size_t first_row = 0;       ///< where the chosen panel really begins
  std::size_t page = 0;            ///< how many rows it has room for
};

TopFrame laid_out(const std::vector<TopPanel>& panels, const TopView& view, const TopHead& head, ScreenSize size);

/// One after the other, with all their rows, as wide as the terminal where there is one.
std::vector<std::string> written_out(const std::vector<TopPanel>& panels, std::optional<std::size_t> columns);

/// At most so many columns of a text with colours in it.
std::string clipped(std::string_view line, std::size_t columns);

}  // namespace leasehold::cli
