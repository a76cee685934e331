// The only JSON encoding of values and errors, out and in, for the command line, the server and their readers. It is
// built from the descriptions in src/model.
//
// Keys are spelled as in C++ and SQL. Timestamps are ISO strings, durations are seconds under a key that ends in
// `_seconds`, tokens are numbers (below 2^53 until 2255). Text that is not UTF-8 is encoded with U+FFFD in place of
// broken bytes, so that the output always parses. Payloads and results may be any bytes: JSON is written as it is,
// other bytes in base64, under a key that ends in `_base64`. Specs, cursors, metadata and counts are written as the
// JSON that was given, with every number unchanged.
//
// Every function is pure except for `trusted_for_seconds` of grants and heartbeats, which is counted from now.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "leasehold/page.h"
#include "model/described.h"

namespace leasehold::model {

using Scalar = std::variant<bool, std::int64_t, double, std::string_view>;
using Members = std::initializer_list<std::pair<std::string_view, Scalar>>;

std::string to_json(const Object& answer, Proofs proofs = Proofs::shown);
std::string to_json(const Value& value);

/// For described structs.
template <typename T>
std::string to_json(const T& answer) {
  return to_json(object_of(answer));
}

/// {"items":[a,b,...],"next":"..."}; `next` is null on the last page.
std::string list_to_json(const std::vector<Object>& items, const std::optional<std::string>& next);

template <typename T>
std::string to_json(const Page<T>& page) {
  std::vector<Object> objects;
  for (const auto& item : page) objects.push_back(object_of(item));
  return list_to_json(objects, page.next);
}

/// [a,b,...], for a list inside another value.
template <typename T>
std::string array_to_json(const std::vector<T>& items) {
  std::vector<Object> objects;
  for (const auto& item : items) objects.push_back(object_of(item));
  return to_json(Value(std::move(objects)));
}

/// A complete list.
template <typename T>
std::string to_json(const std::vector<T>& items) {
  return to_json(Page<T>{.items = items});
}

/// {"error":{"code":"held","message":"...","held_by":{...},"retry_in_seconds":12}}
std::string to_json(const Error& error);

/// A described struct to fill in.
struct Target {
  Described type{};
  void* at = nullptr;
};

/// Fills a struct from the object that to_json() would write for it. Keys that are missing or null leave the member
/// unchanged; an unknown key is refused, since it is most likely misspelt. A duration may also be a text under its key
/// without `_seconds` ("delay": "10m"), and a moment as on the command line, counted from `now`. Bounds are not
/// checked: see check_fields. `except` names keys that the caller reads itself.
Result<void> read_json(std::string_view object, const Target& into, Timestamp now = {},
                       std::span<const std::string_view> except = {});

template <typename T>
Result<T> from_json(std::string_view object, T defaults = {}, Timestamp now = {}) {
  if (auto read = read_json(object, {described<T>(), &defaults}, now); !read) return std::move(read).error();
  return defaults;
}

/// A small object for answers without a struct: json_object({{"released", true}, {"key", name}}).
std::string json_object(Members members);

/// {"payload":...}, or {"payload_base64":"..."} for bytes that are not JSON.
std::string bytes_object(std::string_view key, std::string_view bytes);

/// What a schema contains beside the types.
struct SchemaStyle {
  bool bounds = true;     ///< of arguments
  bool defaults = true;   ///< of arguments
  bool meanings = false;  ///< a description of each key
  bool titles = true;     ///< the name of each struct
};

/// The JSON Schema (2020-12) of a described struct as to_json writes it, or read_json reads it. Optional keys are not
/// required, and no other keys are allowed.
std::string schema_of(const Described& type, const SchemaStyle& style = {});

}  // namespace leasehold::model
