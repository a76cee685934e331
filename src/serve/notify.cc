#include "serve/server.h"

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <charconv>
#include <chrono>
#include <cstddef>
#include <cstdlib>
#include <string>

namespace leasehold::serve {
namespace {

std::string_view variable(const char* name) {
  const auto* value = std::getenv(name);
  return value != nullptr ? value : "";
}

std::optional<std::int64_t> number_in(const char* name) {
  const auto text = variable(name);
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

}  // namespace

void notify_service_manager(std::string_view state) {
  const auto path = variable("NOTIFY_SOCKET");
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() < 2 || path.size() >= sizeof address.sun_path) return;
  path.copy(address.sun_path, path.size());
  // A name that begins with @ is not in the file system.
  if (path.front() == '@') address.sun_path[0] = '\0';
  const int socket = ::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (socket < 0) return;
  const auto length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + path.size());
  // If the service manager does not listen, the server goes on.
  static_cast<void>(::sendto(socket, state.data(), state.size(), MSG_NOSIGNAL | MSG_DONTWAIT,
                             reinterpret_cast<const sockaddr*>(&address), length));
  ::close(socket);
}

std::optional<Duration> watchdog_interval() {
  const auto limit = number_in("WATCHDOG_USEC");
  const auto pid = number_in("WATCHDOG_PID");
  if (!limit || *limit <= 0 || (pid && *pid != ::getpid())) return std::nullopt;
  return std::chrono::microseconds(*limit) / 3;
}

}  // namespace leasehold::serve
