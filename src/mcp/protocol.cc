#include "mcp/server.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <boost/json/object.hpp>
#include <boost/json/value.hpp>

#include "base/json.h"

namespace leasehold::mcp {
namespace {

namespace json = boost::json;

/// With a handshake, the newest first.
constexpr std::array<std::string_view, 2> handshake_revisions = {"2025-11-25", "2025-06-18"};
/// Each request says its revision itself.
constexpr std::string_view modern_revision = "2026-07-28";
constexpr std::string_view oldest_revision = handshake_revisions.back();

constexpr std::string_view server_info =
    R"({"name":"leasehold","title":"leasehold","version":")" LEASEHOLD_VERSION R"("})";
constexpr std::string_view instructions =
    "leasehold keeps one owner per item, path and lock among all agents that share this store. Claim before you work, "
    "and finish with item_done. Keep the `session` that a tool returns and pass it on; if you lost it, overview "
    "returns "
    "it. `granted: false` names the owner and when to ask again: do something else meanwhile.";
constexpr std::string_view supported = R"(["2026-07-28","2025-11-25","2025-06-18"])";

RpcError unsupported(RpcCode code, std::string_view requested) {
  return {.code = code,
          .message = fmt::format("Unsupported protocol version: {}", requested),
          .data = fmt::format(R"({{"supported":{},"requested":{}}})", supported, quoted_json(requested))};
}

RpcError bad_params(std::string message) { return {.code = RpcCode::invalid_params, .message = std::move(message)}; }

std::string text_of(const json::object& object, std::string_view key) {
  const auto* value = object.if_contains(key);
  const auto* text = value != nullptr ? value->if_string() : nullptr;
  return text != nullptr ? std::string(*text) : std::string();
}

json::object params_of(const Message& request) {
  auto params = parse_json(request.params);
  return params && params->is_object() ? std::move(params->as_object()) : json::object();
}

/// The revision that a request of the modern kind names; empty: a request after a handshake.
std::string modern_revision_of(const json::object& params) {
  const auto* meta = params.if_contains("_meta");
  const auto* object = meta != nullptr ? meta->if_object() : nullptr;
  return object != nullptr ? text_of(*object, "io.modelcontextprotocol/protocolVersion") : std::string();
}

/// What every modern result has: that it is complete, and from which server.
std::string modern(std::string result) {
  result.replace(0, 1,
                 fmt::format(R"({{"resultType":"complete","_meta":{{"io.modelcontextprotocol/serverInfo":{}}}{})",
                             server_info, result == "{}" ? "" : ","));
  return result;
}

/// The list of tools and what the server can do are the same for every caller, until it is restarted.
constexpr std::string_view for_all = R"("ttlMs":3600000,"cacheScope":"public",)";

std::string discovered() {
  return fmt::format(R"({{{}"supportedVersions":{},"capabilities":{{"tools":{{}}}},"instructions":{}}})", for_all,
                     supported, quoted_json(instructions));
}

/// A newer revision than ours gets our newest; an older one cannot be served.
Reply initialized(const json::object& params) {
  const auto requested = text_of(params, "protocolVersion");
  if (requested.empty()) return bad_params("\"protocolVersion\" is missing");
  if (requested < oldest_revision) return unsupported(RpcCode::invalid_params, requested);
  const auto known = std::find(handshake_revisions.begin(), handshake_revisions.end(), requested);
  return fmt::format(R"({{"protocolVersion":"{}","capabilities":{{"tools":{{}}}},"serverInfo":{},"instructions":{}}})",
                     known != handshake_revisions.end() ? *known : handshake_revisions.front(), server_info,
                     quoted_json(instructions));
}

std::string result_of(const Outcome& outcome) {
  const auto structured = outcome.structured.empty() ? "" : ",\"structuredContent\":" + outcome.structured;
  return fmt::format(R"({{"content":[{{"type":"text","text":{}}}]{},"isError":{}}})", quoted_json(outcome.text),
                     structured, outcome.is_error);
}

}  // namespace

std::string Protocol::list_tools() const {
  std::string list;
  for (const auto& tool : tools_) list += (list.empty() ? "" : ",") + describe_tool(tool);
  return list;
}

Reply Protocol::call(const Message& request, bool is_modern, const std::stop_token& stop) {
  const auto params = params_of(request);
  const auto name = text_of(params, "name");
  if (name.empty()) return bad_params("\"name\" of the tool is missing");
  const auto tool = std::find_if(tools_.begin(), tools_.end(), [&](const Tool& one) { return one.name == name; });
  if (tool == tools_.end()) {
    return bad_params(
        fmt::format("Unknown tool: {}. tools/list names those of this server; --tools adds toolsets", name));
  }
  const auto* arguments = params.if_contains("arguments");
  if (arguments != nullptr && !arguments->is_object()) return bad_params("\"arguments\" must be an object");
  const auto written = json_member(request.params, "arguments").value_or("{}");
  const auto outcome = call_tool(desk_, *tool, written, stop);
  if (note_) note_(tool->name, outcome.code);
  if (outcome.bad_arguments) return bad_params(outcome.text);
  const auto result = result_of(outcome);
  return is_modern ? modern(result) : result;
}

Reply Protocol::dispatch(const Message& request, bool is_modern, const std::stop_token& stop) {
  const auto& method = request.method;
  if (method == "tools/call") return call(request, is_modern, stop);
  if (method == "tools/list") {
    return is_modern ? modern(fmt::format("{{{}\"tools\":[{}]}}", for_all, list_tools()))
                     : fmt::format("{{\"tools\":[{}]}}", list_tools());
  }
  if (method == "server/discover" && is_modern) return modern(discovered());
  if (method == "initialize" && !is_modern) return initialized(params_of(request));
  if (method == "ping" && !is_modern) return "{}";
  return RpcError{.code = RpcCode::method_not_found, .message = "Method not found: " + method};
}

Reply Protocol::answer(const Message& request, const std::stop_token& stop) {
  const auto revision = modern_revision_of(params_of(request));
  if (!revision.empty() && revision != modern_revision) return unsupported(RpcCode::unsupported_version, revision);
  return dispatch(request, !revision.empty(), stop);
}

bool Protocol::may_wait(const Message& request) {
  return request.method == "tools/call" && request.params.find("wait_seconds") != std::string::npos;
}

}  // namespace leasehold::mcp
