#include "base/json_check.h"

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

}  // namespace leasehold
