// `leasehold serve`: one process that serves one store over HTTP.
//
//   auto server = Server::open(store, {.listen = {address}, .site = {.no_auth = true}});
//   if (!server) return report(server.error());
//   on_sigterm([&] { (*server)->drain(); });
//   (*server)->run();
#pragma once

#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "leasehold/result.h"
#include "leasehold/store.h"
#include "serve/site.h"
#include "serve/transport.h"

namespace leasehold::serve {

struct ServerOptions {
  std::vector<ListenAddress> listen{};
  SiteOptions site{};
  Limits limits{};
};

class Server {
 public:
  static Result<std::unique_ptr<Server>> open(const Store& store, const ServerOptions& options);
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;
  ~Server();

  /// Serves on the calling thread until it has drained.
  void run();
  /// Ends the server: it is not ready, performs no further acts, sends `bye` to streams, ends waits, and answers the
  /// requests that are under way. From any thread.
  void drain();

  /// The path and query of a link that logs a browser in once; nothing if the store has tokens, or none is needed.
  Result<std::optional<std::string>> new_login_link() { return site_.new_login_link(); }

  /// Whether callers can get in without such a link: the store has tokens, or none is needed.
  Result<bool> has_tokens() { return site_.has_tokens(); }

  [[nodiscard]] const std::vector<ListenAddress>& addresses() const { return transport_->addresses(); }

 private:
  Server(const Store& store, const ServerOptions& options);

  Site site_;
  std::unique_ptr<Transport> transport_;
};

// Tells systemd the state of a service of the type `notify`: a datagram for each change. Without systemd (no
// NOTIFY_SOCKET) these functions send nothing.

/// "READY=1", "STOPPING=1", "WATCHDOG=1"
void notify_service_manager(std::string_view state);

/// How often this process must notify the watchdog: at a third of its limit. Nothing without a watchdog.
std::optional<Duration> watchdog_interval();

}  // namespace leasehold::serve
