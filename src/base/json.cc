#include "base/json.h"

#include <algorithm>
#include <limits>
#include <utility>

// Boost.JSON is used header-only: its one compiled copy is in this file.
#include <boost/json/src.hpp>

#include <boost/json/basic_parser_impl.hpp>

#include "base/text.h"

namespace leasehold {
namespace {

namespace json = boost::json;

constexpr std::size_t max_depth = 1000;

/// Parser handler that ignores every event: it stores nothing, so it allocates nothing.
struct Ignore {
  static constexpr std::size_t max_array_size = std::numeric_limits<std::size_t>::max();
  static constexpr std::size_t max_object_size = max_array_size;
  static constexpr std::size_t max_string_size = max_array_size;
  static constexpr std::size_t max_key_size = max_array_size;

  static bool on_document_begin(json::error_code&) { return true; }
  static bool on_document_end(json::error_code&) { return true; }
  static bool on_object_begin(json::error_code&) { return true; }
  static bool on_object_end(std::size_t, json::error_code&) { return true; }
  static bool on_array_begin(json::error_code&) { return true; }
  static bool on_array_end(std::size_t, json::error_code&) { return true; }
  static bool on_key_part(json::string_view, std::size_t, json::error_code&) { return true; }
  static bool on_key(json::string_view, std::size_t, json::error_code&) { return true; }
  static bool on_string_part(json::string_view, std::size_t, json::error_code&) { return true; }
  static bool on_string(json::string_view, std::size_t, json::error_code&) { return true; }
  static bool on_number_part(json::string_view, json::error_code&) { return true; }
  static bool on_int64(std::int64_t, json::string_view, json::error_code&) { return true; }
  static bool on_uint64(std::uint64_t, json::string_view, json::error_code&) { return true; }
  static bool on_double(double, json::string_view, json::error_code&) { return true; }
  static bool on_bool(bool, json::error_code&) { return true; }
  static bool on_null(json::error_code&) { return true; }
  static bool on_comment_part(json::string_view, json::error_code&) { return true; }
  static bool on_comment(json::string_view, json::error_code&) { return true; }
};

/// The size in bytes of the value at the front, including the blanks around it; 0 if there is none.
std::size_t value_size(std::string_view text) {
  json::basic_parser<Ignore> parser({.max_depth = max_depth});
  json::error_code broken;
  const auto size = parser.write_some(false, text.data(), text.size(), broken);
  return broken ? 0 : size;
}

}  // namespace

bool is_json(std::string_view text) { return !text.empty() && value_size(text) == text.size(); }

bool is_json_object(std::string_view text) {
  const auto start = text.find_first_not_of(" \t\n\r");
  return start != std::string_view::npos && text[start] == '{' && is_json(text);
}

Result<json::value> parse_json(std::string_view text) {
  json::error_code broken;
  auto value = json::parse(text, broken, {}, {.max_depth = max_depth});
  if (broken) return invalid(broken.message());
  return value;
}

std::string json_from_texts(const std::vector<std::string>& texts) { return json::serialize(json::value_from(texts)); }

namespace {

/// Empty if the text is not an array.
json::array elements_of(std::string_view array) {
  auto value = parse_json(array);
  auto* elements = value ? value->if_array() : nullptr;
  return elements != nullptr ? std::move(*elements) : json::array();
}

}  // namespace

std::vector<std::string> texts_from_json(std::string_view array) {
  std::vector<std::string> texts;
  for (const auto& element : elements_of(array)) {
    if (const auto* text = element.if_string()) texts.emplace_back(*text);
  }
  return texts;
}

std::vector<std::int64_t> integers_from_json(std::string_view array) {
  std::vector<std::int64_t> integers;
  for (const auto& element : elements_of(array)) {
    if (const auto* integer = element.if_int64()) integers.push_back(*integer);
  }
  return integers;
}

namespace {

constexpr std::string_view json_blanks = " \t\r\n";

// The functions below cut JSON that was checked before, so they only look for ends. For other text they return
// something within it.

std::string_view without_blanks(std::string_view text) {
  text.remove_prefix(std::min(text.find_first_not_of(json_blanks), text.size()));
  return text;
}

/// The size of the string at the front, with its quotes.
std::size_t string_size(std::string_view text) {
  for (std::size_t at = 1; at < text.size(); ++at) {
    if (text[at] == '"') return at + 1;
    if (text[at] == '\\') ++at;
  }
  return text.size();
}

/// The size of the object or array at the front.
std::size_t nest_size(std::string_view text) {
  std::size_t depth = 0;
  for (std::size_t at = 0; at < text.size(); ++at) {
    switch (text[at]) {
      case '"': at += string_size(text.substr(at)) - 1; break;
      case '{':
      case '[': ++depth; break;
      case '}':
      case ']':
        if (--depth == 0) return at + 1;
        break;
      default: break;
    }
  }
  return text.size();
}

/// Removes the value at the front with the blanks around it and the mark behind it: a colon, a comma, or the end of
/// what encloses it. Returns the value without them; empty if there is none.
std::string_view take_value(std::string_view& rest) {
  const auto text = without_blanks(rest);
  if (text.empty() || text.front() == '}' || text.front() == ']') return {};
  const auto size = text.front() == '"' ? string_size(text)
                    : text.front() == '{' || text.front() == '['
                        ? nest_size(text)
                        : std::min(text.find_first_of(",}] \t\r\n"), text.size());
  rest = without_blanks(text.substr(size));
  rest.remove_prefix(std::min<std::size_t>(1, rest.size()));
  return text.substr(0, size);
}

}  // namespace

std::string json_text(std::string_view written) {
  if (written.find('\\') != std::string_view::npos) return std::string(json::parse(written).as_string());
  return std::string(written.substr(1, written.size() - 2));
}

std::optional<std::vector<JsonMember>> json_members(std::string_view object) {
  auto rest = without_blanks(object);
  if (!rest.starts_with('{')) return std::nullopt;
  rest.remove_prefix(1);
  std::vector<JsonMember> members;
  for (auto key = take_value(rest); !key.empty(); key = take_value(rest)) members.push_back({key, take_value(rest)});
  return members;
}

std::optional<std::vector<std::pair<std::string, std::optional<std::string>>>> texts_of_object(
    std::string_view object) {
  const auto members = json_members(object);
  if (!members) return std::nullopt;
  std::vector<std::pair<std::string, std::optional<std::string>>> texts;
  for (const auto& [key, written] : *members) {
    auto& text = texts.emplace_back(json_text(key), std::nullopt).second;
    if (written.starts_with('"')) {
      text = json_text(written);
    } else if (written != "null") {
      text = std::string(written);
    }
  }
  return texts;
}

std::optional<std::string_view> json_member(std::string_view object, std::string_view name) {
  const auto members = json_members(object);
  std::optional<std::string_view> found;
  if (!members) return found;
  for (const auto& [key, written] : *members) {
    if (json_text(key) == name) found = written;
  }
  return found;
}

std::optional<std::vector<std::string_view>> json_elements(std::string_view array) {
  auto rest = without_blanks(array);
  if (!rest.starts_with('[')) return std::nullopt;
  rest.remove_prefix(1);
  std::vector<std::string_view> elements;
  for (auto element = take_value(rest); !element.empty(); element = take_value(rest)) elements.push_back(element);
  return elements;
}

}  // namespace leasehold
