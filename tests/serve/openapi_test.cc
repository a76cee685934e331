// The description for programs is whole: every reference leads somewhere, and every answer is as its schema says.
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>
#include <map>
#include <set>

#include "act/act.h"
#include "serve/api.h"
#include "serve/server_fixture.h"
#include "support/schema_walk.h"

namespace leasehold::support {
namespace {

namespace json = boost::json;

const json::object& document() {
  static const auto parsed = json::parse(serve::openapi_text()).as_object();
  return parsed;
}

const json::value& at(const std::string& reference) {
  const json::value* value = document().if_contains("components");
  const std::string prefix = "#/components/";
  EXPECT_TRUE(reference.starts_with(prefix)) << reference;
  std::string rest = reference.substr(prefix.size());
  while (value != nullptr && !rest.empty()) {
    const auto slash = std::min(rest.find('/'), rest.size());
    const auto* object = value->if_object();
    value = object != nullptr ? object->if_contains(rest.substr(0, slash)) : nullptr;
    rest.erase(0, slash + 1);
  }
  static const json::value nothing;
  EXPECT_NE(value, nullptr) << reference;
  return value != nullptr ? *value : nothing;
}

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
  collect_references(document(), references);
  EXPECT_GT(references.size(), 50U);
  for (const auto& reference : references) at(reference);
}

TEST(OpenApiTest, EveryActHasItsPath) {
  const auto& paths = document().at("paths").as_object();
  for (const auto& act : act::all()) {
    if (act.local) continue;
    const auto* path = paths.if_contains(serve::path_of(act));
    ASSERT_NE(path, nullptr) << act.name;
    EXPECT_TRUE(path->as_object().contains("post"));
    EXPECT_EQ(path->as_object().contains("get"), act::only_reads(act)) << act.name;
  }
}

class OpenApiAnswerTest : public ServerTest {
 protected:
  /// Empty: the answer is as the document says.
  static std::string problem_in_answer(const act::Act& act, const HttpAnswer& answer) {
    const auto& responses = document().at("paths").at(serve::path_of(act)).at("post").at("responses").as_object();
    const auto is_answer = answer.status == 200;
    const auto& response = is_answer ? responses.at("200") : at("#/components/responses/Problem");
    const auto& content = response.at("content").at(is_answer ? "application/json" : "application/problem+json");
    return problem(answer.json(), content.at("schema").as_object(), at);
  }
};
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
    EXPECT_EQ(problem_in_answer(act, answer), "") << act.name << " " << answer.body;
  }
  // The others name jobs and tokens that are not there: their refusals are checked.
  EXPECT_GT(answered, 45);
}

}  // namespace
}  // namespace leasehold::support
