#include "base/json_list.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

namespace leasehold {
namespace {

void append_utf8(std::string& out, unsigned code) {
  if (code < 0x80) {
    out += static_cast<char>(code);
  } else if (code < 0x800) {
    out += static_cast<char>(0xC0 | (code >> 6));
    out += static_cast<char>(0x80 | (code & 0x3F));
  } else {
    out += static_cast<char>(0xE0 | (code >> 12));
    out += static_cast<char>(0x80 | ((code >> 6) & 0x3F));
    out += static_cast<char>(0x80 | (code & 0x3F));
  }
}

// Takes what follows a backslash. The stores write only control characters as \u: no surrogates.
void take_escape(std::string_view& rest, std::string& out) {
  constexpr std::string_view names = "bfnrt";
  constexpr std::string_view meanings = "\b\f\n\r\t";
  const char name = rest.front();
  rest.remove_prefix(1);
  if (name == 'u') {
    unsigned code = 0;
    const auto digits = rest.substr(0, 4);
    std::from_chars(digits.data(), digits.data() + digits.size(), code, 16);
    append_utf8(out, code);
    rest.remove_prefix(digits.size());
  } else if (const auto at = names.find(name); at != std::string_view::npos) {
    out += meanings[at];
  } else {
    out += name;
  }
}

// Takes a text up to and with its closing quote; the opening one is gone already.
std::string take_text(std::string_view& rest) {
  std::string text;
  while (!rest.empty()) {
    const char c = rest.front();
    rest.remove_prefix(1);
    if (c == '"') break;
    if (c == '\\' && !rest.empty()) {
      take_escape(rest, text);
    } else {
      text += c;
    }
  }
  return text;
}

void append_quoted(std::string& out, std::string_view text) {
  out += '"';
  for (const char c : text) {
    if (static_cast<unsigned char>(c) < 0x20) {
      out += fmt::format("\\u{:04x}", static_cast<unsigned char>(c));
    } else {
      if (c == '"' || c == '\\') out += '\\';
      out += c;
    }
  }
  out += '"';
}

}  // namespace

std::string json_from_texts(const std::vector<std::string>& texts) {
  std::string array = "[";
  for (const auto& text : texts) {
    if (array.size() > 1) array += ',';
    append_quoted(array, text);
  }
  return array + ']';
}

std::vector<std::string> texts_from_json(std::string_view array) {
  std::vector<std::string> texts;
  for (auto quote = array.find('"'); quote != std::string_view::npos; quote = array.find('"')) {
    array.remove_prefix(quote + 1);
    texts.push_back(take_text(array));
  }
  return texts;
}

std::vector<std::int64_t> integers_from_json(std::string_view array) {
  constexpr std::string_view digits = "-0123456789";
  std::vector<std::int64_t> integers;
  for (auto at = array.find_first_of(digits); at != std::string_view::npos; at = array.find_first_of(digits)) {
    array.remove_prefix(at);
    const auto length = std::min(array.find_first_not_of(digits), array.size());
    std::int64_t value = 0;
    std::from_chars(array.data(), array.data() + length, value);
    integers.push_back(value);
    array.remove_prefix(length);
  }
  return integers;
}

}  // namespace leasehold
