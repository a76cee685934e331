// The description for programs is whole: every reference leads somewhere, and every answer is as its schema says.
#include <boost/json/object.hpp>
#include <set>

#include "act/act.h"
#include "serve/server_fixture.h"

namespace leasehold::support {
namespace {

void collect_references(const json::value& value, std::set<std::string>& references) {
  if (const auto* list = value.if_array()) {
    for (const auto& each : *list) collect_references(each, references);
  }
  const auto* object = value.if_object();
  if (object == nullptr) return;
  for (const auto& [key, member] : *object) {
    if (key == "$ref") {
      references.insert(std::string(member.as_string()));
    } else {
      collect_references(member, references);
    }
  }
}

TEST(OpenApiTest, EveryReferenceLeadsSomewhere) {
  std::set<std::string> references;
  collect_references(openapi_document(), references);
  EXPECT_GT(references.size(), 50U);
  for (const auto& reference : references) openapi_part(reference);
}

bool is_text(const json::value* value) { return value != nullptr && value->is_string() && !value->as_string().empty(); }

/// What JSON Schema 2020-12 has against a schema; empty: nothing. Keywords that our schemas do not use are unknown
/// here.
std::string wrong_in_schema(const json::value& value);

std::string wrong_in_keyword(const std::string& key, const json::value& value) {
  static const std::set<std::string> types = {"object", "array", "string", "boolean", "integer", "number", "null"};
  static const std::set<std::string> numbers = {"minimum", "maximum", "minLength", "maxLength", "minItems", "maxItems"};
  static const std::set<std::string> texts = {"$ref", "description", "format", "pattern", "contentEncoding", "title"};
  if (key == "default" || key == "const") return "";
  if (key == "type") return value.is_string() && types.contains(std::string(value.as_string())) ? "" : "is no type";
  if (key == "items") return wrong_in_schema(value);
  if (key == "additionalProperties") return value.is_bool() ? "" : wrong_in_schema(value);
  if (numbers.contains(key)) return value.is_number() ? "" : "is no number";
  if (texts.contains(key)) return is_text(&value) ? "" : "is no text";
  if (key == "enum" || key == "examples") return value.is_array() && !value.as_array().empty() ? "" : "is no list";
  if (key == "anyOf") {
    if (!value.is_array() || value.as_array().empty()) return "is no list";
    for (const auto& each : value.as_array()) {
      if (auto wrong = wrong_in_schema(each); !wrong.empty()) return wrong;
    }
    return "";
  }
  return key == "properties" || key == "required" ? "" : "is unknown";
}

std::string wrong_in_properties(const json::object& schema) {
  static const json::object none;
  const auto* given = schema.if_contains("properties");
  if (given != nullptr && !given->is_object()) return "properties is no object";
  const auto& properties = given != nullptr ? given->as_object() : none;
  for (const auto& [name, property] : properties) {
    if (auto wrong = wrong_in_schema(property); !wrong.empty()) return std::string(name) + ": " + wrong;
  }
  const auto* required = schema.if_contains("required");
  if (required == nullptr) return "";
  std::set<std::string> names;
  for (const auto& name : required->as_array()) {
    if (!properties.contains(name.as_string())) return "required: " + std::string(name.as_string()) + " is no property";
    if (!names.insert(std::string(name.as_string())).second) return "required names a property twice";
  }
  return "";
}

std::string wrong_in_schema(const json::value& value) {
  if (!value.is_object()) return "is no object";
  for (const auto& [key, member] : value.as_object()) {
    const auto wrong = wrong_in_keyword(std::string(key), member);
    if (!wrong.empty()) return std::string(key) + " " + wrong;
  }
  return wrong_in_properties(value.as_object());
}

std::string wrong_in_content(const json::value& content) {
  if (content.as_object().empty()) return "there is no media type";
  for (const auto& [type, media] : content.as_object()) {
    const auto wrong = wrong_in_schema(media.at("schema"));
    if (!wrong.empty()) return std::string(type) + ": " + wrong;
  }
  return "";
}

std::string wrong_in_responses(const json::object& responses) {
  if (responses.empty()) return "there is no response";
  for (const auto& [status, response] : responses) {
    if (status != "default" && status.size() != 3) return "a response has the status " + std::string(status);
    if (response.as_object().contains("$ref")) continue;
    if (!is_text(response.as_object().if_contains("description"))) return "a response has no description";
    if (auto wrong = wrong_in_content(response.at("content")); !wrong.empty()) return wrong;
  }
  return "";
}

std::string wrong_in_parameters(const json::array& parameters) {
  std::set<std::string> names;
  for (const auto& parameter : parameters) {
    const auto& members = parameter.as_object();
    if (!is_text(members.if_contains("name"))) return "a parameter has no name";
    const std::string in(members.at("in").as_string());
    if (in != "query" && in != "header") return "a parameter is in " + in;
    if (!names.insert(in + " " + std::string(members.at("name").as_string())).second) return "a parameter occurs twice";
    if (auto wrong = wrong_in_schema(members.at("schema")); !wrong.empty()) return wrong;
  }
  return "";
}

std::string wrong_in_operation(const json::object& operation) {
  if (!is_text(operation.if_contains("operationId"))) return "there is no operationId";
  for (const auto& tag : operation.at("tags").as_array()) {
    if (!is_text(&tag)) return "a tag is no text";
  }
  if (const auto* parameters = operation.if_contains("parameters")) {
    if (auto wrong = wrong_in_parameters(parameters->as_array()); !wrong.empty()) return wrong;
  }
  if (const auto* body = operation.if_contains("requestBody")) {
    if (auto wrong = wrong_in_content(body->at("content")); !wrong.empty()) return wrong;
  }
  return wrong_in_responses(operation.at("responses").as_object());
}

TEST(OpenApiTest, TheTestSeesWhatIsWrong) {
  const auto wrong = [](const char* schema) { return wrong_in_schema(json::parse(schema)); };
  EXPECT_EQ(wrong(R"({"type":"object","properties":{"a":{"type":"string"}},"required":["a"]})"), "");
  EXPECT_EQ(wrong(R"({"type":"text"})"), "type is no type");
  EXPECT_EQ(wrong(R"({"items":{"typ":"string"}})"), "items typ is unknown");
  EXPECT_EQ(wrong(R"({"properties":{},"required":["a"]})"), "required: a is no property");
  EXPECT_EQ(wrong(R"({"anyOf":[]})"), "anyOf is no list");
}

TEST(OpenApiTest, ItsSchemasAreSchemas) {
  const auto& schemas = openapi_document().at("components").at("schemas").as_object();
  EXPECT_GT(schemas.size(), 50U);
  for (const auto& [name, schema] : schemas) EXPECT_EQ(wrong_in_schema(schema), "") << name;
}

TEST(OpenApiTest, ItIsOpenApi31) {
  EXPECT_TRUE(openapi_document().at("openapi").as_string().starts_with("3.1."));
  EXPECT_TRUE(is_text(openapi_document().at("info").as_object().if_contains("title")));
  EXPECT_TRUE(is_text(openapi_document().at("info").as_object().if_contains("version")));
  static const std::set<std::string> methods = {"get", "post"};
  std::set<std::string> ids;
  for (const auto& [path, item] : openapi_document().at("paths").as_object()) {
    EXPECT_TRUE(path.starts_with("/") && path.find('{') == path.npos) << path;
    for (const auto& [method, operation] : item.as_object()) {
      EXPECT_TRUE(methods.contains(std::string(method))) << path << " " << method;
      EXPECT_EQ(wrong_in_operation(operation.as_object()), "") << path << " " << method;
      const auto& id = operation.at("operationId").as_string();
      EXPECT_TRUE(ids.insert(std::string(id)).second) << id << " occurs twice";
    }
  }
}

TEST(OpenApiTest, ItsSecurityIsDescribed) {
  const auto& schemes = openapi_document().at("components").at("securitySchemes").as_object();
  for (const auto& choice : openapi_document().at("security").as_array()) {
    for (const auto& [name, scopes] : choice.as_object()) {
      ASSERT_TRUE(schemes.contains(name)) << name;
      EXPECT_TRUE(scopes.is_array());
    }
  }
  EXPECT_EQ(schemes.at("token").at("scheme"), "bearer");
  EXPECT_EQ(schemes.at("cookie").at("in"), "cookie");
}

TEST(OpenApiTest, EveryActHasItsPath) {
  const auto& paths = openapi_document().at("paths").as_object();
  for (const auto& act : act::all()) {
    if (act.local) continue;
    const auto* path = paths.if_contains(serve::path_of(act));
    ASSERT_NE(path, nullptr) << act.name;
    EXPECT_TRUE(path->as_object().contains("post"));
    EXPECT_EQ(path->as_object().contains("get"), act::only_reads(act)) << act.name;
  }
}

class OpenApiAnswerTest : public ServerTest {};
LEASEHOLD_ON_BOTH_STORES(OpenApiAnswerTest);

TEST_P(OpenApiAnswerTest, EveryExampleIsAnsweredAsItSays) {
  start_without_auth();
  auto one = client();
  int answered = 0;
  for (const auto& act : act::all()) {
    if (act.local) continue;
    const auto answer = one.ask("POST", serve::path_of(act), act.example);
    answered += answer.status == 200 ? 1 : 0;
    EXPECT_LT(answer.status, 500) << act.name << " " << answer.body;
    EXPECT_EQ(wrong_in_answer(serve::path_of(act), answer), "") << act.name << " " << answer.body;
  }
  // The others name jobs and tokens that are not there: their refusals are checked.
  EXPECT_GT(answered, 45);
}

}  // namespace
}  // namespace leasehold::support
