#include "serve/api.h"

#include <fmt/format.h>

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <map>
#include <string_view>

#include "act/act.h"
#include "model/described.h"
#include "model/errors.h"
#include "model/json.h"

namespace leasehold::serve {
namespace {

namespace json = boost::json;

constexpr std::string_view schemas = "#/components/schemas/";

json::object reference(std::string_view name) { return {{"$ref", std::string(schemas) + std::string(name)}}; }

/// "#/types/JobInfo" of api/acts.json at its place in this document.
void move_references(json::value& value) {
  if (auto* list = value.if_array()) {
    for (auto& each : *list) move_references(each);
  }
  auto* object = value.if_object();
  if (object == nullptr) return;
  for (auto& [key, member] : *object) {
    constexpr std::string_view types = "#/types/";
    auto* text = member.if_string();
    if (key == "$ref" && text != nullptr && text->starts_with(types)) {
      member = std::string(schemas) + std::string(text->subview(types.size()));
    } else {
      move_references(member);
    }
  }
}

std::string name_in(const json::value& reference) {
  const std::string_view path = reference.at("$ref").as_string();
  return std::string(path.substr(path.rfind('/') + 1));
}

json::object property(std::string_view type, std::string_view meaning) {
  return {{"type", type}, {"description", meaning}};
}

/// A refusal, with `more` in front of its members.
json::object refusal_schema(const json::object& more) {
  auto schema =
      json::parse(model::schema_of(model::described<Error>(), {.meanings = true, .titles = false})).as_object();
  schema.erase("$schema");
  auto& properties = schema.at("properties").as_object();
  // An answer with held_by contains a lease as the other answers do.
  properties["held_by"] = json::object{{"$ref", std::string(schemas) + "LeaseInfo"},
                                       {"description", properties.at("held_by").at("description")}};
  for (const auto& [key, member] : more) {
    properties[key] = member;
    schema.at("required").as_array().emplace_back(key);
  }
  return schema;
}

json::object granted(bool value) {
  return {{"type", "boolean"}, {"enum", json::array{value}}, {"description", "whether the act got what it asked for"}};
}

json::object problem_schema() {
  auto schema = refusal_schema({{"type", property("string", "a URI that names the kind of problem")},
                                {"title", property("string", "the same in words")},
                                {"status", property("integer", "the HTTP status")},
                                {"request_id", property("string", "as in the header X-Request-Id")}});
  return schema;
}

class Document {
 public:
  Document() {
    auto catalogue = json::parse(act::catalogue());
    move_references(catalogue);
    acts_ = std::move(catalogue.at("acts").as_array());
    schemas_ = std::move(catalogue.at("types").as_object());
    schemas_["Problem"] = problem_schema();
    schemas_["NotGranted"] = refusal_schema({{"granted", granted(false)}});
  }

  /// Members that are the same for every act come last, so that a change of one act is a change of one line.
  std::string text() {
    std::string paths;
    for (const auto& entry : acts_) {
      const auto* act = act::find(std::string_view(entry.at("name").as_string()));
      if (act == nullptr || act->local) continue;
      paths += fmt::format("{}\"{}\":{}", paths.empty() ? "" : ",\n", path_of(*act),
                           json::serialize(path_item(*act, entry.as_object())));
    }
    std::string structs;
    for (const auto& [name, schema] : sorted_schemas()) {
      structs += fmt::format("{}\"{}\":{}", structs.empty() ? "" : ",\n", name, json::serialize(schema));
    }
    return fmt::format(
        "{{\"openapi\":\"3.1.0\",\n\"info\":{},\n\"security\":{},\n\"paths\":{{\n{}\n}},\n"
        "\"components\":{{\"securitySchemes\":{},\n\"responses\":{},\n\"schemas\":{{\n{}\n}}}}}}\n",
        json::serialize(info()), R"([{"token":[]},{"cookie":[]}])", paths, security(), json::serialize(responses()),
        structs);
  }

 private:
  static json::object info() {
    return {
        {"title", "leasehold"},
        {"version", LEASEHOLD_VERSION},
        {"description",
         "Leases in the database you already have. An act that asks for something answers 200 with `granted`; every "
         "other refusal is problem+json."}};
  }

  static std::string security() {
    return R"({"token":{"type":"http","scheme":"bearer","description":"lht_..., see `leasehold token create`"},)"
           R"("cookie":{"type":"apiKey","in":"cookie","name":"leasehold"}})";
  }

  static json::object responses() {
    return {{"Problem", json::object{{"description", "a refusal"},
                                     {"content", json::object{{"application/problem+json",
                                                               json::object{{"schema", reference("Problem")}}}}}}}};
  }

  [[nodiscard]] std::map<std::string, json::value> sorted_schemas() const {
    std::map<std::string, json::value> sorted;
    for (const auto& [name, schema] : schemas_) sorted.emplace(std::string(name), schema);
    return sorted;
  }

  /// The answer of an act that asks, granted.
  std::string granted_schema(const std::string& answer) {
    auto name = answer + "Granted";
    if (schemas_.contains(name)) return name;
    auto schema = schemas_.at(answer).as_object();
    schema.at("properties").as_object()["granted"] = granted(true);
    schema.at("required").as_array().emplace_back("granted");
    schemas_[name] = std::move(schema);
    return name;
  }

  json::object answer_schema(const act::Act& act, const json::object& entry) {
    const auto answer = name_in(entry.at("answer"));
    if (!act::asks(act)) return reference(answer);
    return {{"anyOf", json::array{reference(granted_schema(answer)), reference("NotGranted")}}};
  }

  json::object operation(const act::Act& act, const json::object& entry) {
    json::array refusals;
    for (const auto& code : entry.at("refusals").as_array()) {
      if (!act::asks(act) || !may_wait(*errc_from(std::string_view(code.as_string())))) refusals.push_back(code);
    }
    const std::string name(act.name);
    return {
        {"tags", json::array{name.substr(0, name.find('.'))}},
        {"summary", json::string(act.help)},
        {"x-scope", json::string(act::word_of(act.scope))},
        {"x-refusals", std::move(refusals)},
        {"responses",
         json::object{
             {"200", json::object{{"description", "the answer"},
                                  {"content", json::object{{"application/json",
                                                            json::object{{"schema", answer_schema(act, entry)}}}}}}},
             {"default", json::object{{"$ref", "#/components/responses/Problem"}}}}}};
  }

  json::object path_item(const act::Act& act, const json::object& entry) {
    auto post = operation(act, entry);
    post["operationId"] = json::string(act.name);
    const json::object content{
        {"application/json", json::object{{"schema", entry.at("arguments")}, {"example", entry.at("example")}}}};
    post["requestBody"] = json::object{{"required", false}, {"content", content}};
    if (!act::only_reads(act)) {
      post["parameters"] = json::array{
          json::object{{"name", "Idempotency-Key"},
                       {"in", "header"},
                       {"description", "makes it harmless to repeat the request"},
                       {"schema", json::object{{"type", "string"}, {"minLength", 1}, {"maxLength", max_key}}}}};
      return {{"post", std::move(post)}};
    }
    auto get = operation(act, entry);
    get["operationId"] = std::string(act.name) + ".get";
    get["parameters"] = query_parameters(schemas_.at(name_in(entry.at("arguments"))).as_object());
    return {{"get", std::move(get)}, {"post", std::move(post)}};
  }

  static json::array query_parameters(const json::object& arguments) {
    json::array parameters;
    const auto& required = arguments.at("required").as_array();
    for (const auto& [key, schema] : arguments.at("properties").as_object()) {
      const bool is_needed = std::find(required.begin(), required.end(), json::value(key)) != required.end();
      parameters.push_back(json::object{{"name", key}, {"in", "query"}, {"required", is_needed}, {"schema", schema}});
    }
    return parameters;
  }

  json::array acts_;
  json::object schemas_;
};

}  // namespace

std::string openapi_text() { return Document().text(); }

}  // namespace leasehold::serve
