#include "base/json_member.h"

#include <algorithm>

namespace leasehold {
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
