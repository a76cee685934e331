// Everything that the server answers: finds the route of a request, runs it on a thread, and finishes the response.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "act/act.h"
#include "base/clock.h"
#include "base/pool.h"
#include "leasehold/store.h"
#include "observe/log.h"
#include "observe/metrics.h"
#include "serve/callers.h"
#include "serve/gate.h"
#include "serve/pump.h"
#include "serve/token_watch.h"
#include "serve/transport.h"

namespace leasehold::serve {

struct SiteOptions {
  std::string base_path{};  ///< "" or "/lease"
  bool read_only = false;
  CallersOptions callers{};
  GateOptions gate{};
  observe::Log* log = nullptr;
  std::size_t waits = 256;  ///< acts that wait at once
};

/// Threading: admit(), handle(), check_tokens() and prune() on the network thread, the rest from any thread.
class Site : public Handler {
 public:
  /// Acts at once. With 16, and commits of a millisecond, 64 clients had 0.40 of the library's speed; with 32, 0.56.
  static constexpr int act_threads = 32;

  Site(const Store& store, const SiteOptions& options);
  ~Site() override;

  std::variant<std::size_t, Response> admit(const Request& head) override;
  void vet(Request head, std::function<void(Response)> answer) override;
  void handle(Request request, std::function<void(Response)> answer) override;
  Response refuse(const Request& head, int status, std::string_view why) override;

  /// The path and query of a link that logs a browser in once, for a store without tokens.
  Result<std::optional<std::string>> new_login_link();

  /// Whether the store has tokens, or callers need none.
  Result<bool> has_tokens();

  /// Ends the streams and waits whose API token is no longer valid. Call it every few seconds.
  void check_tokens();
  /// Prunes a little, if a step is due: processes that call only the server leave it to do so. Call it every second.
  void prune();

  /// From now on, the server is not ready and performs no further acts.
  void drain();
  /// Returns when every call on its threads has ended.
  void finish();

 private:
  struct Visit;
  using Answer = Response (Site::*)(const Visit& visit);

  /// What is at a path, apart from acts and files.
  struct Route {
    std::string_view path{};
    std::string_view methods{};
    std::size_t max_body = 0;
    Answer answer = nullptr;             ///< null: see run()
    Pool Site::*threads = &Site::acts_;  ///< null: the network thread
  };

  /// A request under way.
  struct Visit {
    Request request{};
    std::function<void(Response)> answer{};
    const act::Act* act = nullptr;
    const Route* route = nullptr;
    BootTime began{};
    std::string caller{};  ///< its name, for the log
    observe::Present present{observe::process().requests_now};
  };

  [[nodiscard]] static const Route* route_at(std::string_view path);
  std::optional<Response> refusal_of(const Request& request) const;
  [[nodiscard]] std::shared_ptr<Visit> visit_of(Request request, std::function<void(Response)> answer) const;
  void run(std::shared_ptr<Visit> visit);
  /// Lets `perform` wait if the request asks for it and a thread of those that wait is free.
  void run_patiently(std::shared_ptr<Visit> visit, bool asks_to_wait);
  enum class Turn { waits, at_once, too_many_wait };
  void perform(Visit& visit, Turn turn);
  void finish(Visit& visit, Response response);
  void note(const Visit& visit, const Response& response) const;

  /// Answers /readyz. One look at the store is for all who ask meanwhile, and no act delays it.
  void ask_whether_ready(std::shared_ptr<Visit> visit);
  void look_whether_ready();

  // On the network thread.
  Response healthz(const Visit& visit);
  Response openapi(const Visit& visit);
  // On a thread of a pool.
  Response whoami(const Visit& visit);
  Response metrics(const Visit& visit);
  Response store_metrics(const Visit& visit);
  Response stream(const Visit& visit);
  Response log_in(const Visit& visit);
  Response log_out(const Visit& visit);
  Response act(const Visit& visit, const Caller& caller, const std::stop_token& stop, Turn turn);
  /// Performs the act with a stop token that fires when the client goes, or when its API token ends.
  Response act_patiently(const Visit& visit, const Caller& caller);
  Response perform_for(const Visit& visit, const Caller& caller, const std::stop_token& stop, Turn turn);

  /// The response for a caller that may look at the whole store; `look` gets the caller.
  template <typename Look>
  Response for_reader(const Visit& visit, Look look);
  template <typename Look>
  Response for_caller(const Visit& visit, const Result<Caller>& caller, Look look);
  [[nodiscard]] Response logged_in(const Request& request, std::string_view token, bool wants_page) const;

  const Store store_;
  const Store quick_;  ///< the same, with calls of a second
  const SiteOptions options_;
  const Gate gate_;
  Callers callers_;
  TokenWatch tokens_;
  std::atomic<bool> checking_tokens_ = false;
  std::atomic<bool> pruning_ = false;
  std::optional<Pump> pump_;  ///< none after finish()
  std::atomic<bool> draining_ = false;
  std::mutex asking_mutex_;
  std::vector<std::shared_ptr<Visit>> asking_;  ///< whether the server is ready
  Pool acts_{act_threads};
  Pool waits_{options_.waits};
  Pool looks_{1};    ///< whether the store answers
  Pool metrics_{2};  ///< about this process: also while acts wait for the store
};

inline bool reads(std::string_view method) { return method == "GET" || method == "HEAD"; }

/// The path without the base path; nothing if it lies elsewhere.
std::optional<std::string> path_below(std::string_view base_path, std::string_view path);

}  // namespace leasehold::serve
