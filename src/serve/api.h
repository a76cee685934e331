// Acts over HTTP: their routes, their arguments in a query, their answers.
#pragma once

#include <cstddef>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>

#include "act/act.h"
#include "leasehold/store.h"
#include "observe/log.h"
#include "serve/callers.h"
#include "serve/http.h"

namespace leasehold::serve {

inline constexpr std::string_view api_root = "/api/v1/";

/// "/api/v1/job/claim"
std::string path_of(const act::Act& act);
/// The act behind a path; nothing if there is none, or it is not for HTTP.
const act::Act* act_at(std::string_view path);
/// The act that a path probably means, as the message of a refusal.
std::string no_act_at(std::string_view path);

/// Whether the act takes this key.
bool has_argument(const act::Act& act, std::string_view name);

inline constexpr std::size_t max_body = std::size_t(2) << 20U;
inline constexpr std::size_t max_batch = std::size_t(16) << 20U;
/// Of an Idempotency-Key.
inline constexpr std::size_t max_key = 200;
/// How many bytes a body may have: batches are longer.
std::size_t max_body_of(const act::Act& act);

/// The arguments of a GET as the object that a POST would send: each value in the type of its key. A list is a key that
/// occurs several times.
Result<std::string> arguments_in_query(const act::Act& act, std::string_view query);

/// {"granted":false,"code":...,"message":...}
Response not_granted(const Error& error);
/// Performs the act; the holder of what it grants is in `call`.
Response answer_of(const Request& request, const Store& store, const act::Act& act, std::string_view arguments,
                   const Call& call, model::Proofs proofs, std::optional<Duration> retry_in = {});

/// The description of the HTTP API for programs: OpenAPI 3.1, made of the acts. api/openapi.json is this text.
std::string openapi_text();

/// One act for one caller: what it may do, at most once per Idempotency-Key, with an entry in the audit log.
struct Performance {
  const Store& store;
  const Request& request;
  const Caller& caller;
  const act::Act& act;
  std::stop_token stop{};
  observe::Log* log = nullptr;
  /// For a caller that asked to wait and could not: when to try again, if the refusal does not say.
  std::optional<Duration> retry_in{};

  /// `arguments` is what the caller sent; an act without arguments may leave them out.
  [[nodiscard]] Response run(std::string arguments) const;

 private:
  [[nodiscard]] std::optional<Response> refusal(std::string_view arguments) const;
  [[nodiscard]] Response once(std::string_view key, const std::string& arguments) const;
  [[nodiscard]] Response perform(std::string_view arguments) const;
  void record(std::string_view arguments, const Response& response) const;
};

}  // namespace leasehold::serve
