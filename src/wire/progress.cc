#include "wire/progress.h"

#include <algorithm>
#include <boost/json/parse.hpp>
#include <cmath>

namespace leasehold::wire {
namespace {

namespace json = boost::json;

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
