#include "serve/site.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/digest.h"
#include "base/json.h"
#include "base/json_text.h"
#include "base/text.h"
#include "model/json.h"
#include "observe/metrics.h"
#include "serve/api.h"
#include "serve/http.h"
#include "serve/pages.h"
#include "store/store.h"

namespace leasehold::serve {

namespace {

constexpr std::string_view mcp_path = "/mcp";
/// For those who must get an answer soon, even if it is that the store does not answer.
constexpr Duration quick_call = std::chrono::seconds(1);

/// A client may choose the id, so that its logs and ours agree.
std::string id_of(const Request& request) {
  constexpr std::size_t longest = 64;
  const auto given = request.headers.get("X-Request-Id");
  const bool is_plain = std::all_of(given.begin(), given.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_' ||
           c == '.';
  });
  return !given.empty() && given.size() <= longest && is_plain ? std::string(given) : random_hex();
}

std::string_view methods_of(const act::Act& act) { return act::only_reads(act) ? "GET, HEAD, POST" : "POST"; }

bool is_among(std::string_view method, std::string_view methods) {
  while (!methods.empty()) {
    const auto comma = std::min(methods.find(", "), methods.size());
    if (methods.substr(0, comma) == method) return true;
    methods.remove_prefix(std::min(comma + 2, methods.size()));
  }
  return false;
}

/// Whether the arguments can have the key `wait_seconds`: also with escaped letters.
bool may_name_wait(const Request& request) {
  const auto names = [](std::string_view text, char escape) {
    return text.find("wait") != std::string_view::npos || text.find(escape) != std::string_view::npos;
  };
  return names(request.body, '\\') || names(request.query, '%');
}

Response wrong_method(const Request& request, std::string_view methods) {
  auto response = problem(request, 405, "wrong_method", fmt::format("{} takes {}", request.path, methods));
  response.headers.set("Allow", std::string(methods));
  return response;
}

/// For refusals of the transport.
std::string_view code_of_refusal(int status) {
  switch (status) {
    case 408: return "too_slow";
    case 413:
    case 431: return "too_large";
    case 501: return "not_implemented";
    case 503: return "unavailable";
    default: return "bad_request";
  }
}

Response read_only_refusal(const Request& request) {
  return problem(request, 403, "read_only", "this server only reads: it was started with --read-only");
}

}  // namespace

std::optional<std::string> path_below(std::string_view base_path, std::string_view path) {
  if (!path.starts_with(base_path)) return std::nullopt;
  path.remove_prefix(base_path.size());
  if (path.empty()) return "/";
  if (path.front() != '/') return std::nullopt;
  return std::string(path);
}

Site::Site(const Store& store, const SiteOptions& options)
    : store_(store),
      quick_(store_over(store.impl().backend, {.call_timeout = quick_call})),
      options_(options),
      gate_(options.gate),
      callers_(store, quick_, options.callers),
      tokens_(store),
      pump_(std::in_place, store) {}

Site::~Site() { finish(); }

void Site::finish() {
  waits_.finish();
  acts_.finish();
  looks_.finish();
  metrics_.finish();
  // The pump writes to streams, and these wake the network thread's loop, which still exists here.
  pump_.reset();
}

const Site::Route* Site::route_at(std::string_view path) {
  static constexpr std::string_view look = "GET, HEAD";
  static constexpr auto routes = std::to_array<Route>({
      {.path = "/healthz", .methods = look, .answer = &Site::healthz, .threads = nullptr},
      {.path = "/readyz", .methods = look},  // see run()
      {.path = "/metrics", .methods = look, .answer = &Site::metrics, .threads = &Site::metrics_},
      {.path = "/metrics/store", .methods = look, .answer = &Site::store_metrics},
      {.path = "/openapi.json", .methods = look, .answer = &Site::openapi, .threads = nullptr},
      {.path = mcp_path, .methods = "POST", .max_body = bounds::mcp_line_bytes},  // perform() answers it
      {.path = "/login", .methods = "GET, HEAD, POST", .max_body = 4096, .answer = &Site::log_in},
      {.path = "/logout", .methods = "POST", .max_body = 4096, .answer = &Site::log_out},
      {.path = "/api/v1/whoami", .methods = look, .answer = &Site::whoami},
      {.path = "/api/v1/stream", .methods = look, .answer = &Site::stream},
  });
  const auto* found = std::find_if(routes.begin(), routes.end(), [&](const Route& one) { return one.path == path; });
  return found != routes.end() ? found : nullptr;
}

std::optional<Response> Site::refusal_of(const Request& request) const {
  if (auto refusal = gate_.refusal_of(request)) return refusal;
  if (const auto* route = route_at(request.path)) {
    if (!is_among(request.method, route->methods)) return wrong_method(request, route->methods);
    const bool is_refused = draining_ && route->path == mcp_path;
    return is_refused ? std::optional(stopping(request)) : std::nullopt;
  }
  const auto* act = act_at(request.path);
  if (act == nullptr) {
    if (request.path.starts_with("/api/")) return problem(request, 404, "unknown_route", no_act_at(request.path));
    if (!reads(request.method)) return wrong_method(request, "GET, HEAD");
    return std::nullopt;
  }
  if (!is_among(request.method, methods_of(*act))) return wrong_method(request, methods_of(*act));
  if (options_.read_only && !act::only_reads(*act)) {
    return read_only_refusal(request);
  }
  if (draining_) return stopping(request);
  return std::nullopt;
}

std::variant<std::size_t, Response> Site::admit(const Request& head) {
  auto request = head;
  request.id = id_of(request);
  const auto path = path_below(options_.base_path, head.path);
  auto refusal = path ? std::nullopt : std::optional(problem(request, 404, "unknown_route", "this is another site"));
  request.path = path.value_or("");
  if (!refusal) refusal = refusal_of(request);
  if (refusal) {
    Visit visit{.request = std::move(request), .began = BootClock::now()};
    refusal->headers.set("X-Request-Id", visit.request.id);
    note(visit, *refusal);
    return std::move(*refusal);
  }
  if (const auto* act = act_at(request.path)) return reads(request.method) ? 0 : max_body_of(*act);
  const auto* route = route_at(request.path);
  return route != nullptr ? route->max_body : 0;
}

Response Site::refuse(const Request& head, int status, std::string_view why) {
  const auto visit = visit_of(head, nullptr);
  auto response = problem(visit->request, status, code_of_refusal(status), why);
  response.headers.set("X-Request-Id", visit->request.id);
  note(*visit, response);
  return response;
}

std::shared_ptr<Site::Visit> Site::visit_of(Request request, std::function<void(Response)> answer) const {
  auto visit = std::make_shared<Visit>();
  visit->began = BootClock::now();
  visit->answer = std::move(answer);
  visit->request = std::move(request);
  auto& given = visit->request;
  given.id = id_of(given);
  given.base_path = options_.base_path;
  given.path = path_below(options_.base_path, given.path).value_or("");
  gate_.look_behind_proxy(given);
  visit->route = route_at(given.path);
  visit->act = visit->route == nullptr ? act_at(given.path) : nullptr;
  return visit;
}

void Site::vet(Request head, std::function<void(Response)> answer) {
  constexpr int go_on = 100;
  if (options_.callers.no_auth) return answer({.status = go_on});
  acts_.run([this, visit = visit_of(std::move(head), std::move(answer))] {
    const auto caller = callers_.find(visit->request);
    caller ? visit->answer({.status = go_on}) : finish(*visit, problem(visit->request, caller.error()));
  });
}

void Site::handle(Request request, std::function<void(Response)> answer) {
  run(visit_of(std::move(request), std::move(answer)));
}

void Site::run(std::shared_ptr<Visit> visit) {
  const auto& request = visit->request;
  if (visit->act != nullptr) {
    const bool asks_to_wait = visit->act->patient || (visit->act->waits && may_name_wait(request));
    return run_patiently(std::move(visit), asks_to_wait);
  }
  const auto* route = visit->route;
  if (route == nullptr) return finish(*visit, file_response(request));
  if (route->path == mcp_path) {
    const bool asks_to_wait = may_name_wait(request);
    return run_patiently(std::move(visit), asks_to_wait);
  }
  if (route->answer == nullptr) return ask_whether_ready(std::move(visit));
  if (route->threads == nullptr) return finish(*visit, (this->*route->answer)(*visit));
  (this->*route->threads).run([this, visit = std::move(visit)] {
    finish(*visit, (this->*visit->route->answer)(*visit));
  });
}

void Site::check_tokens() {
  if (tokens_.idle() || checking_tokens_.exchange(true)) return;
  acts_.run([this] {
    if (const auto checked = tokens_.check(); !checked && options_.log != nullptr) {
      options_.log->warning("cannot check API tokens", {{observe::LogKey::detail, checked.error().message}});
    }
    checking_tokens_ = false;
  });
}

void Site::prune() {
  if (options_.read_only || pruning_.exchange(true)) return;
  acts_.run([this] {
    store_.impl().housekeeper->when_idle();
    pruning_ = false;
  });
}

void Site::finish(Visit& visit, Response response) {
  response.headers.set("X-Request-Id", visit.request.id);
  response.headers.set("X-Content-Type-Options", "nosniff");
  note(visit, response);
  visit.answer(std::move(response));
}

void Site::note(const Visit& visit, const Response& response) const {
  const auto took = BootClock::now() - visit.began;
  observe::process().request(response.status, took);
  if (options_.log == nullptr) return;
  const auto level = response.status >= 500 ? observe::LogLevel::warning : observe::LogLevel::info;
  if (!options_.log->writes(level)) return;
  using observe::LogKey;
  const observe::LogFields fields = {{LogKey::method, visit.request.method}, {LogKey::path, visit.request.path},
                                     {LogKey::status, response.status},      {LogKey::took, took},
                                     {LogKey::actor, visit.caller},          {LogKey::peer, visit.request.peer},
                                     {LogKey::request_id, visit.request.id}};
  level == observe::LogLevel::info ? options_.log->info("request", fields) : options_.log->warning("request", fields);
}

}  // namespace leasehold::serve
