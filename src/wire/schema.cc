// JSON Schema, built from the same descriptions as the JSON itself.
#include <array>
#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <limits>

#include "wire/wire.h"

namespace leasehold::wire {
namespace {

namespace json = boost::json;
using model::Kind;

json::object object_schema(const model::Described& type);

json::object items(json::value schema) { return {{"type", "array"}, {"items", std::move(schema)}}; }

json::object one_of(std::span<const char* const> words) {
  return {{"type", "string"}, {"enum", json::array(words.begin(), words.end())}};
}

json::object schema_of_kind(const model::Field& field) {
  switch (field.kind) {
    case Kind::boolean: return {{"type", "boolean"}};
    case Kind::integer: return {{"type", "integer"}};
    case Kind::duration: return {{"type", "number"}};
    case Kind::timestamp: return {{"type", "string"}, {"format", "date-time"}};
    case Kind::texts: return items({{"type", "string"}});
    case Kind::integers: return items({{"type", "integer"}});
    case Kind::object: return object_schema(field.type());
    case Kind::objects: return items(object_schema(field.type()));
    case Kind::word: return one_of(field.words);
    case Kind::text:
    case Kind::bytes: return {{"type", "string"}};
    case Kind::json:
    case Kind::inlined:
    case Kind::hidden: return {};
  }
  return {};
}

/// The bounds of a number in its own unit, of a text in bytes, of a list in elements.
void add_bounds(json::object& schema, const model::Field& field) {
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
    case Kind::text:
    case Kind::bytes: schema["maxLength"] = max; break;
    case Kind::texts:
    case Kind::integers: schema["maxItems"] = max; break;
    default: break;
  }
}

json::value schema_of_field(const model::Field& field) {
  auto schema = schema_of_kind(field);
  if (field.within) add_bounds(schema, field);
  if (!field.nullable || field.left_out || field.kind == Kind::json) return schema;
  return json::object{{"anyOf", json::array{std::move(schema), json::object{{"type", "null"}}}}};
}

/// As to_json() writes it.
json::value default_of(const model::Field& field, const void* defaults) {
  const auto value = model::value_of(field, defaults);
  const auto* text = std::get_if<std::string>(&value);
  return json::parse(field.kind == Kind::json && text != nullptr ? *text : to_json(value));
}

void add_members(json::object& properties, json::array& required, const model::Described& type) {
  for (const auto& field : type.fields) {
    if (field.kind == Kind::hidden) continue;
    if (field.kind == Kind::inlined) {
      add_members(properties, required, field.type());
      continue;
    }
    const std::string name(field.name);
    properties[name] = schema_of_field(field);
    if (type.defaults != nullptr) properties[name].as_object()["default"] = default_of(field, type.defaults);
    if (field.kind == Kind::bytes) properties[name + "_base64"] = schema_of_field(field);
    const bool is_always_there =
        type.defaults == nullptr && !field.left_out && field.present == nullptr && field.kind != Kind::bytes;
    if (is_always_there) required.emplace_back(name);
  }
}

json::object object_schema(const model::Described& type) {
  json::object properties;
  json::array required;
  add_members(properties, required, type);
  return {{"title", json::string(type.name)},
          {"type", "object"},
          {"properties", std::move(properties)},
          {"required", std::move(required)},
          {"additionalProperties", false}};
}

}  // namespace

std::string schema_of(const model::Described& type) {
  json::object schema{{"$schema", "https://json-schema.org/draft/2020-12/schema"}};
  for (auto& [key, value] : object_schema(type)) schema[key] = std::move(value);
  return json::serialize(schema);
}

}  // namespace leasehold::wire
