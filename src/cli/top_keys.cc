#include "cli/top_keys.h"

#include <optional>
#include <utility>

namespace leasehold::cli {
namespace {

constexpr char escape = '\x1b';

/// What stands between ESC [ (or ESC O, as some terminals say it) and what the key means.
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

/// How many bytes of a text that begins with an escape belong to it; 0: not all of them are there yet.
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
    const bool alone = escaped && length == 1;
    const auto key = alone     ? TopKey{TopKey::overview}
                     : escaped ? key_of_sequence(std::string_view(pending_).substr(2, length - 2))
                               : key_of(pending_.front());
    if (key) keys.push_back(*key);
    pending_.erase(0, length);
  }
  return keys;
}

std::vector<TopKey> TopKeys::give_up_waiting() {
  const bool alone = pending_ == std::string_view(&escape, 1);
  pending_.clear();
  return alone ? std::vector{TopKey{TopKey::overview}} : std::vector<TopKey>{};
}

}  // namespace leasehold::cli
