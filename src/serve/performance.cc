#include "serve/api.h"

#include <fmt/format.h>

#include <array>
#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>
#include <boost/json/value.hpp>

#include "base/digest.h"
#include "base/json.h"
#include "base/json_text.h"
#include "base/text.h"
#include "observe/metrics.h"
#include "serve/gate.h"
#include "serve/http.h"

namespace leasehold::serve {
namespace {

/// Whether the audit log has an entry for each call.
bool is_logged(const act::Act& act) { return act.scope == Scope::admin && !act::only_reads(act); }

/// The code in the answer: "done", or that of the refusal.
std::string outcome_of(const Response& response) {
  const bool is_refused = response.status != 200 || response.body.starts_with("{\"granted\":false");
  if (!is_refused) return "done";
  const auto code = json_member(response.body, "code");
  return code && code->size() > 2 ? std::string(code->substr(1, code->size() - 2)) : "internal";
}

/// The name, id or key in the arguments; empty if there is none.
std::string key_in(std::string_view arguments) {
  const auto parsed = parse_json(arguments);
  const auto* object = parsed ? parsed->if_object() : nullptr;
  if (object == nullptr) return "";
  for (const auto* key : {"name", "key", "id", "set", "queue", "table"}) {
    const auto* value = object->if_contains(key);
    if (value == nullptr) continue;
    if (const auto* text = value->if_string()) return std::string(*text);
    if (value->is_int64()) return std::to_string(value->get_int64());
  }
  return "";
}

/// The value of an argument in a line of text; empty if it has none that fits.
std::string shown(const boost::json::value& value) {
  if (const auto* text = value.if_string()) return std::string(*text);
  if (value.is_bool() || value.is_number()) return boost::json::serialize(value);
  std::string list;
  if (const auto* values = value.if_array()) {
    for (const auto& each : *values) list += (list.empty() ? "" : ",") + shown(each);
  }
  return list;
}

/// The arguments that say what the act does, and why: "action=cancel state=failed: a wrong import". Only keys of this
/// list: no payload, command or token.
std::string detail_in(std::string_view arguments) {
  static constexpr auto keys = std::to_array<std::string_view>({"action",
                                                                "scope",
                                                                "only",
                                                                "expires_in_seconds",
                                                                "to",
                                                                "to_session",
                                                                "state",
                                                                "tag",
                                                                "batch",
                                                                "group",
                                                                "enqueued_after",
                                                                "enqueued_before",
                                                                "which",
                                                                "keys",
                                                                "older_than_seconds",
                                                                "dry_run",
                                                                "preview",
                                                                "max_running",
                                                                "max_per_group",
                                                                "rate_count",
                                                                "rate_period_seconds",
                                                                "timeout_seconds",
                                                                "default_ttl_seconds",
                                                                "max_failures",
                                                                "max_crashes",
                                                                "every_seconds",
                                                                "burst",
                                                                "every_min_seconds",
                                                                "every_max_seconds",
                                                                "cron",
                                                                "zone",
                                                                "misfire",
                                                                "keep_jobs_seconds",
                                                                "keep_failed_seconds",
                                                                "keep_history_seconds"});
  const auto parsed = parse_json(arguments);
  const auto* object = parsed ? parsed->if_object() : nullptr;
  if (object == nullptr) return "";
  std::string detail;
  for (const auto key : keys) {
    const auto* value = object->if_contains(key);
    const auto text = value != nullptr ? shown(*value) : "";
    if (!text.empty()) detail += fmt::format("{}{}={}", detail.empty() ? "" : " ", key, text);
  }
  const auto* reason = object->if_contains("reason");
  if (reason != nullptr && reason->is_string()) {
    detail += (detail.empty() ? "" : ": ") + std::string(reason->get_string());
  }
  return observe::without_secrets(detail);
}

/// Adds the request id, if the act takes one: then the act itself is repeatable.
std::string with_request_id(const act::Act& act, const std::string& arguments, const std::string& request_id) {
  const bool takes_one = has_argument(act, "request_id");
  if (!takes_one || !is_json_object(arguments) || json_member(arguments, "request_id")) return arguments;
  const auto start = arguments.find('{');
  const bool is_empty = trimmed(arguments.substr(start + 1)) == "}";
  return fmt::format("{{\"request_id\":{}{}{}", json_string(request_id), is_empty ? "" : ",",
                     arguments.substr(start + 1));
}

}  // namespace

std::optional<Response> Performance::refusal(std::string_view arguments) const {
  if (act.scope > caller.scope) {
    return problem(request, denied(fmt::format("{} needs the scope {}; this token has the scope {}", act.name,
                                               act::word_of(act.scope), act::word_of(caller.scope))));
  }
  if (caller.by_cookie && request.method == "POST" && !Gate::is_same_origin(request)) {
    return problem(request, 403, "foreign_origin", "with a cookie, only the page of this server may change something");
  }
  const auto keys = request.headers.count("Idempotency-Key");
  if (keys > 1) return problem(request, invalid("the request has several Idempotency-Key headers"));
  const auto key = request.headers.get("Idempotency-Key");
  if (key.size() > max_key || (keys == 1 && key.empty())) {
    return problem(request, invalid(fmt::format("an Idempotency-Key has 1 to {} bytes", max_key)));
  }
  if (const auto allowed = act::check_touch(store, act, arguments, caller.only); !allowed) {
    return problem(request, allowed.error());
  }
  return std::nullopt;
}

Response Performance::run(std::string arguments) const {
  if (trimmed(arguments).empty()) arguments = "{}";
  const auto began = BootClock::now();
  const auto key = request.headers.get("Idempotency-Key");
  auto refused = refusal(arguments);
  auto response = refused                               ? std::move(*refused)
                  : key.empty() || act::only_reads(act) ? perform(arguments)
                                                        : once(key, arguments);
  const auto outcome = outcome_of(response);
  observe::process().act(act.name, outcome == "done" ? "ok" : outcome, BootClock::now() - began);
  if (is_logged(act)) record(arguments, response);
  return response;
}

Response Performance::once(std::string_view key, const std::string& arguments) const {
  const auto access = store.access();
  const auto digest = sha256_hex(arguments);
  if (!digest) return problem(request, digest.error());
  const auto begun = access.begin_request(
      {.key = std::string(key), .who = caller.owner, .act = std::string(act.name), .digest = *digest});
  if (!begun) return problem(request, begun.error());
  switch (begun->state) {
    case RequestState::fresh: break;
    case RequestState::running: {
      auto response = problem(request, 409, "running", "a request with this Idempotency-Key is under way");
      response.headers.set("Retry-After", "1");
      return response;
    }
    case RequestState::other_body:
      return problem(request, 422, "other_body", "this Idempotency-Key belongs to a request with other arguments");
    case RequestState::replay: {
      auto response = json_response(begun->answer);
      response.status = static_cast<int>(begun->status);
      response.headers.set("Idempotency-Replayed", "true");
      return response;
    }
  }
  auto response = perform(with_request_id(act, arguments, begun->request_id));
  // The store keeps no refusal: it changed nothing, and the next request may succeed. It keeps no secret either.
  // finish_request() refuses an answer that is too long.
  const bool may_keep = outcome_of(response) == "done" && !act.reveals;
  const bool is_kept = may_keep && access.finish_request(key, caller.owner, response.status, response.body).ok();
  if (!is_kept) static_cast<void>(access.drop_request(key, caller.owner, begun->turn));
  return response;
}

Response Performance::perform(std::string_view arguments) const {
  const Call call{.holder = holder_of(caller, request), .stop = stop};
  const auto proofs = caller.scope == Scope::admin ? model::Proofs::shown : model::Proofs::hidden;
  return answer_of(request, store, act, arguments, call, proofs, retry_in);
}

void Performance::record(std::string_view arguments, const Response& response) const {
  const auto recorded = store.access().record({.by = caller.name,
                                               .act = std::string(act.name),
                                               .key = clean_text(key_in(arguments), 200),
                                               .outcome = outcome_of(response),
                                               .detail = detail_in(arguments),
                                               .request_id = request.id});
  if (!recorded && log != nullptr) {
    log->error("cannot write the audit log", {{observe::LogKey::act, act.name},
                                              {observe::LogKey::detail, recorded.error().message},
                                              {observe::LogKey::request_id, request.id}});
  }
}

}  // namespace leasehold::serve
