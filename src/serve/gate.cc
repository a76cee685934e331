#include "serve/gate.h"

#include <fmt/format.h>

#include "base/text.h"
#include "serve/http.h"
#include "serve/listen.h"

namespace leasehold::serve {
namespace {

constexpr std::string_view unix_peers = "unix";

std::string lower_case(std::string_view text) {
  std::string lower(text);
  for (auto& c : lower) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  return lower;
}

/// An origin leaves out the port of its scheme; a Host may have it.
std::string without_port(std::string authority, std::string_view scheme) {
  const std::string_view usual = scheme == "https" ? ":443" : ":80";
  if (authority.ends_with(usual)) authority.resize(authority.size() - usual.size());
  return authority;
}

/// The last address of a list: the one that the proxy itself has added.
std::string_view last_of(std::string_view list) {
  const auto comma = list.rfind(',');
  return trimmed(comma == std::string_view::npos ? list : list.substr(comma + 1));
}

}  // namespace

Gate::Gate(const GateOptions& options) : hosts_{"localhost"} {
  for (const auto& host : options.hosts) hosts_.insert(host_of(host));
  for (const auto& proxy : options.proxies) {
    const auto address = address_from(proxy);
    proxies_.insert(address.empty() ? proxy : address);
  }
}

std::optional<Response> Gate::refusal_of(const Request& request) const {
  const auto host = request.headers.get("Host");
  const auto name = host_of(host);
  // A page can rebind a name to this machine, but not an address.
  if (name.empty() || (!hosts_.contains(name) && address_from(name).empty())) {
    return problem(request, 421, "wrong_host",
                   fmt::format("this server is not {}: start it with --host to give it this name", quoted(host)));
  }
  const auto origin = request.headers.get("Origin");
  if (!origin.empty() && !is_own(origin, request)) {
    return problem(request, 403, "foreign_origin", fmt::format("pages of {} may not call this server", quoted(origin)));
  }
  const auto site = request.headers.get("Sec-Fetch-Site");
  if (site == "cross-site" && request.headers.get("Sec-Fetch-Mode") != "navigate") {
    return problem(request, 403, "foreign_origin", "pages of other sites may not call this server");
  }
  return std::nullopt;
}

bool Gate::is_own(std::string_view origin, const Request& request) const {
  const auto proto = trusts(request) ? last_of(request.headers.get("X-Forwarded-Proto")) : std::string_view("http");
  const auto host = lower_case(request.headers.get("Host"));
  for (const std::string_view scheme : {"http", "https"}) {
    // A trusted proxy that does not tell the scheme may serve both.
    if (!proto.empty() && proto != scheme) continue;
    const auto start = fmt::format("{}://", scheme);
    const auto given = lower_case(origin);
    if (!given.starts_with(start)) continue;
    return without_port(given.substr(start.size()), scheme) == without_port(host, scheme);
  }
  return false;
}

bool Gate::is_same_origin(const Request& request) {
  // refusal_of() has compared it with the host.
  if (!request.headers.get("Origin").empty()) return true;
  return request.headers.get("Sec-Fetch-Site") == "same-origin";
}

bool Gate::trusts(const Request& request) const {
  return proxies_.contains(request.is_unix ? unix_peers : std::string_view(request.peer));
}

void Gate::look_behind_proxy(Request& request) const {
  if (!trusts(request)) return;
  request.is_https = last_of(request.headers.get("X-Forwarded-Proto")) == "https";
  if (const auto client = address_from(last_of(request.headers.get("X-Forwarded-For"))); !client.empty()) {
    request.peer = client;
  }
}

}  // namespace leasehold::serve
