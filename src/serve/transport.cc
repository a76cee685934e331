#include "serve/transport.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <boost/asio/post.hpp>
#include <list>
#include <utility>

#include "serve/connection.h"

namespace leasehold::serve {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;
using boost::system::error_code;
using Unix = asio::local::stream_protocol;

/// The pause after an accept that failed because the process has no descriptor left.
constexpr Duration before_next_accept = std::chrono::milliseconds(100);

std::string peer_of(const tcp::socket& socket) {
  error_code error;
  const auto end = socket.remote_endpoint(error);
  return error ? "" : address_from(end.address().to_string());
}
std::string peer_of(const Unix::socket& /*socket*/) { return ""; }

Error cannot_listen(const ListenAddress& address, const error_code& error) {
  return {.code = Errc::unavailable,
          .message = fmt::format("cannot listen on {}: {}", address.text(), error.message())};
}

/// The file of a Unix socket, removed with it unless another server has replaced it.
class SocketFile {
 public:
  explicit SocketFile(std::string path) : path_(std::move(path)), inode_(inode()) {}
  SocketFile(const SocketFile&) = delete;
  SocketFile& operator=(const SocketFile&) = delete;
  ~SocketFile() {
    if (inode_ != 0 && inode() == inode_) ::unlink(path_.c_str());
  }

 private:
  [[nodiscard]] ino_t inode() const {
    struct stat found {};
    return ::lstat(path_.c_str(), &found) == 0 ? found.st_ino : 0;
  }
  std::string path_;
  ino_t inode_;
};

class AsioTransport : public Transport {
 public:
  AsioTransport(const Limits& limits, Handler& handler) : drain_deadline_(network_.io) {
    network_.limits = limits;
    network_.handler = &handler;
    network_.on_paid = [this] { stop(); };
  }

  Result<void> listen(const ListenAddress& address) { return address.is_unix() ? on_file(address) : on_port(address); }

  [[nodiscard]] const std::vector<ListenAddress>& addresses() const override { return addresses_; }
  [[nodiscard]] std::size_t connections() const override { return network_.count; }

  void run() override {
    for (auto& acceptor : tcp_) accept_on(acceptor);
    for (auto& acceptor : unix_) accept_on(acceptor);
    network_.io.run();
    // Connections that the stopped loop left behind end here, while everything that they use still exists.
    network_.connections.clear();
    for (auto& acceptor : tcp_) acceptor.close();
    for (auto& acceptor : unix_) acceptor.close();
    files_.clear();
  }

  void drain() override {
    asio::post(network_.io, [this] {
      if (std::exchange(network_.draining, true)) return;
      drain_deadline_.expires_after(network_.limits.drain);
      drain_deadline_.async_wait([this](error_code error) {
        if (!error) stop();
      });
      ++network_.owed;  // until every connection is counted
      const auto all = network_.connections;
      for (const auto& connection : all) connection->drain();
      if (--network_.owed == 0) stop();
    });
  }

  void every(Duration interval, std::function<void()> call) override {
    auto timer = std::make_shared<asio::steady_timer>(network_.io);
    repeat(std::move(timer), interval, std::make_shared<std::function<void()>>(std::move(call)));
  }

 private:
  Result<void> on_port(const ListenAddress& address) {
    error_code error;
    const auto ip = asio::ip::make_address(address.host, error);
    if (error) return cannot_listen(address, error);
    const tcp::endpoint endpoint(ip, address.port);
    auto& acceptor = tcp_.emplace_back(network_.io);
    acceptor.open(endpoint.protocol(), error);
    if (!error) acceptor.set_option(tcp::acceptor::reuse_address(true), error);
    if (!error) acceptor.bind(endpoint, error);
    if (!error) acceptor.listen(asio::socket_base::max_listen_connections, error);
    if (error) return cannot_listen(address, error);
    addresses_.push_back({.host = address.host, .port = acceptor.local_endpoint().port()});
    return {};
  }

  Result<void> on_file(const ListenAddress& address) {
    const auto fd = listen_on_unix_socket(address.path);
    if (!fd) return fd.error();
    files_.emplace_back(address.path);
    unix_.emplace_back(network_.io, Unix(), *fd);
    addresses_.push_back(address);
    return {};
  }

  template <typename Acceptor>
  void accept_on(Acceptor& acceptor) {
    acceptor.async_accept([this, &acceptor](error_code error, auto socket) {
      if (error == asio::error::operation_aborted) return;
      if (error) {
        auto pause = std::make_shared<asio::steady_timer>(network_.io, before_next_accept);
        pause->async_wait([this, &acceptor, pause](error_code) { accept_on(acceptor); });
        return;
      }
      take(std::move(socket));
      accept_on(acceptor);
    });
  }

  template <typename Connected>
  void take(Connected socket) {
    constexpr bool is_unix = std::is_same_v<Connected, Unix::socket>;
    error_code ignored;
    if (network_.connections.size() >= network_.limits.connections) {
      socket.non_blocking(true, ignored);
      static constexpr std::string_view full =
          "HTTP/1.1 503 Service Unavailable\r\nRetry-After: 1\r\nConnection: close\r\nContent-Length: 0\r\n\r\n";
      socket.write_some(asio::buffer(full.data(), full.size()), ignored);
      return;
    }
    auto peer = peer_of(socket);
    if constexpr (!is_unix) socket.set_option(tcp::no_delay(true), ignored);
    const auto connection =
        std::make_shared<Connection>(network_, Connection::Socket(std::move(socket)), std::move(peer), is_unix);
    network_.connections.insert(connection);
    connection->start();
  }

  void repeat(std::shared_ptr<asio::steady_timer> timer, Duration interval,
              std::shared_ptr<std::function<void()>> call) {
    timer->expires_after(interval);
    timer->async_wait([this, timer, interval, call](error_code error) {
      if (error) return;
      (*call)();
      repeat(timer, interval, call);
    });
  }

  void stop() {
    const auto all = network_.connections;
    for (const auto& connection : all) connection->abort();
    network_.io.stop();
  }

  std::vector<ListenAddress> addresses_;
  std::list<SocketFile> files_;
  Network network_;
  std::list<tcp::acceptor> tcp_;
  std::list<Unix::acceptor> unix_;
  asio::steady_timer drain_deadline_;
};

}  // namespace

Result<std::unique_ptr<Transport>> Transport::open(const std::vector<ListenAddress>& addresses, const Limits& limits,
                                                   Handler& handler) {
  auto transport = std::make_unique<AsioTransport>(limits, handler);
  for (const auto& address : addresses) {
    if (auto listening = transport->listen(address); !listening) return listening.error();
  }
  return std::unique_ptr<Transport>(std::move(transport));
}

}  // namespace leasehold::serve
