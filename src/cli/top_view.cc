#include "cli/top_view.h"

#include <algorithm>
#include <limits>

namespace leasehold::cli {
namespace {

/// So that adding a page to it does not begin anew.
constexpr std::size_t far_down = std::numeric_limits<std::size_t>::max() / 2;

}  // namespace

void TopView::choose(std::size_t panel) {
  chosen = panel;
  first_row = 0;
  help = false;
}

void TopView::scroll_up(std::size_t rows) { first_row -= std::min(rows, first_row); }

void TopView::press(TopKey key, std::size_t panels, std::size_t page) {
  // The overview is one more stop on the way round.
  const auto stops = panels + 1;
  switch (key.meaning) {
    case TopKey::quit: ended = true; break;
    case TopKey::pause: paused = !paused; break;
    case TopKey::help: help = !help; break;
    case TopKey::overview: choose(overview); break;
    case TopKey::panel:
      if (key.number <= panels) choose(key.number);
      break;
    case TopKey::next_panel: choose((chosen + 1) % stops); break;
    case TopKey::previous_panel: choose((chosen + panels) % stops); break;
    case TopKey::up: scroll_up(1); break;
    case TopKey::down: ++first_row; break;
    case TopKey::page_up: scroll_up(page); break;
    case TopKey::page_down: first_row += page; break;
    case TopKey::top: first_row = 0; break;
    case TopKey::bottom: first_row = far_down; break;
  }
}

}  // namespace leasehold::cli
