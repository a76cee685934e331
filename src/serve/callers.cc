#include "serve/callers.h"

#include <fmt/format.h>

#include <algorithm>

#include "act/act.h"
#include "base/digest.h"
#include "base/text.h"
#include "observe/metrics.h"

namespace leasehold::serve {
namespace {

/// How long a revoked token may still be valid on this server.
constexpr Duration known_for = std::chrono::seconds(1);
/// How long a token lets its caller look at this process while the store does not answer.
constexpr Duration lenient_for = std::chrono::minutes(10);
constexpr std::size_t max_known = 1000;
constexpr Duration login_valid_for = std::chrono::hours(1);
constexpr Duration browser_token_valid_for = std::chrono::days(30);

std::string_view bearer_in(const Request& request) {
  constexpr std::string_view scheme = "bearer ";
  const auto given = request.headers.get("Authorization");
  if (given.size() <= scheme.size()) return {};
  const bool is_bearer = std::equal(scheme.begin(), scheme.end(), given.begin(),
                                    [](char expected, char c) { return expected == (c | 0x20); });
  return is_bearer ? trimmed(given.substr(scheme.size())) : std::string_view();
}

std::string_view cookie_in(const Request& request, std::string_view name) {
  auto cookies = request.headers.get("Cookie");
  while (!cookies.empty()) {
    const auto end = std::min(cookies.find(';'), cookies.size());
    const auto cookie = trimmed(cookies.substr(0, end));
    cookies.remove_prefix(std::min(end + 1, cookies.size()));
    if (cookie.size() > name.size() && cookie.starts_with(name) && cookie[name.size()] == '=') {
      return cookie.substr(name.size() + 1);
    }
  }
  return {};
}

Error unauthorized(std::string message) { return {.code = Errc::unauthorized, .message = std::move(message)}; }

/// Takes equally long for every text, so that its duration reveals nothing.
bool is_same_secret(std::string_view a, std::string_view b) {
  if (a.size() != b.size() || a.empty()) return false;
  unsigned difference = 0;
  for (std::size_t i = 0; i < a.size(); ++i) difference |= static_cast<unsigned char>(a[i] ^ b[i]);
  return difference == 0;
}

}  // namespace

Result<Caller> Callers::find(const Request& request, Leniency leniency) {
  if (options_.no_auth) return Caller{.name = "http", .scope = Scope::admin, .owner = "http"};
  const auto bearer = bearer_in(request);
  const auto cookie = bearer.empty() ? cookie_in(request, options_.cookie) : std::string_view();
  if (bearer.empty() && cookie.empty()) {
    return unauthorized("an API token is needed: `Authorization: Bearer lht_...`, see `leasehold token create`");
  }
  auto caller = caller_with(std::string(bearer.empty() ? cookie : bearer), leniency);
  if (!caller && caller.error().code == Errc::unauthorized) ++observe::process().refused_logins;
  if (caller) caller->by_cookie = bearer.empty();
  return caller;
}

Result<Caller> Callers::caller_with(const std::string& secret, Leniency leniency) {
  const auto now = BootClock::now();
  {
    const std::lock_guard lock(mutex_);
    const auto found = known_.find(secret);
    if (found != known_.end() && found->second.until > now) return found->second.caller;
  }
  auto token = (leniency == Leniency::none ? store_ : quick_).access().find_token(secret);
  if (!token && token.error().code != Errc::unauthorized) return caller_without_store(secret, leniency, token.error());
  const std::lock_guard lock(mutex_);
  if (!token) {
    known_.erase(secret);
    return std::move(token).error();
  }
  const auto valid_for = token->expires_at ? *token->expires_at - token->store_now : lenient_for;
  Caller caller{.name = token->name,
                .scope = token->scope,
                .only = std::move(token->only),
                .owner = fmt::format("token:{}", token->id),
                .token = token->id};
  if (known_.size() >= max_known) known_.clear();
  known_[secret] = {caller, now + known_for, now + std::min(valid_for, lenient_for)};
  return caller;
}

Result<Caller> Callers::caller_without_store(const std::string& secret, Leniency leniency, const Error& trouble) {
  {
    const std::lock_guard lock(mutex_);
    const auto found = known_.find(secret);
    const bool was_valid = found != known_.end() && found->second.lenient_until > BootClock::now();
    if (was_valid && leniency == Leniency::store_away) return found->second.caller;
  }
  if (options_.log != nullptr) {
    options_.log->warning("cannot check an API token", {{observe::LogKey::detail, trouble.message}});
  }
  return Error{.code = trouble.code, .message = std::string(store_is_away)};
}

Result<std::optional<std::string>> Callers::new_login() {
  if (options_.no_auth) return std::optional<std::string>();
  const auto has_tokens = store_.access().has_tokens();
  if (!has_tokens) return has_tokens.error();
  if (*has_tokens) return std::optional<std::string>();
  const std::lock_guard lock(mutex_);
  once_ = random_hex() + random_hex();
  once_until_ = BootClock::now() + login_valid_for;
  return std::optional(once_);
}

Result<std::string> Callers::log_in_once(const Request& request, std::string_view secret, Scope scope) {
  {
    const std::lock_guard lock(mutex_);
    if (!is_same_secret(secret, once_) || BootClock::now() >= once_until_) {
      return unauthorized("this link was used before, or is too old: create a token with `leasehold token create`");
    }
    once_.clear();
  }
  const auto name = "browser-" + random_hex().substr(0, 6);
  auto made = store_.access().create_token({.name = name, .scope = scope, .expires_in = browser_token_valid_for});
  if (!made) return std::move(made).error();
  auto recorded = store_.access().record(
      {.by = "login-link",
       .act = "token.create",
       .key = name,
       .outcome = "done",
       .detail = fmt::format("scope={} from={}", act::word_of(scope), request.peer.empty() ? "unix" : request.peer),
       .request_id = request.id});
  if (!recorded) return std::move(recorded).error();
  return std::move(made->secret);
}

std::string Callers::cookie_for(const Request& request, std::string_view token, bool is_https) const {
  const auto age = std::chrono::duration_cast<std::chrono::seconds>(browser_token_valid_for).count();
  return fmt::format("{}={}; Path={}/; Max-Age={}; HttpOnly; SameSite=Strict{}", options_.cookie, token,
                     request.base_path, token.empty() ? 0 : age, is_https ? "; Secure" : "");
}

Holder holder_of(const Caller& caller, const Request& request) {
  Holder holder;
  holder.name = caller.name;
  holder.host = request.peer;
  // Each request is a holder of its own: a request that waits for another one must not be told that it waits for
  // itself.
  holder.instance = random_hex();
  return holder;
}

}  // namespace leasehold::serve
