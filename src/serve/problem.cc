#include "serve/http.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include "base/json_text.h"
#include "model/described.h"
#include "model/errors.h"
#include "model/json.h"

namespace leasehold::serve {
namespace {

std::string title_of(std::string_view code) {
  std::string title(code);
  std::replace(title.begin(), title.end(), '_', ' ');
  return title;
}

/// `rest` is an object that begins with the code and the message.
Response problem_with(const Request& request, int status, std::string_view code, std::string rest) {
  rest.pop_back();
  auto body = with_member(
      fmt::format("{},\"request_id\":{}}}", rest, json_string(request.id)),
      fmt::format(R"("type":"urn:leasehold:problem:{}","title":"{}","status":{})", code, title_of(code), status));
  return {.status = status,
          .headers = {{"Content-Type", "application/problem+json"}, {"Cache-Control", "no-store"}},
          .body = std::move(body)};
}

/// Whole seconds, at least one, so that a client that waits this long does not get the same refusal.
std::string seconds_text(Duration time) {
  return std::to_string(std::max<std::int64_t>(1, std::chrono::ceil<std::chrono::seconds>(time).count()));
}

}  // namespace

std::string with_member(std::string object, std::string_view member) {
  object.replace(0, 1, fmt::format("{{{}{}", member, object == "{}" ? "" : ","));
  return object;
}

Response json_response(std::string body) {
  return {.headers = {{"Content-Type", "application/json"}, {"Cache-Control", "no-store"}}, .body = std::move(body)};
}

Response problem(const Request& request, int status, std::string_view code, std::string_view message) {
  auto response =
      problem_with(request, status, code, fmt::format(R"({{"code":"{}","message":{}}})", code, json_string(message)));
  if (status == 503) response.headers.set("Retry-After", "1");
  if (status == 401) response.headers.set("WWW-Authenticate", "Bearer realm=\"leasehold\"");
  return response;
}

Response problem(const Request& request, const Error& error) {
  const auto& row = row_of(error.code);
  auto response = problem_with(request, row.http_status, row.word, model::to_json(model::object_of(error)));
  if (error.retry_in) response.headers.set("Retry-After", seconds_text(*error.retry_in));
  if (!error.retry_in && (row.http_status == 503 || row.http_status == 429)) response.headers.set("Retry-After", "1");
  if (row.http_status == 401) response.headers.set("WWW-Authenticate", "Bearer realm=\"leasehold\"");
  return response;
}

}  // namespace leasehold::serve
