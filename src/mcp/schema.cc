// Small schemas, and how a tool is described in tools/list.
#include <fmt/format.h>

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>

#include "mcp/message.h"
#include "mcp/tool.h"

namespace leasehold::mcp {
namespace {

namespace json = boost::json;
using model::Field;
using model::Kind;

json::object schema_of_kind(const Field& field) {
  switch (field.kind) {
    case Kind::boolean: return {{"type", "boolean"}};
    case Kind::integer: return {{"type", "integer"}};
    case Kind::duration: return {{"type", "number"}};
    case Kind::timestamp:
    case Kind::text: return {{"type", "string"}};
    case Kind::texts: return {{"type", "array"}, {"items", {{"type", "string"}}}};
    case Kind::integers: return {{"type", "array"}, {"items", {{"type", "integer"}}}};
    case Kind::word: return {{"type", "string"}, {"enum", json::array(field.words.begin(), field.words.end())}};
    case Kind::object: return {{"type", "object"}};
    case Kind::objects: return {{"type", "array"}, {"items", {{"type", "object"}}}};
    case Kind::bytes:
    case Kind::json:
    case Kind::inlined:
    case Kind::hidden: return {};
  }
  return {};
}

json::object small_schema(const Described& type);

/// An argument may be left out, so null need not be allowed. An answer may be null.
json::object schema_of_field(const Field& field, bool is_argument) {
  auto schema = schema_of_kind(field);
  const bool may_be_null = !is_argument && field.nullable && !field.left_out;
  if (may_be_null && schema.contains("type")) {
    schema.erase("enum");
    schema["type"] = json::array{schema["type"], "null"};
  }
  if (is_argument && field.kind == Kind::objects) schema["items"] = small_schema(field.type());
  if (!field.meaning.empty() && is_argument) schema["description"] = json::string(field.meaning);
  return schema;
}

void add_members(json::object& properties, json::array& required, const Described& type) {
  const bool is_argument = type.defaults != nullptr;
  for (const auto& field : type.fields) {
    if (field.kind == Kind::hidden) continue;
    if (field.kind == Kind::inlined) {
      // The keys of a refusal are there only with a refusal.
      if (!field.left_out) add_members(properties, required, field.type());
      continue;
    }
    const std::string name(field.name);
    properties[name] = schema_of_field(field, is_argument);
    const bool is_always_there =
        !is_argument && !field.left_out && field.present == nullptr && field.kind != Kind::bytes;
    if (field.required || is_always_there) required.emplace_back(name);
    if (is_argument && field.kind == Kind::bytes) properties[name + "_base64"] = json::object{{"type", "string"}};
  }
}

json::object small_schema(const Described& type) {
  json::object properties;
  json::array required;
  add_members(properties, required, type);
  json::object schema{{"type", "object"}, {"properties", std::move(properties)}};
  if (!required.empty()) schema["required"] = std::move(required);
  return schema;
}

/// Of a tool that asks for something: the keys of a refusal stand beside those of a grant.
json::object answer_schema_of(const Tool& tool) {
  auto schema = small_schema(tool.answer());
  if (!tool.asks) return schema;
  auto& properties = schema["properties"].as_object();
  properties["granted"] = json::object{{"type", "boolean"}};
  properties["code"] = json::object{{"type", "string"}};
  properties["held_by"] = json::object{{"type", "object"}};
  properties["retry_in_seconds"] = json::object{{"type", "number"}};
  schema["required"] = json::array{"granted"};
  return schema;
}

}  // namespace

std::string describe_tool(const Tool& tool) {
  return fmt::format(R"({{"name":{},"description":{},"inputSchema":{},"outputSchema":{},)"
                     R"("annotations":{{"readOnlyHint":{},"idempotentHint":{}}}}})",
                     quoted_json(tool.name), quoted_json(tool.help), json::serialize(small_schema(tool.arguments())),
                     json::serialize(answer_schema_of(tool)), tool.reads, tool.idempotent);
}

}  // namespace leasehold::mcp
