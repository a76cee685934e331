// Bytes that a client sends to `leasehold serve`, from the first of a connection to the answers: Beast's parser with
// our limits, the gate, tokens, routes, arguments, acts on a store in memory.
//
// An input names tokens by `{read}`, `{work}` and so on (http_site.h), and `{rest}` is the number of bytes behind the
// next empty line: a length that stays right while the body changes.
#include <fmt/format.h>

#include <boost/json/serialize.hpp>
#include <random>

#include "act/act.h"
#include "base/json.h"
#include "base/json_text.h"
#include "fuzz/http_site.h"
#include "serve/api.h"

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t max);

namespace leasehold::fuzz {
namespace {

/// The store is new after so many inputs: what one request leaves there is there for the next.
constexpr int inputs_per_site = 500;
constexpr int most_requests = 8;

void replace_all(std::string& text, std::string_view what, std::string_view with) {
  for (auto at = text.find(what); at != std::string::npos; at = text.find(what, at + with.size())) {
    text.replace(at, what.size(), with);
  }
}

std::string sent_bytes(std::string_view input, const FuzzedSite& server) {
  std::string bytes(input);
  for (const auto& [name, secret] : server.secrets()) replace_all(bytes, name, secret);
  constexpr std::string_view placeholder = "{rest}";
  for (auto at = bytes.find(placeholder); at != std::string::npos; at = bytes.find(placeholder)) {
    const auto end = bytes.find("\r\n\r\n", at);
    const auto rest = end == std::string::npos ? 0 : bytes.size() - end - 4;
    bytes.replace(at, placeholder.size(), std::to_string(rest));
  }
  return bytes;
}

/// The widest scope of the tokens that occur; nothing: no token.
std::optional<Scope> widest_scope(std::string_view bytes, const FuzzedSite& server) {
  std::optional<Scope> widest;
  for (const auto& token : known_tokens) {
    if (bytes.find(server.secrets().at(token.name)) == std::string_view::npos) continue;
    widest = std::max(widest.value_or(token.scope), token.scope);
  }
  return widest;
}

void check_problem(const serve::Response& response, bool is_rpc) {
  const auto type = response.headers.get("Content-Type");
  if (is_rpc && response.status == 400 && type == "application/json") return;
  require(type == "application/problem+json", "a refusal is problem+json");
  const auto id = json_string(response.headers.get("X-Request-Id"));
  require(json_member(response.body, "status") == std::to_string(response.status), "a problem has its status");
  require(json_member(response.body, "request_id") == id, "a problem has the id of its request");
  require(json_member(response.body, "code").value_or("").size() > 2, "a problem has a code");
}

void check_response(const serve::Response& response, bool is_rpc) {
  require(response.status >= 200 && response.status < 600, "a status is one of HTTP");
  require(response.status != 500, "no request finds a defect of the server");
  require(response.status < 400 || serve::reason_of(response.status) != "Internal Server Error", "a status is known");
  require(response.headers.count("X-Request-Id") == 1, "every response has an id");
  if (response.status >= 400) check_problem(response, is_rpc);
  if (response.headers.get("Content-Type").find("json") != std::string_view::npos) {
    require(is_json(response.body), "JSON is JSON");
  }
  const auto head = serve::head_text(response, "");
  require(head.find("\r\n\r\n") == head.size() - 4, "a head ends where it should");
}

/// What a request may write whatever its token may: when the token was used, that it was refused, and the totals that a
/// look at them adds up.
bool is_bookkeeping(std::string_view statement) {
  return statement == "token_use" || statement == "audit_record" || statement == "counters_roll";
}

void check_rights(FuzzedSite& server, std::optional<Scope> scope) {
  for (const auto& statement : server.backend().written().take()) {
    require(scope.has_value(), "without a token nothing is written: " + statement);
    require(*scope > Scope::read || is_bookkeeping(statement), "with scope read nothing is written: " + statement);
  }
}

void end_stream(const serve::Response& response) {
  if (!response.stream) return;
  response.stream->take();
  response.stream->client_gone();
}

/// False: the connection ends.
bool serve_one(FuzzedSite& server, FuzzedConnection& connection) {
  auto& site = server.site();
  serve::Incoming incoming(serve::Limits().head_bytes);
  const auto refuse = [&](const serve::Refusal& refusal) {
    if (refusal.status != 0) check_response(site.refuse(incoming.request, refusal.status, refusal.why), false);
    return false;
  };
  const auto defect = connection.read_head(incoming);
  if (defect.status != 0 || connection.broken()) return refuse(defect);
  incoming.request.peer = "127.0.0.1";
  require(incoming.request.headers.count("Transfer-Encoding") + incoming.request.headers.count("Content-Length") <= 1,
          "a request has one length");
  const bool is_rpc = incoming.request.path == "/mcp";
  const auto admitted = site.admit(incoming.request);
  if (const auto* refused = std::get_if<serve::Response>(&admitted)) {
    check_response(*refused, is_rpc);
    return !incoming.has_body && incoming.keep_alive;
  }
  if (incoming.has_body) {
    const auto refusal = connection.read_body(incoming, std::get<std::size_t>(admitted));
    if (refusal.status != 0 || connection.broken()) return refuse(refusal);
  }
  const bool stays = incoming.keep_alive;
  const auto response = server.answer(std::move(incoming.request));
  check_response(response, is_rpc);
  end_stream(response);
  return stays && !response.stream;
}

void check_input(std::string_view input) {
  static std::unique_ptr<FuzzedSite> server;
  static int inputs = 0;
  if (inputs++ % inputs_per_site == 0) server = std::make_unique<FuzzedSite>();
  const auto bytes = sent_bytes(input, *server);
  FuzzedConnection connection(bytes);
  for (int i = 0; i < most_requests && !connection.at_end(); ++i) {
    if (!serve_one(*server, connection)) break;
  }
  check_rights(*server, widest_scope(bytes, *server));
}

// Inputs that libFuzzer would hardly find: the path of an act, with arguments that fit.

std::string query_of(std::string_view arguments) {
  const auto parsed = parse_json(arguments);
  const auto* object = parsed ? parsed->if_object() : nullptr;
  std::string query;
  if (object == nullptr) return query;
  for (const auto& [key, value] : *object) {
    const auto text = value.is_string() ? std::string(value.get_string()) : boost::json::serialize(value);
    query += fmt::format("{}{}={}", query.empty() ? "?" : "&", std::string(key), text);
  }
  std::replace(query.begin(), query.end(), ' ', '+');
  return query;
}

std::string request_for(std::minstd_rand& random) {
  const auto& act = act::all().at(random() % act::all().size());
  const auto token = known_tokens.at(random() % known_tokens.size()).name;
  const bool gets = act::only_reads(act) && random() % 2 == 0;
  const auto again = random() % 8 == 0 ? fmt::format("Idempotency-Key: k{}\r\n", random() % 4) : std::string();
  const auto head = fmt::format("Host: localhost\r\nAuthorization: Bearer {}\r\n{}", token, again);
  const auto path = serve::path_of(act);
  if (gets) return fmt::format("GET {}{} HTTP/1.1\r\n{}\r\n", path, query_of(act.example), head);
  return fmt::format("POST {} HTTP/1.1\r\n{}Content-Length: {}\r\n\r\n{}", path, head, act.example.size(), act.example);
}

/// The same, and its length stays right when the body changes; so it comes last.
std::string last_request_for(std::minstd_rand& random) {
  auto request = request_for(random);
  const auto at = request.find("Content-Length: ");
  if (at == std::string::npos) return request;
  const auto begin = at + std::string_view("Content-Length: ").size();
  return request.replace(begin, request.find("\r\n", begin) - begin, "{rest}");
}

std::string with_act(std::string_view text, std::minstd_rand& random) {
  const auto end = text.rfind("\r\n\r\n");
  switch (random() % 3) {
    case 0: return last_request_for(random);
    case 1: return request_for(random) + std::string(text);
    default: return std::string(text.substr(0, end == std::string::npos ? 0 : end + 4)) + last_request_for(random);
  }
}

}  // namespace
}  // namespace leasehold::fuzz

/// Most changes are libFuzzer's own.
extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t max,
                                               unsigned int seed) {
  std::minstd_rand random(seed);
  if (random() % 4 != 0) return LLVMFuzzerMutate(data, size, max);
  const auto changed = leasehold::fuzz::with_act({reinterpret_cast<const char*>(data), size}, random);
  const auto length = std::min(changed.size(), max);
  std::copy_n(changed.begin(), length, data);
  return length;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  leasehold::fuzz::check_input(leasehold::fuzz::Input(data, size).rest());
  return 0;
}
