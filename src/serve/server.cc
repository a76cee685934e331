#include "serve/server.h"

#include "observe/metrics.h"

namespace leasehold::serve {
namespace {

constexpr Duration between_counts = std::chrono::seconds(1);
/// How long a stream or a wait may outlive its API token.
constexpr Duration between_token_checks = std::chrono::seconds(2);
/// While there is something to prune. The store says when the next step is due, usually in a minute.
constexpr Duration between_steps = std::chrono::seconds(1);

}  // namespace

Server::Server(const Store& store, const ServerOptions& options) : site_(store, options.site) {}

Server::~Server() {
  // The threads answer through the transport.
  site_.finish();
}

Result<std::unique_ptr<Server>> Server::open(const Store& store, const ServerOptions& options) {
  auto server = std::unique_ptr<Server>(new Server(store, options));
  auto transport = Transport::open(options.listen, options.limits, server->site_);
  if (!transport) return transport.error();
  server->transport_ = std::move(*transport);
  return server;
}

void Server::run() {
  transport_->every(between_counts,
                    [this] { observe::process().connections = static_cast<std::int64_t>(transport_->connections()); });
  transport_->every(between_token_checks, [this] { site_.check_tokens(); });
  transport_->every(between_steps, [this] { site_.prune(); });
  // From the network thread: a server that hangs there is not alive.
  if (const auto interval = watchdog_interval()) {
    notify_service_manager("WATCHDOG=1");
    transport_->every(*interval, [] { notify_service_manager("WATCHDOG=1"); });
  }
  notify_service_manager("READY=1");
  transport_->run();
  site_.finish();
}

void Server::drain() {
  notify_service_manager("STOPPING=1");
  site_.drain();
  transport_->drain();
}

}  // namespace leasehold::serve
