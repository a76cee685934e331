#include "storage/postgres/listener.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <system_error>
#include <vector>

#include "base/quiet_thread.h"
#include "storage/postgres/backoff.h"
#include "storage/postgres/watch_list.h"

namespace leasehold::postgres {
namespace {

using namespace std::chrono_literals;

/// Bounds how long stop() may take while the server is silent.
constexpr Duration connect_timeout = 3s;
/// A connection that is silent for so long is asked whether it still lives.
constexpr Duration silence = 30s;

}  // namespace

Listener::Listener(std::string conninfo, std::string channel)
    : conninfo_(std::move(conninfo)),
      channel_(std::move(channel)),
      watches_(std::make_shared<WatchList>()),
      stop_fd_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {}

Listener::~Listener() {
  stop();
  if (stop_fd_ >= 0) ::close(stop_fd_);
}

std::unique_ptr<storage::ChangeWatch> Listener::watch(std::string_view topic) {
  auto watch = watches_->add(topic);
  const std::lock_guard lock(starting_);
  // Without an eventfd the thread could not be ended, so waits just time out.
  if (thread_.joinable() || stopping_ || stop_fd_ < 0) return watch;
  try {
    thread_ = start_quiet_thread([this] { run(); });
  } catch (const std::system_error&) {
    // No thread to be had: waits just time out.
  }
  return watch;
}

void Listener::stop() {
  const std::lock_guard lock(starting_);
  if (stopping_.exchange(true)) return;
  if (thread_.joinable()) {
    eventfd_write(stop_fd_, 1);
    thread_.join();
  }
  watches_->wake_all();
}

void Listener::run() {
  Backoff backoff;
  while (!stopping_) {
    const auto began = BootClock::now();
    const auto at_least = listen_once();
    if (BootClock::now() - began > silence) backoff.reset();
    sleep(-1, std::max(at_least, backoff.next()));
  }
}

/// Connects, listens and follows until the connection ends. Gives how long to leave the server alone.
Duration Listener::listen_once() {
  auto connection = Connection::connect(conninfo_, BootClock::now() + connect_timeout);
  if (!connection) return connection.error().code == Errc::unavailable ? 0s : silence;
  const auto outcome = (*connection)->script("LISTEN " + channel_, BootClock::now() + connect_timeout);
  if (outcome.failure) return outcome.failure->fate == Fate::rolled_back ? silence : 0s;
  watches_->wake_all();
  follow(**connection);
  return 0s;
}

void Listener::follow(Connection& connection) {
  for (;;) {
    const auto woken = sleep(connection.socket(), silence);
    if (woken == Woken::by_stop) return;
    if (woken == Woken::by_server && !hear(connection)) return;
    if (woken == Woken::by_timeout) {
      // What comes in during the question goes unheard: wake everybody.
      if (connection.script("SELECT 1", BootClock::now() + connect_timeout).failure) return;
      watches_->wake_all();
    }
  }
}

bool Listener::hear(Connection& connection) {
  std::vector<std::string> topics;
  const bool alive = connection.read_notifications(topics);
  for (const auto& topic : topics) watches_->wake(topic);
  return alive;
}

Listener::Woken Listener::sleep(int socket, Duration longest) const {
  std::array<pollfd, 2> watched = {pollfd{.fd = stop_fd_, .events = POLLIN, .revents = 0},
                                   pollfd{.fd = socket, .events = POLLIN, .revents = 0}};
  const auto ms = std::chrono::ceil<std::chrono::milliseconds>(longest).count();
  const int ready = poll(watched.data(), watched.size(), static_cast<int>(ms));
  if (watched[0].revents != 0) return Woken::by_stop;
  return ready > 0 ? Woken::by_server : Woken::by_timeout;
}

}  // namespace leasehold::postgres
