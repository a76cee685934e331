#include "model/lines.h"

#include <algorithm>
#include <boost/json/object.hpp>
#include <cmath>

#include "base/digest.h"
#include "base/json.h"
#include "model/bounds.h"

namespace leasehold::model {
namespace {

namespace json = boost::json;

constexpr std::size_t digits_in_key = 16;

/// Nothing if the value is not an object with such a text.
std::optional<std::string> text_member(const json::value& value, std::string_view name) {
  const auto* object = value.if_object();
  const auto* member = object != nullptr ? object->if_contains(name) : nullptr;
  const auto* text = member != nullptr ? member->if_string() : nullptr;
  return text != nullptr ? std::optional<std::string>(*text) : std::nullopt;
}

Result<std::string> key_made_of(std::string_view line) {
  auto digits = sha256_hex(line);
  if (digits) digits->resize(digits_in_key);
  return digits;
}

}  // namespace

Result<PlannedChunk> planned_chunk_from(std::string_view line) {
  const auto value = parse_json(line);
  if (!value) return Error{.code = Errc::invalid_argument, .message = "it is not JSON"};
  auto given = text_member(*value, "key");
  auto key = given ? Result<std::string>(std::move(*given)) : key_made_of(line);
  if (!key) return std::move(key).error();
  if (auto checked = check_name("chunk key", *key); !checked) return std::move(checked).error();
  return PlannedChunk{.key = std::move(*key), .spec = std::string(line)};
}

namespace {

std::optional<int> percent_of(const json::object& object) {
  const auto* value = object.if_contains("percent");
  if (value == nullptr || !value->is_number()) return std::nullopt;
  json::error_code broken;
  const auto number = value->to_number<double>(broken);
  if (broken) return std::nullopt;
  return static_cast<int>(std::lround(std::clamp(number, 0.0, 100.0)));
}

}  // namespace

std::optional<Progress> progress_from(std::string_view line) {
  const auto value = parse_json(line);
  const auto* object = value ? value->if_object() : nullptr;
  if (object == nullptr) return std::nullopt;
  return Progress{percent_of(*object), text_member(*value, "message").value_or(""),
                  text_member(*value, "stage").value_or("")};
}

}  // namespace leasehold::model
