#include "serve/pages.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <vector>

#include "base/text.h"
#include "mcp/server.h"
#include "observe/metrics.h"
#include "serve/http.h"

namespace leasehold::serve {
namespace {

constexpr std::array<std::string_view, 3> revisions = {"2025-06-18", "2025-11-25", "2026-07-28"};

/// The toolsets of `?tools=jobs,chunks`, beside claims and locks.
Result<std::vector<mcp::Toolset>> toolsets_in(std::string_view query) {
  std::vector<mcp::Toolset> chosen{mcp::Toolset::claims, mcp::Toolset::locks};
  const auto members = query_members(query);
  if (!members) return members.error();
  for (const auto& [name, value] : *members) {
    if (name != "tools") return invalid("/mcp has the parameter `tools` only: " + quoted(name));
    std::string_view rest = value;
    while (!rest.empty()) {
      const auto end = std::min(rest.find(','), rest.size());
      const auto toolset = mcp::toolset_from(rest.substr(0, end));
      if (!toolset) return invalid("there is no toolset " + quoted(rest.substr(0, end)));
      if (std::find(chosen.begin(), chosen.end(), *toolset) == chosen.end()) chosen.push_back(*toolset);
      rest.remove_prefix(std::min(end + 1, rest.size()));
    }
  }
  return chosen;
}

bool only_reads(const mcp::Tool& tool) { return tool.act != nullptr ? act::only_reads(*tool.act) : tool.reads; }

/// What the caller may use.
std::vector<mcp::Tool> tools_for(const Caller& caller, const std::vector<mcp::Toolset>& toolsets, bool read_only) {
  auto tools = mcp::tools_of(toolsets);
  std::erase_if(tools, [&](const mcp::Tool& tool) {
    if (read_only && !only_reads(tool)) return true;
    const auto needed = tool.act != nullptr ? tool.act->scope : tool.reads ? Scope::read : Scope::work;
    return needed > caller.scope;
  });
  return tools;
}

std::optional<Response> refusal_of(const Request& request, const Caller& caller) {
  if (caller.by_cookie) {
    return problem(request, 401, "unauthorized",
                   "agents send their token in a header: `Authorization: Bearer lht_...`");
  }
  if (!may_touch(caller.only, "", "")) {
    return problem(request, denied("the patterns of this token do not allow the whole store"));
  }
  const auto revision = request.headers.get("MCP-Protocol-Version");
  if (!revision.empty() && std::find(revisions.begin(), revisions.end(), revision) == revisions.end()) {
    return problem(request, 400, "unsupported_version", fmt::format("unsupported revision {}", quoted(revision)));
  }
  return std::nullopt;
}

}  // namespace

Response mcp_response(const Request& request, const Store& store, const Caller& caller, bool read_only,
                      const std::stop_token& stop) {
  if (auto refused = refusal_of(request, caller)) return std::move(*refused);
  const auto toolsets = toolsets_in(request.query);
  if (!toolsets) return problem(request, toolsets.error());
  const auto parsed = mcp::parse_message(request.body);
  if (parsed.error) {
    auto response = json_response(mcp::error_line(parsed.id, *parsed.error));
    response.status = 400;
    return response;
  }
  const auto& message = *parsed.message;
  // A notification, or an answer to a question that the server never asked.
  if (message.id.empty() || message.method.empty()) return {.status = 202};
  const auto began = BootClock::now();
  mcp::Desk desk([&store]() -> Result<Store> { return store; }, holder_of(caller, request), false);
  mcp::Protocol protocol(desk, tools_for(caller, *toolsets, read_only),
                         [began](std::string_view tool, std::string_view outcome) {
                           observe::process().mcp(tool, outcome, BootClock::now() - began);
                         });
  const auto reply = protocol.answer(message, stop);
  const auto* error = std::get_if<mcp::RpcError>(&reply);
  return json_response(error != nullptr ? mcp::error_line(message.id, *error)
                                        : mcp::result_line(message.id, std::get<std::string>(reply)));
}

}  // namespace leasehold::serve
