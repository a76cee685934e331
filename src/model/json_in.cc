// Reads JSON by the same descriptions that write it.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <boost/json/value.hpp>
#include <charconv>
#include <cmath>

#include "base/json.h"
#include "base/json_text.h"
#include "base/text.h"
#include "base/time_text.h"
#include "model/errors.h"
#include "model/json.h"

namespace leasehold::model {
namespace {

constexpr std::string_view seconds_suffix = "_seconds";
constexpr std::string_view base64_suffix = "_base64";

Error wrong_type(std::string_view key, std::string_view wanted) {
  return invalid(fmt::format("\"{}\" is not {}", key, wanted));
}

/// A member of the object being read. `written` is JSON.
struct Member {
  std::string_view key;
  std::string_view written;
  Timestamp now;
};

Result<std::string> text_in(std::string_view key, std::string_view written) {
  if (written.starts_with('"')) return json_text(written);
  return wrong_type(key, "a string");
}

template <typename Number>
std::optional<Number> number_in(std::string_view written) {
  Number number{};
  const auto* const end = written.data() + written.size();
  const auto parsed = std::from_chars(written.data(), end, number);
  if (parsed.ec != std::errc() || parsed.ptr != end) return std::nullopt;
  return number;
}

Result<std::int64_t> integer_in(std::string_view key, std::string_view written) {
  if (const auto number = number_in<std::int64_t>(written)) return *number;
  return wrong_type(key, "a whole number");
}

template <typename T, typename Read>
Result<Value> list_in(const Member& member, Read read) {
  const auto elements = json_elements(member.written);
  if (!elements) return wrong_type(member.key, "an array");
  std::vector<T> list;
  for (const auto written : *elements) {
    auto element = read(member.key, written);
    if (!element) return std::move(element).error();
    list.push_back(std::move(*element));
  }
  return Value(std::move(list));
}

/// Parses a text; errors name the key.
template <typename Parse>
Result<Value> parsed_in(const Member& member, Parse parse) {
  const auto text = text_in(member.key, member.written);
  if (!text) return text.error();
  auto parsed = parse(*text);
  if (!parsed) return invalid(fmt::format("\"{}\": {}", member.key, parsed.error().message));
  return Value(*parsed);
}

/// Seconds under the key that to_json() writes; under the key without its unit a text such as "10m".
Result<Value> duration_in(const Member& member) {
  if (!member.key.ends_with(seconds_suffix)) return parsed_in(member, parse_duration);
  const auto seconds = number_in<double>(member.written);
  constexpr double max = 4e9;
  if (!seconds || !(std::abs(*seconds) <= max)) return wrong_type(member.key, "a number of seconds");
  return Value(Duration(std::llround(*seconds * 1e6)));
}

/// Byte for byte: a parsed value would round its numbers.
Result<Value> json_in(const Member& member) { return Value(std::string(member.written)); }

Result<Value> bytes_in(const Member& member) {
  if (!member.key.ends_with(base64_suffix)) return json_in(member);
  auto text = text_in(member.key, member.written);
  if (!text) return std::move(text).error();
  auto bytes = from_base64(*text);
  if (!bytes) return wrong_type(member.key, "base64");
  return Value(std::move(*bytes));
}

Result<Value> word_in(const Member& member, std::span<const char* const> words) {
  auto text = text_in(member.key, member.written);
  if (!text) return std::move(text).error();
  for (const std::string_view word : words) {
    if (word == *text) return Value(std::move(*text));
  }
  return wrong_type(member.key, fmt::format("one of {}", fmt::join(words, ", ")));
}

Result<Value> boolean_in(const Member& member) {
  if (member.written == "true" || member.written == "false") return Value(member.written == "true");
  return wrong_type(member.key, "true or false");
}

template <typename T>
Result<Value> as_value(Result<T> read) {
  if (!read) return std::move(read).error();
  return Value(std::move(*read));
}

Result<Value> value_in(const Field& field, const Member& member) {
  switch (field.kind) {
    case Kind::boolean: return boolean_in(member);
    case Kind::integer: return as_value(integer_in(member.key, member.written));
    case Kind::text: return as_value(text_in(member.key, member.written));
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

/// Whether the key is the name with more behind it.
bool is_with(std::string_view key, std::string_view name, std::string_view ending) {
  return key.size() == name.size() + ending.size() && key.starts_with(name) && key.ends_with(ending);
}

bool is_named(const Field& field, std::string_view key) {
  if (field.name == key) return true;
  if (field.kind == Kind::duration) return is_with(field.name, key, seconds_suffix);
  return field.kind == Kind::bytes && is_with(key, field.name, base64_suffix);
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

Result<void> read_object(std::string_view written, const Target& into, Timestamp now,
                         std::span<const std::string_view> except);

/// The elements of an array of objects.
Result<void> read_list(const Field& field, const Member& member, void* into) {
  const auto elements = json_elements(member.written);
  if (!elements) return wrong_type(member.key, "an array");
  for (std::size_t i = 0; i < elements->size(); ++i) {
    auto read = read_object((*elements)[i], {field.type(), field.append(into)}, member.now, {});
    if (!read) return about_element(i, std::move(read).error());
  }
  return {};
}

Result<void> read_member(const Field& field, const Member& member, void* into) {
  if (field.part != nullptr) return read_object(member.written, {field.type(), field.part(into)}, member.now, {});
  if (field.append != nullptr) return read_list(field, member, into);
  auto value = value_in(field, member);
  if (!value) return std::move(value).error();
  if (!field.set(into, std::move(*value))) return wrong_type(member.key, "in range");
  return {};
}

/// The fields that the object being read has given a value.
using Given = std::vector<const Field*>;

Result<void> check_required(const Described& type, const Given& given) {
  for (const auto& field : type.fields) {
    if (field.kind == Kind::inlined) {
      if (auto checked = check_required(field.type(), given); !checked) return checked;
    }
    if (!field.required || std::find(given.begin(), given.end(), &field) != given.end()) continue;
    return about_field(field.name, invalid(fmt::format("\"{}\" is missing", field.name)));
  }
  return {};
}

/// Whether both of two fields that exclude each other are given.
Result<void> check_rivals(const Given& given) {
  for (const auto* field : given) {
    const auto is_rival = [&](const Field* other) { return other->name == field->rival; };
    if (field->rival.empty() || std::none_of(given.begin(), given.end(), is_rival)) continue;
    return about_field(field->name, invalid(fmt::format(R"("{}" and "{}" exclude each other: write one of them)",
                                                        field->name, field->rival)));
  }
  return {};
}

Result<void> read_object(std::string_view written, const Target& into, Timestamp now,
                         std::span<const std::string_view> except) {
  const auto members = json_members(written);
  if (!members) return invalid("this is not a JSON object: " + quoted(written));
  Given given;
  for (const auto& member : *members) {
    const auto key = json_text(member.key);
    if (member.written == "null" || std::find(except.begin(), except.end(), key) != except.end()) continue;
    const auto [field, owner] = find_field(into, key);
    if (field == nullptr) return about_field(key, unknown_key(into.type, key));
    // Which one counts would be a guess, and another reader of the same text may guess otherwise.
    if (std::find(given.begin(), given.end(), field) != given.end()) {
      return about_field(key, invalid(fmt::format("\"{}\" is written twice", key)));
    }
    given.push_back(field);
    if (auto read = read_member(*field, {key, member.written, now}, owner); !read) {
      return about_field(key, std::move(read).error());
    }
  }
  if (auto checked = check_rivals(given); !checked) return checked;
  return check_required(into.type, given);
}

}  // namespace

Result<void> read_json(std::string_view object, const Target& into, Timestamp now,
                       std::span<const std::string_view> except) {
  if (is_json(object)) return read_object(object, into, now, except);
  return invalid(fmt::format("this is not JSON ({}): {}", parse_json(object).error().message, quoted(object)));
}

}  // namespace leasehold::model
