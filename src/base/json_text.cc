#include "base/json_text.h"

#include <algorithm>
#include <cstdint>

#include "base/json.h"
#include "base/text.h"

namespace leasehold {

void append_on_one_line(std::string& out, std::string_view json) {
  const auto start = out.size();
  out += json;
  // Between JSON tokens a line break is a blank; a JSON string contains none.
  std::replace_if(
      out.begin() + static_cast<std::ptrdiff_t>(start), out.end(), [](char c) { return c == '\n' || c == '\r'; }, ' ');
}

std::string json_line(std::string_view kept) {
  if (!is_json(kept)) return json_string(kept);
  std::string line;
  append_on_one_line(line, kept);
  return line;
}

namespace {

bool is_plain(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return byte >= 0x20 && byte < 0x80 && c != '"' && c != '\\';
}

void append_escaped(std::string& out, char c) {
  constexpr std::string_view hex = "0123456789abcdef";
  const auto byte = static_cast<unsigned char>(c);
  switch (c) {
    case '"': out += "\\\""; break;
    case '\\': out += "\\\\"; break;
    case '\b': out += "\\b"; break;
    case '\f': out += "\\f"; break;
    case '\n': out += "\\n"; break;
    case '\r': out += "\\r"; break;
    case '\t': out += "\\t"; break;
    default:
      out += "\\u00";
      out += hex[byte >> 4U];
      out += hex[byte & 15U];
  }
}

}  // namespace

void append_json_string(std::string& out, std::string_view bytes) {
  out += '"';
  while (!bytes.empty()) {
    const auto* const end = std::find_if_not(bytes.begin(), bytes.end(), is_plain);
    out.append(bytes.begin(), end);
    bytes.remove_prefix(static_cast<std::size_t>(end - bytes.begin()));
    if (bytes.empty()) break;
    const auto length = character_length(bytes);
    if (length == 1) {
      append_escaped(out, bytes.front());
    } else {
      out += length > 0 ? bytes.substr(0, length) : std::string_view("\xEF\xBF\xBD");
    }
    bytes.remove_prefix(length > 0 ? length : 1);
  }
  out += '"';
}

std::string json_string(std::string_view bytes) {
  std::string text;
  append_json_string(text, bytes);
  return text;
}

namespace {

constexpr std::string_view alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// Three bytes in one number, the first one on top; missing bytes are zero.
std::uint32_t packed(std::string_view three) {
  std::uint32_t bits = 0;
  for (std::size_t i = 0; i < 3; ++i)
    bits = bits << 8U | (i < three.size() ? static_cast<unsigned char>(three[i]) : 0U);
  return bits;
}

}  // namespace

std::string to_base64(std::string_view bytes) {
  std::string text;
  text.reserve((bytes.size() + 2) / 3 * 4);
  for (; !bytes.empty(); bytes.remove_prefix(std::min<std::size_t>(3, bytes.size()))) {
    const auto three = bytes.substr(0, 3);
    const auto bits = packed(three);
    for (std::size_t i = 0; i < 4; ++i) text += i <= three.size() ? alphabet[bits >> (18 - 6 * i) & 63U] : '=';
  }
  return text;
}

std::optional<std::string> from_base64(std::string_view text) {
  if (text.size() % 4 != 0) return std::nullopt;
  const std::size_t padding = text.ends_with("==") ? 2 : text.ends_with('=') ? 1 : 0;
  text.remove_suffix(padding);
  std::string bytes;
  bytes.reserve(text.size() / 4 * 3 + 3);
  std::uint32_t bits = 0;
  int waiting = 0;
  for (const char c : text) {
    const auto digit = alphabet.find(c);
    if (digit == std::string_view::npos) return std::nullopt;
    bits = bits << 6U | static_cast<std::uint32_t>(digit);
    waiting += 6;
    if (waiting < 8) continue;
    waiting -= 8;
    bytes += static_cast<char>(bits >> static_cast<unsigned>(waiting) & 0xFFU);
  }
  return bytes;
}

}  // namespace leasehold
