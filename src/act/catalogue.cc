// api/acts.json: everything about every act. Each struct is described once, under `types`.
#include <fmt/format.h>

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <map>

#include "act/act.h"
#include "model/json.h"
#include "model/words.h"

namespace leasehold::act {

std::string_view word_of(Scope scope) { return leasehold::word_of(scope); }

namespace {

namespace json = boost::json;

/// The schemas of structs by name, with references between them.
class Types {
 public:
  /// {"$ref":"#/types/JobInfo"}
  json::value reference_to(const model::Described& type) {
    auto schema = json::parse(model::schema_of(type, {.meanings = true})).as_object();
    schema.erase("$schema");
    return moved_out(std::move(schema));
  }

  [[nodiscard]] const std::map<std::string, json::object>& all() const { return all_; }

 private:
  json::value moved_out(json::object schema) {
    const std::string name(schema.at("title").as_string());
    schema.erase("title");
    for (auto& [key, property] : schema.at("properties").as_object()) replace_in(property);
    all_.emplace(name, std::move(schema));
    return json::object{{"$ref", "#/types/" + name}};
  }

  /// Replaces the struct in the schema of a key, in a list or as one of several.
  void replace_in(json::value& value) {
    if (auto* list = value.if_array()) {
      for (auto& each : *list) replace_in(each);
    }
    auto* schema = value.if_object();
    if (schema == nullptr) return;
    if (schema->contains("title")) {
      const auto* meaning = schema->if_contains("description");
      const auto described = meaning != nullptr ? json::value(*meaning) : json::value();
      schema->erase("description");
      schema->erase("default");
      auto reference = moved_out(std::move(*schema)).as_object();
      if (!described.is_null()) reference["description"] = described;
      value = std::move(reference);
      return;
    }
    for (const auto* key : {"items", "anyOf"}) {
      if (auto* inner = schema->if_contains(key)) replace_in(*inner);
    }
  }

  std::map<std::string, json::object> all_;
};

json::object entry_of(const Act& act, Types& types) {
  json::array refusals;
  for (const auto code : act.refusals) refusals.emplace_back(to_string(code));
  return {{"name", json::string(act.name)},
          {"help", json::string(act.help)},
          {"scope", json::string(word_of(act.scope))},
          {"sql", act.sql.empty() ? json::value() : json::value(json::string(act.sql))},
          {"reads", only_reads(act)},
          {"idempotent", act.idempotent},
          {"waits", act.waits},
          {"asks", asks(act)},
          {"local", act.local},
          {"refusals", std::move(refusals)},
          {"arguments", types.reference_to(act.arguments())},
          {"answer", types.reference_to(act.answer())},
          {"example", json::parse(act.example)}};
}

}  // namespace

std::string catalogue() {
  Types types;
  std::string acts;
  for (const auto& act : all()) acts += (acts.empty() ? "" : ",\n") + json::serialize(entry_of(act, types));
  std::string structs;
  for (const auto& [name, schema] : types.all()) {
    structs += fmt::format("{}\"{}\":{}", structs.empty() ? "" : ",\n", name, json::serialize(schema));
  }
  return fmt::format("{{\"acts\":[\n{}\n],\n\"types\":{{\n{}\n}}}}\n", acts, structs);
}

}  // namespace leasehold::act
