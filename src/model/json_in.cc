// Reads JSON by the same descriptions that write it.
#include <fmt/format.h>

#include <algorithm>
#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/value.hpp>
#include <cmath>

#include "base/json.h"
#include "base/json_text.h"
#include "base/text.h"
#include "base/time_text.h"
#include "model/errors.h"
#include "model/json.h"

namespace leasehold::model {
namespace {

namespace json = boost::json;

constexpr std::string_view seconds_suffix = "_seconds";
constexpr std::string_view base64_suffix = "_base64";

Error wrong_type(std::string_view key, std::string_view wanted) {
  return invalid(fmt::format("\"{}\" is not {}", key, wanted));
}

/// A member of the object being read.
struct Member {
  std::string_view key;
  const json::value& value;
  std::string_view written;  ///< the whole object, byte for byte
  Timestamp now;
};

Result<std::string> text_in(std::string_view key, const json::value& value) {
  if (const auto* text = value.if_string()) return std::string(*text);
  return wrong_type(key, "a string");
}

Result<std::int64_t> integer_in(std::string_view key, const json::value& value) {
  json::error_code broken;
  const auto number = value.to_number<std::int64_t>(broken);
  if (broken || value.is_double()) return wrong_type(key, "a whole number");
  return number;
}

template <typename T, typename Read>
Result<Value> list_in(const Member& member, Read read) {
  const auto* array = member.value.if_array();
  if (array == nullptr) return wrong_type(member.key, "an array");
  std::vector<T> list;
  for (const auto& item : *array) {
    auto element = read(member.key, item);
    if (!element) return std::move(element).error();
    list.push_back(std::move(*element));
  }
  return Value(std::move(list));
}

/// Parses a text; errors name the key.
template <typename Parse>
Result<Value> parsed_in(const Member& member, Parse parse) {
  const auto text = text_in(member.key, member.value);
  if (!text) return text.error();
  auto parsed = parse(*text);
  if (!parsed) return invalid(fmt::format("\"{}\": {}", member.key, parsed.error().message));
  return Value(*parsed);
}

/// Seconds under the key that to_json() writes; under the key without its unit a text such as "10m".
Result<Value> duration_in(const Member& member) {
  if (!member.key.ends_with(seconds_suffix)) return parsed_in(member, parse_duration);
  json::error_code broken;
  const auto seconds = member.value.to_number<double>(broken);
  constexpr double max = 4e9;
  if (broken || !(std::abs(seconds) <= max)) return wrong_type(member.key, "a number of seconds");
  return Value(Duration(std::llround(seconds * 1e6)));
}

/// Byte for byte: a parsed value would round its numbers.
Result<Value> json_in(const Member& member) {
  return Value(std::string(json_member(member.written, member.key).value_or("null")));
}

Result<Value> bytes_in(const Member& member) {
  if (!member.key.ends_with(base64_suffix)) return json_in(member);
  auto text = text_in(member.key, member.value);
  if (!text) return std::move(text).error();
  auto bytes = from_base64(*text);
  if (!bytes) return wrong_type(member.key, "base64");
  return Value(std::move(*bytes));
}

Result<Value> word_in(const Member& member, std::span<const char* const> words) {
  auto text = text_in(member.key, member.value);
  if (!text) return std::move(text).error();
  for (const std::string_view word : words) {
    if (word == *text) return Value(std::move(*text));
  }
  return wrong_type(member.key, fmt::format("one of {}", fmt::join(words, ", ")));
}

template <typename T>
Result<Value> as_value(Result<T> read) {
  if (!read) return std::move(read).error();
  return Value(std::move(*read));
}

Result<Value> value_in(const Field& field, const Member& member) {
  switch (field.kind) {
    case Kind::boolean:
      return member.value.is_bool() ? Result<Value>(Value(member.value.get_bool()))
                                    : wrong_type(member.key, "true or false");
    case Kind::integer: return as_value(integer_in(member.key, member.value));
    case Kind::text: return as_value(text_in(member.key, member.value));
    case Kind::duration: return duration_in(member);
    case Kind::timestamp: return parsed_in(member, [&](const auto& text) { return parse_moment(text, member.now); });
    case Kind::texts: return list_in<std::string>(member, text_in);
    case Kind::integers: return list_in<std::int64_t>(member, integer_in);
    case Kind::word: return word_in(member, field.words);
    case Kind::bytes: return bytes_in(member);
    case Kind::json: return json_in(member);
    case Kind::object:
    case Kind::objects:
    case Kind::inlined:
    case Kind::hidden: break;
  }
  return wrong_type(member.key, "settable");
}

bool is_named(const Field& field, std::string_view key) {
  if (field.name == key) return true;
  if (field.kind == Kind::duration) return field.name == fmt::format("{}{}", key, seconds_suffix);
  return field.kind == Kind::bytes && key == fmt::format("{}{}", field.name, base64_suffix);
}

/// A field, and the struct that has its member.
struct Found {
  const Field* field = nullptr;
  void* owner = nullptr;
};

Found find_field(const Target& into, std::string_view key) {
  for (const auto& field : into.type.fields) {
    if (field.kind == Kind::inlined && field.part != nullptr) {
      const auto inner = find_field({field.type(), field.part(into.at)}, key);
      if (inner.field != nullptr) return inner;
    }
    const bool can_be_set = field.set != nullptr || field.part != nullptr || field.append != nullptr;
    if (can_be_set && is_named(field, key)) return {&field, into.at};
  }
  return {};
}

void add_names(const Described& type, std::vector<std::string>& names) {
  for (const auto& field : type.fields) {
    if (field.kind == Kind::inlined) add_names(field.type(), names);
    if (!field.name.empty()) names.emplace_back(field.name);
  }
}

Error unknown_key(const Described& type, std::string_view key) {
  std::vector<std::string> known;
  add_names(type, known);
  const auto meant = nearest(key, known);
  return invalid(
      fmt::format("unknown key {}{}", leasehold::quoted(key), meant.empty() ? "" : ": did you mean " + meant + "?"));
}

Result<void> check_rival(const Field& field, const json::object& members) {
  const auto* rival = field.rival.empty() ? nullptr : members.if_contains(field.rival);
  if (rival == nullptr || rival->is_null()) return {};
  return invalid(fmt::format(R"("{}" and "{}" exclude each other: write one of them)", field.name, field.rival));
}

/// The elements of an array of objects, each read byte for byte.
Result<void> read_list(const Field& field, std::string_view written, const Member& member, void* into) {
  const auto elements = json_elements(written);
  if (!elements) return wrong_type(member.key, "an array");
  for (std::size_t i = 0; i < elements->size(); ++i) {
    auto read = read_json((*elements)[i], {field.type(), field.append(into)}, member.now);
    if (!read) return about_element(i, std::move(read).error());
  }
  return {};
}

Result<void> check_required(const Described& type, const json::object& members) {
  for (const auto& field : type.fields) {
    if (field.kind == Kind::inlined) {
      if (auto checked = check_required(field.type(), members); !checked) return checked;
    }
    if (!field.required) continue;
    const auto is_given = [&](const auto& member) {
      return !member.value().is_null() && is_named(field, member.key());
    };
    if (std::none_of(members.begin(), members.end(), is_given))
      return about_field(field.name, invalid(fmt::format("\"{}\" is missing", field.name)));
  }
  return {};
}

Result<void> read_member(const Field& field, const Member& member, void* into) {
  const auto written = field.type != nullptr ? json_member(member.written, member.key).value_or("") : "";
  if (field.part != nullptr) return read_json(written, {field.type(), field.part(into)}, member.now);
  if (field.append != nullptr) return read_list(field, written, member, into);
  auto value = value_in(field, member);
  if (!value) return std::move(value).error();
  if (!field.set(into, *value)) return wrong_type(member.key, "in range");
  return {};
}

}  // namespace

Result<void> read_json(std::string_view object, const Target& into, Timestamp now,
                       std::span<const std::string_view> except) {
  const auto value = parse_json(object);
  if (!value) return invalid(fmt::format("this is not JSON ({}): {}", value.error().message, quoted(object)));
  const auto* members = value->if_object();
  if (members == nullptr) return invalid("this is not a JSON object: " + quoted(object));
  for (const auto& [key, member] : *members) {
    if (member.is_null() || std::find(except.begin(), except.end(), key) != except.end()) continue;
    const auto [field, owner] = find_field(into, key);
    if (field == nullptr) return about_field(key, unknown_key(into.type, key));
    if (auto checked = check_rival(*field, *members); !checked) return about_field(key, std::move(checked).error());
    if (auto read = read_member(*field, {key, member, object, now}, owner); !read) {
      return about_field(key, std::move(read).error());
    }
  }
  return check_required(into.type, *members);
}

}  // namespace leasehold::model
