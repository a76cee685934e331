// Whether answers are as /openapi.json says.
//
//   EXPECT_EQ(wrong_in_answer("/api/v1/job/list", answer), "");
#pragma once

#include <boost/json/object.hpp>
#include <boost/json/parse.hpp>
#include <string>

#include "serve/api.h"
#include "serve/http_client.h"
#include "support/schema_walk.h"

namespace leasehold::support {

inline const json::object& openapi_document() {
  static const auto parsed = json::parse(serve::openapi_text()).as_object();
  return parsed;
}

/// What "#/components/schemas/JobInfo" stands for; null if there is no such part.
inline const json::value& openapi_part(const std::string& reference) {
  const json::value* value = openapi_document().if_contains("components");
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

/// Empty: the answer of an act is as the document says, or it is a problem as the document says, whatever was asked.
/// Other answers, such as the page, are not described there.
inline std::string wrong_in_answer(const std::string& path, const HttpAnswer& answer) {
  if (answer.headers.get("Content-Type") == "application/problem+json") {
    const auto& content = openapi_part("#/components/responses/Problem").at("content").at("application/problem+json");
    const auto value = answer.json();
    if (value.at("status") != answer.status) return "the status is not that of the response";
    return problem(value, content.at("schema").as_object(), openapi_part);
  }
  const auto* described = openapi_document().at("paths").as_object().if_contains(path.substr(0, path.find('?')));
  if (described == nullptr) return "";
  if (answer.status != 200) return "an act is refused without problem+json";
  if (answer.headers.get("Content-Type") != "application/json") return "the answer of an act is not JSON";
  if (answer.body.empty()) return "";  // of HEAD
  const auto& responses = described->at("post").at("responses");
  const auto& schema = responses.at("200").at("content").at("application/json").at("schema");
  return problem(answer.json(), schema.as_object(), openapi_part);
}

}  // namespace leasehold::support
