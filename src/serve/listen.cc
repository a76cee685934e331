#include "serve/listen.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <optional>

#include "base/text.h"

namespace leasehold::serve {
namespace {

constexpr int waiting_connections = 1024;
constexpr mode_t owner_and_group = 0660;

std::optional<std::uint16_t> port_from(std::string_view text) {
  std::uint16_t port = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), port);
  if (error != std::errc() || end != text.data() + text.size() || text.empty()) return std::nullopt;
  return port;
}

struct Authority {
  std::string_view host;
  std::string_view port;
};

/// Nothing if brackets or colons are not where they belong.
std::optional<Authority> split_authority(std::string_view text) {
  if (text.starts_with('[')) {
    const auto end = text.find(']');
    if (end == std::string_view::npos) return std::nullopt;
    const auto rest = text.substr(end + 1);
    if (!rest.empty() && !rest.starts_with(':')) return std::nullopt;
    return Authority{text.substr(1, end - 1), rest.empty() ? rest : rest.substr(1)};
  }
  const auto colon = text.find(':');
  if (colon == std::string_view::npos) return Authority{text, {}};
  if (text.find(':', colon + 1) != std::string_view::npos) return std::nullopt;
  return Authority{text.substr(0, colon), text.substr(colon + 1)};
}

Error trouble(const std::string& path, std::string_view what) {
  return {.code = Errc::unavailable, .message = fmt::format("cannot listen on unix:{}: {}", path, what)};
}

Error trouble(const std::string& path) { return trouble(path, std::strerror(errno)); }

sockaddr_un address_of(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  path.copy(address.sun_path, sizeof address.sun_path - 1);
  return address;
}

/// Closes its descriptor unless it is released.
class Socket {
 public:
  Socket() : fd_(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)) {}
  Socket(const Socket&) = delete;
  Socket& operator=(const Socket&) = delete;
  ~Socket() {
    if (fd_ >= 0) ::close(fd_);
  }
  [[nodiscard]] int get() const { return fd_; }
  int release() { return std::exchange(fd_, -1); }

 private:
  int fd_;
};

bool a_server_listens(const std::string& path) {
  const Socket probe;
  const auto address = address_of(path);
  return ::connect(probe.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
}

/// Removes the socket file that a dead server left.
Result<void> make_room(const std::string& path) {
  struct stat found {};
  if (::lstat(path.c_str(), &found) != 0) return {};
  if (!S_ISSOCK(found.st_mode)) return trouble(path, "this file is no socket");
  if (a_server_listens(path)) return trouble(path, "another server listens there");
  if (::unlink(path.c_str()) != 0 && errno != ENOENT) return trouble(path);
  return {};
}

}  // namespace

bool ListenAddress::is_local() const { return is_unix() || is_loopback(host); }

std::string ListenAddress::text() const {
  if (is_unix()) return "unix:" + path;
  return host.find(':') != std::string::npos ? fmt::format("[{}]:{}", host, port) : fmt::format("{}:{}", host, port);
}

std::string address_from(std::string_view text) {
  const std::string given(text);
  std::array<char, INET6_ADDRSTRLEN> shown{};
  in_addr v4{};
  if (::inet_pton(AF_INET, given.c_str(), &v4) == 1) {
    return ::inet_ntop(AF_INET, &v4, shown.data(), shown.size());
  }
  in6_addr v6{};
  if (::inet_pton(AF_INET6, given.c_str(), &v6) != 1) return "";
  if (IN6_IS_ADDR_V4MAPPED(&v6)) return ::inet_ntop(AF_INET, &v6.s6_addr[12], shown.data(), shown.size());
  return ::inet_ntop(AF_INET6, &v6, shown.data(), shown.size());
}

bool is_loopback(std::string_view address) {
  const auto usual = address_from(address);
  return usual == "::1" || usual.starts_with("127.");
}

std::string host_of(std::string_view authority) {
  const auto parts = split_authority(authority);
  if (!parts || (!parts->port.empty() && !port_from(parts->port))) return "";
  std::string host(parts->host);
  for (auto& c : host) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  if (auto address = address_from(host); !address.empty()) return address;
  return host;
}

Result<ListenAddress> listen_address_from(std::string_view text) {
  constexpr std::string_view unix_prefix = "unix:";
  if (text.starts_with(unix_prefix)) {
    const auto path = text.substr(unix_prefix.size());
    if (path.empty() || path.size() >= sizeof(sockaddr_un::sun_path)) {
      return invalid(fmt::format("the path of a Unix socket has 1 to {} bytes: {}", sizeof(sockaddr_un::sun_path) - 1,
                                 quoted(text)));
    }
    return ListenAddress{.path = std::string(path)};
  }
  const auto parts = split_authority(text);
  const auto port = parts ? port_from(parts->port) : std::nullopt;
  const auto host = parts ? address_from(parts->host == "localhost" ? "127.0.0.1" : parts->host) : std::string();
  if (!port || host.empty()) {
    return invalid("listen on ADDRESS:PORT or unix:PATH, for example 127.0.0.1:7420: " + quoted(text));
  }
  return ListenAddress{.host = host, .port = *port};
}

Result<int> listen_on_unix_socket(const std::string& path) {
  if (auto room = make_room(path); !room) return room.error();
  Socket socket;
  if (socket.get() < 0) return trouble(path);
  const auto address = address_of(path);
  // With the umask, there is no moment at which other users may connect.
  const auto before = ::umask(0777 & ~owner_and_group);
  const int bound = ::bind(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address);
  ::umask(before);
  if (bound != 0 || ::listen(socket.get(), waiting_connections) != 0) return trouble(path);
  return socket.release();
}

}  // namespace leasehold::serve
