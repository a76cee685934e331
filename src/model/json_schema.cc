// JSON Schema, built from the same descriptions as the JSON itself.
#include <array>
#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <limits>

#include "model/json.h"
#include "model/keys.h"

namespace leasehold::model {
namespace {

namespace json = boost::json;

json::object items(json::value schema) { return {{"type", "array"}, {"items", std::move(schema)}}; }

json::object one_of(std::span<const char* const> words) {
  return {{"type", "string"}, {"enum", json::array(words.begin(), words.end())}};
}

/// The bounds of a number in its own unit, of a text in bytes, of a list in elements.
void add_bounds(json::object& schema, const Field& field) {
  const auto& [min, max] = *field.within;
  switch (field.kind) {
    case Kind::integer:
      schema["minimum"] = min;
      schema["maximum"] = max;
      break;
    case Kind::duration:
      schema["minimum"] = static_cast<double>(min) / 1e6;
      if (max != std::numeric_limits<std::int64_t>::max()) schema["maximum"] = static_cast<double>(max) / 1e6;
      break;
    case Kind::text: schema["maxLength"] = max; break;
    case Kind::texts:
    case Kind::integers:
    case Kind::objects:
      if (min > 0) schema["minItems"] = min;
      schema["maxItems"] = max;
      break;
    default: break;
  }
}

/// As to_json() writes it.
json::value default_of(const Field& field, const void* defaults) {
  const auto value = value_of(field, defaults);
  const auto* text = std::get_if<std::string>(&value);
  const bool is_json_text = field.kind == Kind::json || field.kind == Kind::bytes;
  if (is_json_text && text != nullptr) return text->empty() ? json::value() : json::parse(*text);
  return json::parse(to_json(value));
}

class Schema {
 public:
  explicit Schema(const SchemaStyle& style) : style_(style) {}

  [[nodiscard]] json::object of(const Described& type) const {
    json::object properties;
    json::array required;
    add_members(properties, required, type);
    json::object schema;
    if (style_.titles) schema["title"] = json::string(type.name);
    schema["type"] = "object";
    schema["properties"] = std::move(properties);
    schema["required"] = std::move(required);
    schema["additionalProperties"] = false;
    return schema;
  }

 private:
  [[nodiscard]] json::object of_kind(const Field& field) const {
    switch (field.kind) {
      case Kind::boolean: return {{"type", "boolean"}};
      case Kind::integer: return {{"type", "integer"}};
      case Kind::duration: return {{"type", "number"}};
      case Kind::timestamp: return {{"type", "string"}, {"format", "date-time"}};
      case Kind::texts: return items({{"type", "string"}});
      case Kind::integers: return items({{"type", "integer"}});
      case Kind::object: return of(field.type());
      case Kind::objects: return items(of(field.type()));
      case Kind::word: return one_of(field.words);
      case Kind::text: return {{"type", "string"}};
      case Kind::bytes:
      case Kind::json:
      case Kind::inlined:
      case Kind::hidden: return {};
    }
    return {};
  }

  [[nodiscard]] json::object of_field(const Field& field) const {
    auto schema = of_kind(field);
    if (field.within && style_.bounds) add_bounds(schema, field);
    const bool is_any = field.kind == Kind::json || field.kind == Kind::bytes;
    if (!field.nullable || field.left_out || is_any || field.required) return schema;
    return {{"anyOf", json::array{std::move(schema), json::object{{"type", "null"}}}}};
  }

  void add_members(json::object& properties, json::array& required, const Described& type) const {
    for (const auto& field : type.fields) {
      if (field.kind == Kind::hidden) continue;
      if (field.kind == Kind::inlined) {
        add_members(properties, required, field.type());
        continue;
      }
      auto schema = of_field(field);
      if (style_.meanings) {
        const bool is_argument = type.defaults != nullptr;
        schema["description"] = json::string(is_argument ? meaning_of_argument(field) : meaning_of(field));
      }
      const bool has_default = type.defaults != nullptr && !field.required;
      if (has_default && style_.defaults) schema["default"] = default_of(field, type.defaults);
      const std::string name(field.name);
      properties[name] = std::move(schema);
      if (field.kind == Kind::bytes) properties[name + "_base64"] = json::object{{"type", "string"}};
      const bool is_always_there =
          type.defaults == nullptr && !field.left_out && field.present == nullptr && field.kind != Kind::bytes;
      if (field.required || is_always_there) required.emplace_back(name);
    }
  }

  SchemaStyle style_;
};

}  // namespace

std::string schema_of(const Described& type, const SchemaStyle& style) {
  json::object schema{{"$schema", "https://json-schema.org/draft/2020-12/schema"}};
  for (auto& [key, value] : Schema(style).of(type)) schema[key] = std::move(value);
  return json::serialize(schema);
}

}  // namespace leasehold::model
