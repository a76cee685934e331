#include "base/json.h"

#include <fmt/format.h>
#include <algorithm>
#include <charconv>
#include <vector>

#include "base/text.h"

namespace leasehold {
namespace {

constexpr std::size_t deepest = 1000;

bool is_digit(char c) { return c >= '0' && c <= '9'; }

bool is_hex_digit(char c) { return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F'); }

/// Walks over a text. What takes something says whether it was there.
class JsonReader {
 public:
  explicit JsonReader(std::string_view text) : rest_(text) {}

  /// Without recursion: how deep a text goes is up to its author.
  bool take_document() {
    do {
      if (!take_value() || !close_finished()) return false;
    } while (!open_.empty());
    skip_blanks();
    return rest_.empty();
  }

 private:
  /// A scalar, an empty list or object, or the beginning of one up to its first value.
  bool take_value() {
    for (;;) {
      skip_blanks();
      if (take('[')) {
        skip_blanks();
        if (take(']')) return true;
        if (!open('[')) return false;
      } else if (take('{')) {
        skip_blanks();
        if (take('}')) return true;
        if (!open('{') || !take_name()) return false;
      } else {
        return take_scalar();
      }
    }
  }

  /// After a value: its list or object goes on, or ends and is itself a value.
  bool close_finished() {
    while (!open_.empty()) {
      skip_blanks();
      const bool in_object = open_.back() == '{';
      if (take(',')) return !in_object || take_name();
      if (!take(in_object ? '}' : ']')) return false;
      open_.pop_back();
    }
    return true;
  }

  bool open(char bracket) {
    if (open_.size() == deepest) return false;
    open_.push_back(bracket);
    return true;
  }

  bool take_name() {
    skip_blanks();
    if (!take('"') || !take_rest_of_string()) return false;
    skip_blanks();
    return take(':');
  }

  bool take_scalar() {
    if (take('"')) return take_rest_of_string();
    return take_word("true") || take_word("false") || take_word("null") || take_number();
  }

  bool take_rest_of_string() {
    while (!rest_.empty()) {
      const char c = rest_.front();
      rest_.remove_prefix(1);
      if (c == '"') return true;
      if (static_cast<unsigned char>(c) < 0x20) return false;
      if (c == '\\' && !take_escape()) return false;
    }
    return false;
  }

  bool take_escape() {
    if (!take('u')) return take_one_of("\"\\/bfnrt");
    for (int digit = 0; digit < 4; ++digit) {
      if (rest_.empty() || !is_hex_digit(rest_.front())) return false;
      rest_.remove_prefix(1);
    }
    return true;
  }

  bool take_number() {
    take('-');
    if (!take('0') && !take_digits()) return false;
    if (take('.') && !take_digits()) return false;
    if (!take_one_of("eE")) return true;
    take_one_of("+-");
    return take_digits();
  }

  bool take_digits() {
    const auto before = rest_.size();
    while (!rest_.empty() && is_digit(rest_.front())) rest_.remove_prefix(1);
    return rest_.size() < before;
  }

  bool take(char c) { return take_word({&c, 1}); }

  bool take_one_of(std::string_view characters) {
    if (rest_.empty() || characters.find(rest_.front()) == std::string_view::npos) return false;
    rest_.remove_prefix(1);
    return true;
  }

  bool take_word(std::string_view word) {
    if (!rest_.starts_with(word)) return false;
    rest_.remove_prefix(word.size());
    return true;
  }

  void skip_blanks() {
    while (take_one_of(" \t\n\r")) continue;
  }

  std::string_view rest_;
  std::vector<char> open_;  ///< the brackets around us
};

}  // namespace

bool is_json(std::string_view text) { return is_utf8(text) && JsonReader(text).take_document(); }

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

namespace {

constexpr std::string_view blanks = " \t\r\n";

/// Walks over what is known to be JSON.
class JsonWalk {
 public:
  explicit JsonWalk(std::string_view text) : rest_(text) {}

  bool take(char wanted) {
    skip_blanks();
    if (rest_.empty() || rest_.front() != wanted) return false;
    rest_.remove_prefix(1);
    return true;
  }

  /// A scalar, or a list or object with all that is in it.
  std::string_view take_value() {
    skip_blanks();
    const auto* const begin = rest_.data();
    int depth = 0;
    do {
      const char first = rest_.front();
      if (first == '"') {
        skip_string();
        continue;
      }
      if (first == '{' || first == '[') ++depth;
      if (first == '}' || first == ']') --depth;
      rest_.remove_prefix(1);
    } while (!rest_.empty() && (depth > 0 || !ends_value(rest_.front())));
    return {begin, static_cast<std::size_t>(rest_.data() - begin)};
  }

 private:
  static bool ends_value(char c) { return c == ',' || c == '}' || c == ']' || c == ':' || is_blank(c); }
  static bool is_blank(char c) { return blanks.find(c) != std::string_view::npos; }

  void skip_blanks() { rest_.remove_prefix(std::min(rest_.find_first_not_of(blanks), rest_.size())); }

  void skip_string() {
    rest_.remove_prefix(1);
    while (!rest_.empty() && rest_.front() != '"') {
      const std::size_t length = rest_.front() == '\\' ? 2 : 1;
      rest_.remove_prefix(std::min(length, rest_.size()));
    }
    if (!rest_.empty()) rest_.remove_prefix(1);
  }

  std::string_view rest_;
};

}  // namespace

std::optional<std::string_view> json_member(std::string_view object, std::string_view name) {
  JsonWalk walk(object);
  if (!walk.take('{') || walk.take('}')) return std::nullopt;
  std::optional<std::string_view> found;
  do {
    const auto quoted_name = walk.take_value();
    walk.take(':');
    const auto value = walk.take_value();
    if (quoted_name.size() == name.size() + 2 && quoted_name.substr(1, name.size()) == name) found = value;
  } while (walk.take(','));
  return found;
}

}  // namespace leasehold
