// What a person has chosen to see of `leasehold top`. Keys change it; top_layout.h draws it.
#pragma once

#include <cstddef>

#include "cli/top_keys.h"

namespace leasehold::cli {

struct TopView {
  static constexpr std::size_t overview = 0;

  std::size_t chosen = overview;  ///< a panel by its number, from 1; or all of them
  std::size_t first_row = 0;      ///< of the chosen panel: how far it is scrolled
  bool help = false;
  bool paused = false;
  bool ended = false;

  /// `panels`: how many there are; `page`: how many rows one has room for. Scrolling may go too far: drawing knows
  /// where the end is.
  void press(TopKey key, std::size_t panels, std::size_t page);

 private:
  void choose(std::size_t panel);
  void scroll_up(std::size_t rows);
};

}  // namespace leasehold::cli
