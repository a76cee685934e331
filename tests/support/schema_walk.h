// Whether JSON is as a schema says: the part of JSON Schema that our schemas use.
//
//   EXPECT_EQ(problem(answer, schema), "");
//   EXPECT_EQ(problem(answer, schema, part_of_the_document), "");      // for schemas with "$ref"
#pragma once

#include <algorithm>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>
#include <boost/json/value.hpp>
#include <functional>
#include <string>
#include <string_view>

namespace leasehold::support {

namespace json = boost::json;

/// What a "$ref" stands for.
using Resolve = std::function<const json::value&(const std::string& reference)>;

inline bool is_of_type(const json::value& value, std::string_view type) {
  if (type == "object") return value.is_object();
  if (type == "array") return value.is_array();
  if (type == "string") return value.is_string();
  if (type == "boolean") return value.is_bool();
  if (type == "integer") return value.is_int64();
  if (type == "number") return value.is_number();
  return type == "null" && value.is_null();
}

/// Empty: the value is as the schema says; otherwise what is wrong.
inline std::string problem(const json::value& value, const json::object& schema, const Resolve& resolve = {});

inline std::string problem_in_object(const json::value& value, const json::object& schema, const Resolve& resolve) {
  const auto& members = value.as_object();
  const auto& properties = schema.at("properties").as_object();
  for (const auto& key : schema.at("required").as_array()) {
    if (!members.contains(key.as_string())) return "there is no " + json::serialize(key);
  }
  for (const auto& [key, member] : members) {
    const auto* property = properties.if_contains(key);
    if (property == nullptr) return "the schema has no " + std::string(key);
    const auto wrong = problem(member, property->as_object(), resolve);
    if (!wrong.empty()) return std::string(key) + ": " + wrong;
  }
  return "";
}

inline std::string problem_with_choices(const json::value& value, const json::array& choices, const Resolve& resolve) {
  std::string wrong;
  for (const auto& choice : choices) {
    const auto one = problem(value, choice.as_object(), resolve);
    if (one.empty()) return "";
    wrong += one + "; ";
  }
  return wrong;
}

inline std::string problem(const json::value& value, const json::object& schema, const Resolve& resolve) {
  if (const auto* reference = schema.if_contains("$ref")) {
    const std::string name(reference->as_string());
    return resolve ? problem(value, resolve(name).as_object(), resolve) : "nothing resolves " + name;
  }
  if (const auto* choices = schema.if_contains("anyOf")) {
    return problem_with_choices(value, choices->as_array(), resolve);
  }
  if (!schema.contains("type")) return "";
  const std::string type(schema.at("type").as_string());
  if (!is_of_type(value, type)) return json::serialize(value) + " is no " + type;
  if (const auto* words = schema.if_contains("enum")) {
    const auto& all = words->as_array();
    if (std::find(all.begin(), all.end(), value) == all.end()) return json::serialize(value) + " is none of its words";
  }
  if (type == "object") return problem_in_object(value, schema, resolve);
  if (type != "array") return "";
  for (const auto& item : value.as_array()) {
    const auto wrong = problem(item, schema.at("items").as_object(), resolve);
    if (!wrong.empty()) return "in the list: " + wrong;
  }
  return "";
}

}  // namespace leasehold::support
