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

/// Removes the value at the front and returns it without the blanks around it; empty if there is none.
std::string_view take_value(std::string_view& rest) {
  auto value = rest.substr(0, value_size(rest));
  rest.remove_prefix(value.size());
  value.remove_prefix(std::min(value.find_first_not_of(json_blanks), value.size()));
  return value.substr(0, value.find_last_not_of(json_blanks) + 1);
}

}  // namespace

std::optional<std::vector<std::pair<std::string, std::optional<std::string>>>> texts_of_object(
    std::string_view object) {
  const auto brace = object.find_first_not_of(json_blanks);
  if (brace == std::string_view::npos || object[brace] != '{') return std::nullopt;
  std::vector<std::pair<std::string, std::optional<std::string>>> members;
  auto rest = object.substr(brace + 1);
  for (auto key = take_value(rest); !key.empty(); key = take_value(rest)) {
    rest.remove_prefix(1);  // the colon
    const auto written = take_value(rest);
    rest.remove_prefix(1);  // a comma, or the closing brace
    auto& text = members.emplace_back(std::string(json::parse(key).as_string()), std::nullopt).second;
    if (written.starts_with('"')) {
      text = std::string(json::parse(written).as_string());
    } else if (written != "null") {
      text = std::string(written);
    }
  }
  return members;
}

std::optional<std::string_view> json_member(std::string_view object, std::string_view name) {
  const auto brace = object.find_first_not_of(json_blanks);
  if (brace == std::string_view::npos || object[brace] != '{') return std::nullopt;
  const json::value wanted(json::string_view{name});
  std::optional<std::string_view> found;
  // The parser's events carry no positions, so it reads one key and one value at a time.
  auto rest = object.substr(brace + 1);
  for (auto key = take_value(rest); !key.empty(); key = take_value(rest)) {
    rest.remove_prefix(1);  // the colon
    const auto value = take_value(rest);
    rest.remove_prefix(1);  // a comma, or the closing brace
    if (json::parse(key) == wanted) found = value;
  }
  return found;
}

std::optional<std::vector<std::string_view>> json_elements(std::string_view array) {
  const auto bracket = array.find_first_not_of(json_blanks);
  if (bracket == std::string_view::npos || array[bracket] != '[') return std::nullopt;
  std::vector<std::string_view> elements;
  auto rest = array.substr(bracket + 1);
  for (auto element = take_value(rest); !element.empty(); element = take_value(rest)) {
    elements.push_back(element);
    rest.remove_prefix(1);  // a comma, or the closing bracket
  }
  return elements;
}

}  // namespace leasehold
