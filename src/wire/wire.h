// The one JSON encoding of every value and error, for the command line, the server and whoever reads them, out and in.
// It is made of the descriptions in src/model and stories.h.
//
// Keys are spelled as in C++ and SQL. Timestamps are ISO strings, durations are seconds under a key that
// ends in `_seconds`, tokens are numbers (below 2^53 until 2255). Text that is not UTF-8 is encoded with
// U+FFFD in place of what is broken, so that the output always parses. Payloads and results may be any bytes: what
// is not UTF-8 is told in base64, under a key that ends in `_base64`. Specs, cursors, metadata and counts are told as
// the JSON they are, number for number as they were given.
//
// Every function is pure but for `trusted_for_seconds` of grants and heartbeats, which is told from now.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "model/described.h"
#include "wire/stories.h"

namespace leasehold::wire {

using Scalar = std::variant<bool, std::int64_t, double, std::string_view>;
using Members = std::initializer_list<std::pair<std::string_view, Scalar>>;

std::string to_json(const model::Object& answer);
std::string to_json(const model::Value& value);

/// A struct that is described.
template <typename T>
std::string to_json(const T& answer) {
  return to_json(model::object_of(answer));
}

/// [a,b,...]
template <typename T>
std::string to_json(const std::vector<T>& items) {
  std::string text = "[";
  for (const auto& item : items) {
    if (text.size() > 1) text += ',';
    text += to_json(item);
  }
  return text + "]";
}

/// {"error":{"code":"held","message":"...","reason":...,"current":{...}}}
std::string to_json(const Error& error);

/// A described struct to be filled in.
struct Target {
  model::Described type{};
  void* at = nullptr;
};

/// Fills a struct from the object that to_json() would make of it. What the object leaves out, or says is null, stays
/// as it is; an unknown key is refused, since it is most likely misspelt. A duration may also stand as text under its
/// key without `_seconds` ("delay": "10m"), and a moment as on the command line, counted from `now`. Bounds are not
/// checked: see model::check_fields. `except` names keys that the caller reads itself.
Result<void> read_json(std::string_view object, const Target& into, Timestamp now = {},
                       std::span<const std::string_view> except = {});

template <typename T>
Result<T> from_json(std::string_view object, T defaults = {}, Timestamp now = {}) {
  if (auto read = read_json(object, {model::described<T>(), &defaults}, now); !read) return std::move(read).error();
  return defaults;
}

/// A small object for answers that are no value of their own: object({{"released", true}, {"key", name}}).
std::string object(Members members);

/// {"payload":"..."}, or {"payload_base64":"..."} for what is not UTF-8.
std::string bytes_object(std::string_view key, std::string_view bytes);

/// The JSON Schema (2020-12) of what to_json makes of a described struct. Keys that are not always there are not
/// required, and there are no others.
std::string schema_of(const model::Described& type);

}  // namespace leasehold::wire
