#include "wire/lines.h"

#include <fmt/format.h>

#include <array>
#include <boost/json/value.hpp>
#include <limits>

#include "base/json.h"
#include "base/text.h"
#include "base/time_text.h"
#include "model/job_text.h"
#include "wire/json.h"

namespace leasehold::wire {
namespace {

namespace json = boost::json;

Error wrong_type(std::string_view key, std::string_view wanted) {
  return invalid(fmt::format("\"{}\" is not {}", key, wanted));
}

Result<std::string> text_in(std::string_view key, const json::value& value) {
  if (const auto* string = value.if_string()) return std::string(*string);
  return wrong_type(key, "a string");
}

Result<std::int64_t> integer_in(std::string_view key, const json::value& value) {
  json::error_code broken;
  const auto number = value.to_number<std::int64_t>(broken);
  if (broken || value.is_double()) return wrong_type(key, "a whole number");
  return number;
}

Result<void> take_number(int& into, std::string_view key, const json::value& value) {
  const auto number = integer_in(key, value);
  if (!number) return number.error();
  if (*number < std::numeric_limits<int>::min() || *number > std::numeric_limits<int>::max()) {
    return wrong_type(key, "a number of that size");
  }
  into = static_cast<int>(*number);
  return {};
}

Result<void> take_text(std::string& into, std::string_view key, const json::value& value) {
  auto text = text_in(key, value);
  if (!text) return std::move(text).error();
  into = std::move(*text);
  return {};
}

/// A value that is written as text, such as "30s".
template <typename T, typename Parse>
Result<void> take_parsed(T& into, std::string_view key, const json::value& value, Parse parse) {
  const auto text = text_in(key, value);
  if (!text) return text.error();
  auto parsed = parse(*text);
  if (!parsed) return invalid(fmt::format("\"{}\": {}", key, parsed.error().message));
  into = std::move(*parsed);
  return {};
}

template <typename T, typename Read>
Result<void> take_list(std::vector<T>& into, std::string_view key, const json::value& value, Read read) {
  const auto* array = value.if_array();
  if (array == nullptr) return wrong_type(key, "an array");
  into.clear();
  for (const auto& item : *array) {
    auto element = read(key, item);
    if (!element) return std::move(element).error();
    into.push_back(std::move(*element));
  }
  return {};
}

/// What is no string stays as it was written: a reader rounds large numbers, or makes infinity of them.
std::string payload_in(std::string_view line, const json::value& value) {
  const auto* string = value.if_string();
  return std::string(string != nullptr ? std::string_view(*string) : json_member(line, "payload").value_or(""));
}

Result<void> take_base64(std::string& into, std::string_view key, const json::value& value) {
  const auto text = text_in(key, value);
  if (!text) return text.error();
  auto bytes = from_base64(*text);
  if (!bytes) return wrong_type(key, "base64");
  into = std::move(*bytes);
  return {};
}

Error unknown_key(std::string_view key) {
  static const std::vector<std::string> known = {
      "payload",        "payload_base64", "priority",     "delay", "run_at", "dedupe_key", "limit_key",
      "failure_budget", "backoff",        "crash_budget", "tags",  "after",  "if_failed"};
  const auto meant = nearest(key, known);
  return invalid(
      fmt::format("unknown key {}{}", leasehold::quoted(key), meant.empty() ? "" : ": did you mean " + meant + "?"));
}

Result<void> take_member(NewJob& out, std::string_view key, const json::value& value, Timestamp now) {
  if (key == "payload_base64") return take_base64(out.payload, key, value);
  if (key == "priority") return take_number(out.priority, key, value);
  if (key == "delay") return take_parsed(out.delay, key, value, parse_duration);
  if (key == "run_at") {
    return take_parsed(out.run_at, key, value, [now](const auto& text) { return parse_moment(text, now); });
  }
  if (key == "dedupe_key") return take_text(out.dedupe_key, key, value);
  if (key == "limit_key") return take_text(out.limit_key, key, value);
  if (key == "failure_budget") return take_number(out.failure_budget, key, value);
  if (key == "crash_budget") return take_number(out.crash_budget, key, value);
  if (key == "backoff") return take_parsed(out.backoff, key, value, parse_backoff);
  if (key == "tags") return take_list(out.tags, key, value, text_in);
  if (key == "after") return take_list(out.after, key, value, integer_in);
  if (key == "if_failed") return take_parsed(out.if_failed, key, value, parse_if_failed);
  return unknown_key(key);
}

/// null says nothing.
bool says(const json::object& object, std::string_view key) {
  const auto* member = object.if_contains(key);
  return member != nullptr && !member->is_null();
}

/// A line that says when replaces the default of either kind.
void choose_time(NewJob& out, const json::object& object) {
  const bool delay = says(object, "delay");
  const bool run_at = says(object, "run_at");
  if (delay && !run_at) out.run_at.reset();
  if (run_at && !delay) out.delay = Duration(0);
}

}  // namespace

Result<NewJob> job_from(std::string_view line, const NewJob& defaults, Timestamp now) {
  const auto value = parse_json(line);
  if (!value) {
    return invalid(fmt::format("this is not JSON ({}): {}", value.error().message, leasehold::quoted(line)));
  }
  const auto* object = value->if_object();
  if (object == nullptr) return invalid("this is not a JSON object: with --envelope every line is {\"payload\": ...}");
  auto out = defaults;
  for (const auto& [key, member] : *object) {
    if (key == "payload") {
      out.payload = payload_in(line, member);
    } else if (!member.is_null()) {
      if (auto taken = take_member(out, key, member, now); !taken) return std::move(taken).error();
    }
  }
  choose_time(out, *object);
  return out;
}

}  // namespace leasehold::wire
