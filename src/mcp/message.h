// JSON-RPC 2.0, one message per line.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace leasehold::mcp {

/// Codes of JSON-RPC 2.0, and those of the Model Context Protocol.
enum class RpcCode {
  parse_error = -32700,
  invalid_request = -32600,
  method_not_found = -32601,
  invalid_params = -32602,
  internal_error = -32603,
  unsupported_version = -32022,
};

struct RpcError {
  RpcCode code = RpcCode::internal_error;
  std::string message{};
  std::string data{};  ///< JSON; empty: none
};

/// A request or a notification. Texts of JSON are as the client wrote them.
struct Message {
  std::string id{};      ///< JSON; empty: a notification
  std::string method{};  ///< empty: an answer of the client, which asks for nothing
  std::string params = "{}";
};

/// What a line says. Without a message: why it says nothing, and the id to answer with, if it has one.
struct Parsed {
  std::optional<Message> message{};
  std::optional<RpcError> error{};
  std::string id = "null";
};

Parsed parse_message(std::string_view line);

/// {"jsonrpc":"2.0","id":7,"result":{...}}
std::string result_line(std::string_view id, std::string_view result);
std::string error_line(std::string_view id, const RpcError& error);

/// A text in quotes.
std::string quoted_json(std::string_view text);

}  // namespace leasehold::mcp
