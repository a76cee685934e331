#include "mcp/message.h"

#include <fmt/format.h>

#include <boost/json/object.hpp>
#include <boost/json/value.hpp>

#include "base/json.h"
#include "model/field.h"
#include "model/json.h"

namespace leasehold::mcp {
namespace {

namespace json = boost::json;

RpcError invalid_request(std::string message) {
  return {.code = RpcCode::invalid_request, .message = std::move(message)};
}

/// A text or a whole number: null and fractions cannot be matched with an answer.
bool is_id(const json::value& id) { return id.is_string() || id.is_int64() || id.is_uint64(); }

std::string written(std::string_view line, std::string_view key) {
  return std::string(json_member(line, key).value_or(""));
}

/// Why the object is no message; nothing if it is one.
std::optional<RpcError> defect_of(const json::object& object) {
  const auto* version = object.if_contains("jsonrpc");
  if (version == nullptr || *version != "2.0") return invalid_request(R"("jsonrpc" must be "2.0")");
  const auto* method = object.if_contains("method");
  const bool is_answer = method == nullptr && (object.contains("result") || object.contains("error"));
  if (is_answer) return std::nullopt;
  if (method == nullptr || !method->is_string()) return invalid_request("\"method\" must be a string");
  const auto* id = object.if_contains("id");
  if (id != nullptr && !is_id(*id)) return invalid_request("\"id\" must be a string or a whole number");
  const auto* params = object.if_contains("params");
  if (params != nullptr && !params->is_object()) {
    return RpcError{.code = RpcCode::invalid_params, .message = "\"params\" must be an object"};
  }
  return std::nullopt;
}

}  // namespace

Parsed parse_message(std::string_view line) {
  const auto value = parse_json(line);
  if (!value) {
    return {.error = RpcError{.code = RpcCode::parse_error, .message = "this is not JSON: " + value.error().message}};
  }
  if (value->is_array()) return {.error = invalid_request("batches are not part of the protocol since 2025-06-18")};
  const auto* object = value->if_object();
  if (object == nullptr) return {.error = invalid_request("a message is a JSON object")};
  const auto* id = object->if_contains("id");
  const auto written_id = id != nullptr && is_id(*id) ? written(line, "id") : std::string();
  if (auto defect = defect_of(*object)) {
    return {.error = std::move(defect), .id = written_id.empty() ? "null" : written_id};
  }
  Message message{.id = written_id};
  if (const auto* method = object->if_contains("method")) message.method = std::string(method->get_string());
  if (object->contains("params")) message.params = written(line, "params");
  return {.message = std::move(message)};
}

std::string quoted_json(std::string_view text) { return model::to_json(model::Value(std::string(text))); }

std::string result_line(std::string_view id, std::string_view result) {
  return fmt::format(R"({{"jsonrpc":"2.0","id":{},"result":{}}})", id, result);
}

std::string error_line(std::string_view id, const RpcError& error) {
  return fmt::format(R"({{"jsonrpc":"2.0","id":{},"error":{{"code":{},"message":{}{}}}}})", id,
                     static_cast<int>(error.code), quoted_json(error.message),
                     error.data.empty() ? "" : ",\"data\":" + error.data);
}

}  // namespace leasehold::mcp
