// Converts the bytes of a terminal into the keys that `leasehold top` knows.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "cli/top/panel.h"

namespace leasehold::cli {

struct TopKey {
  enum Meaning {
    quit,
    pause,
    help,
    overview,
    panel,
    next_panel,
    previous_panel,
    up,
    down,
    page_up,
    page_down,
    top,
    bottom
  };
  Meaning meaning = quit;
  std::size_t number = 0;  ///< of a panel, from 1

  friend bool operator==(const TopKey&, const TopKey&) = default;
};

/// Over a slow line the few bytes of one key may arrive in pieces. Belongs to one thread.
class TopKeys {
 public:
  /// The complete keys; unknown ones are omitted.
  std::vector<TopKey> take(std::string_view bytes);

  /// Whether the beginning of a key is pending. If its rest does not arrive soon, it was the escape key itself.
  [[nodiscard]] bool expects_more() const { return !pending_.empty(); }
  std::vector<TopKey> give_up_waiting();

 private:
  std::string pending_;
};

// What the user has chosen to see of `leasehold top`. Keys change it; layout.h draws it.
struct TopView {
  static constexpr std::size_t overview = 0;

  std::size_t chosen = overview;  ///< a panel by its number, from 1; or the overview
  std::size_t first_row = 0;      ///< how far the chosen panel is scrolled
  bool help = false;
  bool paused = false;
  bool ended = false;

  /// `panels` is their number; `page` is the number of rows that fit. Scrolling may go too far: drawing finds the end.
  void press(TopKey key, std::size_t panels, std::size_t page);

 private:
  void choose(std::size_t panel);
  void scroll_up(std::size_t rows);
};

// The keys of `leasehold top`, in a line and on a page.
std::string keys_line(std::size_t panels);

std::vector<std::string> help_lines(const std::vector<TopPanel>& panels);

}  // namespace leasehold::cli
