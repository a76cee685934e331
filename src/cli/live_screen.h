// Lines on a terminal that are written over again in place.
//
//   LiveScreen screen;
//   for (...) screen.show(lines);      // the last ones stay
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace leasehold::cli {

/// Only where stdout is a terminal. Belongs to one thread.
class LiveScreen {
 public:
  /// In place of what was shown before. Lines that are too long are cut by the terminal, lines that are too many by us:
  /// what has scrolled away could not be written over.
  void show(const std::vector<std::string>& lines);

  /// Before something else is written: what was shown stays.
  void leave() { shown_ = 0; }

  /// How many lines there is room for.
  [[nodiscard]] static std::size_t height();

 private:
  std::size_t shown_ = 0;
};

}  // namespace leasehold::cli
