#include "wire/lines.h"

#include <algorithm>
#include <boost/json/object.hpp>
#include <boost/json/parse.hpp>
#include <cmath>

#include "base/digest.h"
#include "base/json.h"
#include "model/bounds.h"

namespace leasehold::wire {
namespace {

namespace json = boost::json;

constexpr std::size_t digits_in_key = 16;

/// As deep as is_json() looks.
constexpr std::size_t deepest = 1000;

/// Nothing: the line does not say.
std::optional<std::string> key_in(std::string_view line) {
  json::error_code broken;
  const auto value = json::parse(json::string_view(line.data(), line.size()), broken, {}, {.max_depth = deepest});
  const auto* object = broken ? nullptr : value.if_object();
  const auto* member = object != nullptr ? object->if_contains("key") : nullptr;
  const auto* key = member != nullptr ? member->if_string() : nullptr;
  if (key == nullptr) return std::nullopt;
  return std::string(key->data(), key->size());
}

Result<std::string> key_made_of(std::string_view line) {
  auto digits = sha256_hex(line);
  if (digits) digits->resize(digits_in_key);
  return digits;
}

}  // namespace

Result<PlannedChunk> planned_chunk_from(std::string_view line) {
  if (!is_json(line)) return Error{.code = Errc::invalid_argument, .message = "it is not JSON"};
  auto told = key_in(line);
  auto key = told ? Result<std::string>(std::move(*told)) : key_made_of(line);
  if (!key) return std::move(key).error();
  if (auto checked = check_name("chunk key", *key); !checked) return std::move(checked).error();
  return PlannedChunk{.key = std::move(*key), .spec = std::string(line)};
}

namespace {

std::string text_of(const json::object& object, std::string_view key) {
  const auto* value = object.if_contains(json::string_view(key.data(), key.size()));
  const auto* text = value != nullptr ? value->if_string() : nullptr;
  return text != nullptr ? std::string(text->data(), text->size()) : std::string();
}

std::optional<int> percent_of(const json::object& object) {
  const auto* value = object.if_contains("percent");
  if (value == nullptr || !value->is_number()) return std::nullopt;
  json::error_code broken;
  const auto number = value->to_number<double>(broken);
  if (broken) return std::nullopt;
  return static_cast<int>(std::lround(std::clamp(number, 0.0, 100.0)));
}

}  // namespace

std::optional<ProgressReport> progress_from(std::string_view line) {
  json::error_code broken;
  const auto value = json::parse(json::string_view(line.data(), line.size()), broken);
  const auto* object = broken ? nullptr : value.if_object();
  if (object == nullptr) return std::nullopt;
  return ProgressReport{percent_of(*object), text_of(*object, "message"), text_of(*object, "stage")};
}

}  // namespace leasehold::wire
