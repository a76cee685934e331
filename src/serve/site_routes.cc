// The answers of the routes that are not acts.
#include <fmt/format.h>

#include <algorithm>

#include "base/json.h"
#include "base/json_text.h"
#include "observe/exposition.h"
#include "serve/api.h"
#include "serve/pages.h"
#include "serve/site.h"

namespace leasehold::serve {
namespace {

Response text_response(int status, std::string body) {
  return {.status = status,
          .headers = {{"Content-Type", "text/plain; charset=utf-8"}, {"Cache-Control", "no-store"}},
          .body = std::move(body)};
}

Response metrics_response(std::string text) {
  return {.headers = {{"Content-Type", std::string(observe::Exposition::content_type)}, {"Cache-Control", "no-store"}},
          .body = std::move(text)};
}

}  // namespace

Response Site::healthz(const Visit& /*visit*/) { return text_response(200, "ok\n"); }

void Site::ask_whether_ready(std::shared_ptr<Visit> visit) {
  if (draining_) {
    return finish(*visit, stopping(visit->request));
  }
  {
    const std::lock_guard lock(asking_mutex_);
    asking_.push_back(std::move(visit));
    if (asking_.size() > 1) return;
  }
  looks_.run([this] { look_whether_ready(); });
}

void Site::look_whether_ready() {
  // If one row can be read, the store answers and has the tables that this server needs.
  const auto asked = quick_.retention();
  if (!asked && options_.log != nullptr) {
    options_.log->warning("not ready", {{observe::LogKey::detail, asked.error().message}});
  }
  std::vector<std::shared_ptr<Visit>> visits;
  {
    const std::lock_guard lock(asking_mutex_);
    visits.swap(asking_);
  }
  for (const auto& visit : visits) {
    const auto neutral = [&] { return Error{.code = asked.error().code, .message = std::string(store_is_away)}; };
    finish(*visit, asked ? text_response(200, "ready\n") : problem(visit->request, neutral()));
  }
}

Response Site::openapi(const Visit& visit) {
  static const auto text = openapi_text();
  auto response = json_response(text);
  static_cast<void>(visit);
  return response;
}

template <typename Look>
Response Site::for_reader(const Visit& visit, Look look) {
  return for_caller(visit, callers_.find(visit.request), look);
}

template <typename Look>
Response Site::for_caller(const Visit& visit, const Result<Caller>& caller, Look look) {
  if (!caller) return problem(visit.request, caller.error());
  if (!may_touch(caller->only, "", "")) {
    return problem(visit.request, denied("the patterns of this token do not allow the whole store"));
  }
  return look(*caller);
}

Response Site::metrics(const Visit& visit) {
  return for_caller(visit, callers_.find_leniently(visit.request),
                    [](const Caller& /*caller*/) { return metrics_response(observe::process_metrics()); });
}

Response Site::store_metrics(const Visit& visit) {
  return for_reader(visit, [&](const Caller& /*caller*/) {
    auto text = observe::store_metrics_text(store_);
    return text ? metrics_response(std::move(*text)) : problem(visit.request, text.error());
  });
}

Response Site::stream(const Visit& visit) {
  return for_reader(visit, [&](const Caller& caller) {
    auto opened = pump_->answer(visit.request, tokens_.watch(caller.token));
    return opened ? std::move(*opened) : problem(visit.request, opened.error());
  });
}

Response Site::whoami(const Visit& visit) {
  const auto caller = callers_.find(visit.request);
  if (!caller) return problem(visit.request, caller.error());
  return json_response(fmt::format(R"({{"name":{},"scope":"{}","only":{},"read_only":{},"no_auth":{},"version":"{}"}})",
                                   json_string(caller->name), act::word_of(caller->scope),
                                   json_from_texts(caller->only), options_.read_only, options_.callers.no_auth,
                                   LEASEHOLD_VERSION));
}

Result<std::optional<std::string>> Site::new_login_link() {
  auto secret = callers_.new_login();
  if (!secret || !*secret) return secret;
  return std::optional(fmt::format("{}/login?once={}", options_.base_path, **secret));
}

Result<bool> Site::has_tokens() {
  if (options_.callers.no_auth) return true;
  return store_.access().has_tokens();
}

Response Site::logged_in(const Request& request, std::string_view token, bool wants_page) const {
  Response response{.status = wants_page ? 303 : 204, .headers = {{"Cache-Control", "no-store"}}};
  if (wants_page) response.headers.set("Location", options_.base_path + "/");
  response.headers.add("Set-Cookie", callers_.cookie_for(request, token, request.is_https));
  return response;
}

Response Site::log_in(const Visit& visit) {
  const auto& request = visit.request;
  const auto members = query_members(request.method == "POST" ? request.body : request.query);
  if (!members) return problem(request, members.error());
  const auto given = [&](std::string_view name) {
    const auto found =
        std::find_if(members->begin(), members->end(), [&](const auto& one) { return one.name == name; });
    return found != members->end() ? found->value : std::string();
  };
  if (request.method != "POST") {
    if (given("once").empty()) return file_response(request);
    const auto token = callers_.log_in_once(request, given("once"), options_.read_only ? Scope::read : Scope::admin);
    return token ? logged_in(request, *token, true) : problem(request, token.error());
  }
  auto checked = request;
  checked.headers.set("Authorization", "Bearer " + given("token"));
  const auto caller = callers_.find(checked);
  if (!caller) return problem(request, caller.error());
  const bool wants_page = request.headers.get("Accept").find("text/html") != std::string_view::npos;
  return logged_in(request, given("token"), wants_page);
}

Response Site::log_out(const Visit& visit) { return logged_in(visit.request, "", false); }

void Site::drain() {
  if (draining_.exchange(true)) return;
  pump_->drain("the server is being restarted");
}

}  // namespace leasehold::serve
