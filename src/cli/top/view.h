// From the bytes that a terminal sends to the keys that `leasehold top` knows.
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

/// Over a slow line the few bytes of one key may come in pieces. Belongs to one thread.
class TopKeys {
 public:
  /// The keys that are complete; what means nothing here is left out.
  std::vector<TopKey> take(std::string_view bytes);

  /// Whether the beginning of a key is there. If its rest does not come soon, it was the escape key alone.
  [[nodiscard]] bool expects_more() const { return !pending_.empty(); }
  std::vector<TopKey> give_up_waiting();

 private:
  std::string pending_;
};

// What a person has chosen to see of `leasehold top`. Keys change it; top_layout.h draws it.
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

// The keys of `leasehold top`, in a line and on a page.
std::string keys_line(std::size_t panels);

std::vector<std::string> help_lines(const std::vector<TopPanel>& panels);

}  // namespace leasehold::cli
