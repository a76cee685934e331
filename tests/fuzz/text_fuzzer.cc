// Any bytes as text: distinguished from UTF-8, quoted for a message, cleaned for a store.
#include "base/text.h"

#include <algorithm>
#include <array>
#include <string>

#include "fuzz/property.h"

namespace leasehold::fuzz {
namespace {

constexpr std::size_t most_quoted = 72;

/// The length of the character in front, by its code point instead of by its bytes; 0 where there is none.
std::size_t code_point_length(std::string_view text) {
  constexpr std::array<std::uint32_t, 5> smallest = {0, 0, 0x80, 0x800, 0x10000};
  const auto lead = static_cast<unsigned char>(text.front());
  const std::size_t length = lead < 0x80 ? 1 : lead >> 5U == 6 ? 2 : lead >> 4U == 14 ? 3 : lead >> 3U == 30 ? 4 : 0;
  if (length == 0 || text.size() < length) return 0;
  std::uint32_t code = length == 1 ? lead : lead & (0x7FU >> length);
  for (const char c : text.substr(1, length - 1)) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte >> 6U != 2) return 0;
    code = code << 6U | (byte & 0x3FU);
  }
  const bool surrogate = code >= 0xD800 && code <= 0xDFFF;
  return surrogate || code < smallest.at(length) || code > 0x10FFFF ? 0 : length;
}

bool is_well_formed(std::string_view text) {
  while (!text.empty()) {
    const auto length = code_point_length(text);
    if (length == 0) return false;
    text.remove_prefix(length);
  }
  return true;
}

/// Of ASCII, or U+0080 to U+009F.
bool has_control_character(std::string_view text) {
  for (auto late = text.find('\xC2'); late != std::string_view::npos; late = text.find('\xC2', late + 1)) {
    if (static_cast<unsigned char>(text.at(late + 1)) < 0xA0) return true;
  }
  return std::any_of(text.begin(), text.end(), [](char c) { return (c >= 0 && c < 0x20) || c == 0x7F; });
}

void check_quoted(std::string_view bytes) {
  const auto shown = quoted(bytes);
  require(is_well_formed(shown), "what is quoted is UTF-8");
  require(!has_control_character(shown), "what is quoted has no control character");
  require(shown.size() <= most_quoted, "what is quoted is short");
  require(shown.size() >= 2 && shown.front() == '"' && shown.back() == '"', "what is quoted stands in quotes");
}

void check_clean_text(std::string_view bytes, std::size_t max) {
  const auto clean = clean_text(bytes, max);
  require(is_well_formed(clean), "clean text is UTF-8");
  require(clean.size() <= max, "clean text is as short as asked for");
  require(clean.find('\0') == std::string::npos, "clean text has no NUL");
  require(clean_text(clean, max) == clean, "clean text stays as it is");
  require(clean_text(bytes, max + 1).starts_with(clean), "with more room clean text only goes on");
  const bool is_clean = is_well_formed(bytes) && bytes.find('\0') == std::string_view::npos;
  if (is_clean && bytes.size() <= max) require(clean == bytes, "what is clean is kept");
}

void check_trimmed(std::string_view bytes) {
  const auto inner = trimmed(bytes);
  const auto is_blank = [](char c) { return c == ' ' || c == '\t' || c == '\r'; };
  require(inner.empty() || (!is_blank(inner.front()) && !is_blank(inner.back())),
          "trimmed text has no blank around it");
  require(bytes.find(inner) != std::string_view::npos, "trimmed text is a part of the text");
  require(static_cast<std::size_t>(std::count_if(bytes.begin(), bytes.end(), is_blank)) + inner.size() >= bytes.size(),
          "only blanks are trimmed");
}

void check_suggestion(std::string_view word) {
  static const std::array<std::string, 4> known = {"acquire", "release", "heartbeat", "show"};
  const auto meant = nearest(word, known);
  require(meant.empty() || std::find(known.begin(), known.end(), meant) != known.end(),
          "only what there is is suggested");
  for (const auto& name : known) {
    if (word == name) require(meant == name, "a word that is there is its own nearest");
  }
}

}  // namespace
}  // namespace leasehold::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace leasehold::fuzz;
  Input input(data, size);
  const auto max = input.choice(256);
  const auto bytes = input.rest();
  require(leasehold::is_utf8(bytes) == is_well_formed(bytes), "is_utf8 agrees with the code points");
  check_quoted(bytes);
  check_clean_text(bytes, max);
  check_trimmed(bytes);
  check_suggestion(bytes.substr(0, 100));
  return 0;
}
