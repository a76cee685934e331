// Requests and responses of HTTP as plain values. The transport (transport.h) creates requests and sends responses;
// the rest of the server sees only these.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "leasehold/result.h"

namespace leasehold::serve {

/// Names and values in their order; names are compared without case.
class Headers {
 public:
  Headers() = default;
  Headers(std::initializer_list<std::pair<std::string, std::string>> all) : all_(all) {}

  /// The first of this name; empty if there is none.
  [[nodiscard]] std::string_view get(std::string_view name) const;
  [[nodiscard]] std::size_t count(std::string_view name) const;
  /// Replaces those of the same name.
  void set(std::string_view name, std::string value);
  /// Adds one; others of the same name stay (Set-Cookie).
  void add(std::string_view name, std::string value) { all_.emplace_back(name, std::move(value)); }

  [[nodiscard]] auto begin() const { return all_.begin(); }
  [[nodiscard]] auto end() const { return all_.end(); }

 private:
  std::vector<std::pair<std::string, std::string>> all_;
};

struct Request {
  std::string method{};  ///< "GET", in capitals
  std::string path{};    ///< as sent, without the base path and the query: "/api/v1/job/claim"
  std::string query{};   ///< as sent, without the `?`; see QueryMember
  Headers headers{};
  std::string body{};
  std::string peer{};       ///< the client's address; empty on a Unix socket
  bool is_unix = false;     ///< came over a Unix socket
  bool is_https = false;    ///< the client's side is encrypted, as a trusted proxy says
  std::string id{};         ///< the request id, for answers and logs
  std::stop_token gone{};   ///< fires when the client has gone, the server is about to end, or 60 s are over
  std::stop_token moot{};   ///< fires when the client has gone, or 60 s are over: then nobody needs the answer
  std::string base_path{};  ///< what a proxy or --base-path puts before every path: "" or "/lease"
};

struct QueryMember {
  std::string name{};
  std::string value{};
};

/// The members of a query, decoded; `invalid_argument` for a broken escape or bytes that are not UTF-8.
Result<std::vector<QueryMember>> query_members(std::string_view query);

/// "%2F" and "+" decoded; nothing for a broken escape.
std::optional<std::string> percent_decoded(std::string_view text);

/// A response that goes on: a handler writes, the transport sends.
///
/// Threading: from any thread.
class Stream {
 public:
  /// False once the client is gone or close() was called; then nothing was written.
  bool write(std::string_view bytes);
  /// Bytes not handed to the operating system yet: how far the client lags behind.
  [[nodiscard]] std::size_t waiting() const;
  /// Drops the waiting bytes: a client that lags too far behind gets something shorter instead.
  void drop_waiting();
  /// Ends the response after what was written.
  void close();
  /// Whether the client is gone.
  [[nodiscard]] bool gone() const;

  // For the transport.

  /// `wake` is called when there is something to send or the stream is closed; it must not block or call back.
  void attach(std::function<void()> wake);
  /// Everything to send now. The bytes count as waiting until sent().
  std::string take();
  void sent();
  [[nodiscard]] bool finished() const;  ///< closed, and everything is taken
  void client_gone();

 private:
  void wake(std::unique_lock<std::mutex>& lock) const;

  mutable std::mutex mutex_;
  std::string waiting_;
  std::size_t under_way_ = 0;
  std::function<void()> wake_;
  bool closed_ = false;
  bool gone_ = false;
};

struct Response {
  int status = 200;
  Headers headers{};
  std::string body{};
  std::shared_ptr<Stream> stream{};  ///< instead of `body`: the response goes on until the stream is closed
};

/// "Not Found"
std::string_view reason_of(int status);

Response json_response(std::string body);
/// A JSON object with one more member in front: ("granted":true).
std::string with_member(std::string object, std::string_view member);

// Refusals: problem+json (RFC 9457).
//
//   {"type":"urn:leasehold:problem:lost","title":"lost","status":409,"code":"lost","message":"...","request_id":"..."}

/// A refusal of the server itself; `code` is a word of its own, such as "unknown_route".
Response problem(const Request& request, int status, std::string_view code, std::string_view message);
/// A refusal of the library, with the status of its code and, if it says when to try again, Retry-After.
Response problem(const Request& request, const Error& error);
/// What a stranger learns of a store that does not answer. The log says why.
inline constexpr std::string_view store_is_away = "the store does not answer; the log of this server says why";
/// The refusal of a server that drains.
inline Response stopping(const Request& request) {
  return problem(request, 503, "unavailable", "this server is stopping");
}
/// The error for an act that the caller may not perform.
inline Error denied(std::string message) { return {.code = Errc::denied, .message = std::move(message)}; }

// Heads as HTTP/1.1 has them.

struct Refusal {
  int status = 0;  ///< 0: none
  std::string_view why{};
};
/// What is wrong with a head; `version` is 11 for HTTP/1.1. Refuses heads in which two readers, such as a proxy and
/// this server, could see different requests.
Refusal defect_of(const Request& head, unsigned version);
/// The status line and the headers; `more` is further lines.
std::string head_text(const Response& response, std::string_view more);
bool may_have_body(int status);

}  // namespace leasehold::serve
