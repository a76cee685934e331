#include "base/text.h"

#include <fmt/format.h>
#include <algorithm>
#include <cctype>
#include <numeric>
#include <vector>

namespace leasehold {

std::size_t character_length(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const auto lead = byte(0);
  if (lead < 0x80) return 1;
  const std::size_t length = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
  if (lead < 0xC2 || lead > 0xF4 || text.size() < length) return 0;
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xC0) != 0x80) return 0;
  }
  const bool overlong = (lead == 0xE0 && byte(1) < 0xA0) || (lead == 0xF0 && byte(1) < 0x90);
  const bool outside = (lead == 0xED && byte(1) > 0x9F) || (lead == 0xF4 && byte(1) > 0x8F);
  return overlong || outside ? 0 : length;
}

namespace {

/// The control characters of ASCII, and those of Latin-1 (U+0080 to U+009F), which terminals obey, too.
bool is_control(std::string_view character) {
  const auto byte = static_cast<unsigned char>(character.front());
  if (character.size() == 2) return byte == 0xC2 && static_cast<unsigned char>(character.back()) < 0xA0;
  return byte < 0x20 || byte == 0x7F;
}

}  // namespace

bool is_utf8(std::string_view text) {
  while (!text.empty()) {
    const auto length = character_length(text);
    if (length == 0) return false;
    text.remove_prefix(length);
  }
  return true;
}

std::string quoted(std::string_view text, std::size_t most_bytes) {
  std::string out = "\"";
  while (!text.empty()) {
    if (out.size() > most_bytes) return out + "...\"";
    const auto length = character_length(text);
    const bool shown = length > 0 && !is_control(text.substr(0, length));
    if (shown) {
      out += text.substr(0, length);
    } else {
      out += fmt::format("\\x{:02x}", static_cast<unsigned char>(text.front()));
    }
    text.remove_prefix(shown ? length : 1);
  }
  return out + "\"";
}

std::string clean_text(std::string_view bytes, std::size_t most_bytes) {
  constexpr std::string_view replacement = "\xEF\xBF\xBD";
  std::string out;
  while (!bytes.empty()) {
    const auto length = bytes.front() == '\0' ? 0 : character_length(bytes);
    const auto character = length == 0 ? replacement : bytes.substr(0, length);
    if (out.size() + character.size() > most_bytes) break;
    out += character;
    bytes.remove_prefix(length == 0 ? 1 : length);
  }
  return out;
}

std::string format_size(std::size_t bytes) {
  constexpr std::size_t kib = 1024;
  constexpr std::size_t mib = 1024 * kib;
  if (bytes % mib == 0) return std::to_string(bytes / mib) + " MiB";
  return bytes % kib == 0 ? std::to_string(bytes / kib) + " KiB" : std::to_string(bytes) + " bytes";
}

bool is_in_word(char character) { return std::isalnum(static_cast<unsigned char>(character)) != 0 || character == '_'; }

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view blanks = " \t\r";
  text.remove_prefix(std::min(text.find_first_not_of(blanks), text.size()));
  return text.substr(0, text.find_last_not_of(blanks) + 1);
}

namespace {

// Levenshtein distance, one row at a time.
std::size_t distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), 0);
  for (std::size_t i = 1; i <= a.size(); ++i) {
    auto diagonal = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const auto changed = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({changed, row[j] + 1, row[j - 1] + 1});
    }
  }
  return row.back();
}

}  // namespace

std::string nearest(std::string_view word, std::span<const std::string> candidates) {
  std::string best;
  auto best_distance = std::max<std::size_t>(word.size() / 3, 1) + 1;
  for (const auto& candidate : candidates) {
    const auto how_far = distance(word, candidate);
    if (how_far < best_distance) {
      best = candidate;
      best_distance = how_far;
    }
  }
  return best;
}

}  // namespace leasehold
