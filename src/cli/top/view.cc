#include "cli/top/view.h"

#include <fmt/format.h>
#include <algorithm>
#include <limits>
#include <optional>
#include <utility>

namespace leasehold::cli {
namespace {

constexpr char escape = '\x1b';

/// The text between ESC [ (or ESC O on some terminals) and the end of a key, and its meaning.
constexpr std::pair<std::string_view, TopKey::Meaning> sequences[] = {
    {"A", TopKey::up},
    {"B", TopKey::down},
    {"C", TopKey::next_panel},
    {"D", TopKey::previous_panel},
    {"H", TopKey::top},
    {"F", TopKey::bottom},
    {"1~", TopKey::top},
    {"4~", TopKey::bottom},
    {"7~", TopKey::top},
    {"8~", TopKey::bottom},
    {"5~", TopKey::page_up},
    {"6~", TopKey::page_down},
    {"Z", TopKey::previous_panel},
};

constexpr std::pair<char, TopKey::Meaning> letters[] = {
    {'q', TopKey::quit},    {'Q', TopKey::quit}, {'p', TopKey::pause},  {'?', TopKey::help},
    {'h', TopKey::help},    {'k', TopKey::up},   {'j', TopKey::down},   {' ', TopKey::page_down},
    {'b', TopKey::page_up}, {'g', TopKey::top},  {'G', TopKey::bottom}, {'\t', TopKey::next_panel},
};

std::optional<TopKey> key_of(char letter) {
  if (letter >= '1' && letter <= '9') return TopKey{TopKey::panel, static_cast<std::size_t>(letter - '0')};
  if (letter == '0') return TopKey{TopKey::overview};
  for (const auto& [known, meaning] : letters) {
    if (known == letter) return TopKey{meaning};
  }
  return std::nullopt;
}

std::optional<TopKey> key_of_sequence(std::string_view sequence) {
  for (const auto& [known, meaning] : sequences) {
    if (known == sequence) return TopKey{meaning};
  }
  return std::nullopt;
}

/// The length in bytes of the escape sequence at the front; 0 if it is incomplete.
std::size_t length_of_sequence(std::string_view text) {
  if (text.size() < 2) return 0;
  if (text[1] != '[' && text[1] != 'O') return 1;
  // Parameters and separators, ended by a letter or a tilde.
  const auto end = text.find_first_not_of("0123456789;<=>?", 2);
  return end == std::string_view::npos ? 0 : end + 1;
}

}  // namespace

std::vector<TopKey> TopKeys::take(std::string_view bytes) {
  pending_ += bytes;
  std::vector<TopKey> keys;
  while (!pending_.empty()) {
    const bool escaped = pending_.front() == escape;
    const auto length = escaped ? length_of_sequence(pending_) : 1;
    if (length == 0) break;
    const bool single = escaped && length == 1;
    const auto key = single    ? TopKey{TopKey::overview}
                     : escaped ? key_of_sequence(std::string_view(pending_).substr(2, length - 2))
                               : key_of(pending_.front());
    if (key) keys.push_back(*key);
    pending_.erase(0, length);
  }
  return keys;
}

std::vector<TopKey> TopKeys::give_up_waiting() {
  const bool single = pending_ == std::string_view(&escape, 1);
  pending_.clear();
  return single ? std::vector{TopKey{TopKey::overview}} : std::vector<TopKey>{};
}

namespace {

/// Adding a page to it does not overflow.
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

namespace {

std::string panel_names(const std::vector<TopPanel>& panels) {
  std::string names;
  for (const auto& panel : panels) names += (names.empty() ? "" : ", ") + panel.name;
  return names;
}

}  // namespace

std::string keys_line(std::size_t panels) {
  return fmt::format("q quit  ? help  p pause  tab, 1-{} panel  0 all  arrows scroll", panels);
}

std::vector<std::string> help_lines(const std::vector<TopPanel>& panels) {
  return {"",
          fmt::format("1-{}         one panel: {}", panels.size(), panel_names(panels)),
          "0, esc      all panels",
          "tab, right  next panel; shift-tab, left: the previous one",
          "up, down    scroll the panel; also k, j",
          "pgup, pgdn  a page; also b, space",
          "home, end   first, last row; also g, G",
          "p           pause, resume",
          "?           show or hide this page",
          "q           quit; also ctrl-c",
          "",
          "top never writes to the store. Ages are by the store's clock."};
}

}  // namespace leasehold::cli
