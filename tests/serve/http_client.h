// A client of HTTP on a bare socket: it can also send what no real client would.
//
//   HttpClient client(address);
//   EXPECT_EQ(client.ask("GET", "/healthz").status, 200);
//   client.send("GET / HTTP/1.1\r\n");                   // half a head
#pragma once

#include <arpa/inet.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include <boost/json/parse.hpp>
#include <boost/json/value.hpp>
#include <optional>
#include <string>
#include <utility>

#include "serve/http.h"
#include "serve/listen.h"

namespace leasehold::support {

struct HttpAnswer {
  int status = 0;  ///< 0: the server closed the connection instead
  serve::Headers headers{};
  std::string body{};

  [[nodiscard]] boost::json::value json() const {
    boost::system::error_code broken;
    auto value = boost::json::parse(body, broken);
    EXPECT_FALSE(broken) << status << " " << body;
    return value;
  }
  /// The code of a problem.
  [[nodiscard]] std::string code() const {
    const auto value = json();
    const auto* object = value.if_object();
    const auto* code = object != nullptr ? object->if_contains("code") : nullptr;
    return code != nullptr && code->is_string() ? std::string(code->get_string()) : "";
  }
};

class HttpClient {
 public:
  explicit HttpClient(serve::ListenAddress address) : address_(std::move(address)) { connect(); }
  HttpClient(HttpClient&& other) noexcept
      : address_(other.address_), fd_(std::exchange(other.fd_, -1)), read_(std::move(other.read_)) {}
  HttpClient& operator=(HttpClient&&) = delete;
  ~HttpClient() { close(); }

  void connect() {
    close();
    fd_ = ::socket(address_.is_unix() ? AF_UNIX : AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const timeval patience{.tv_sec = 30, .tv_usec = 0};
    ::setsockopt(fd_, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    EXPECT_EQ(address_.is_unix() ? connect_to_file() : connect_to_port(), 0) << address_.text();
  }
  void close() {
    if (fd_ >= 0) ::close(fd_);
    fd_ = -1;
    read_.clear();
  }
  /// False: the server has closed the connection.
  bool send(std::string_view bytes) const {
    while (!bytes.empty()) {
      const auto sent = ::send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (sent <= 0) return false;
      bytes.remove_prefix(static_cast<std::size_t>(sent));
    }
    return true;
  }

  /// The request as a client sends it; `Host` and the length of the body are added.
  [[nodiscard]] std::string written(std::string_view method, std::string_view target, std::string_view body = {},
                                    const serve::Headers& headers = {}) const {
    auto text = fmt::format("{} {} HTTP/1.1\r\n", method, target);
    if (headers.count("Host") == 0) text += "Host: localhost\r\n";
    for (const auto& [name, value] : headers) text += fmt::format("{}: {}\r\n", name, value);
    if (!body.empty() || method == "POST") text += fmt::format("Content-Length: {}\r\n", body.size());
    return fmt::format("{}\r\n{}", text, body);
  }
  HttpAnswer ask(std::string_view method, std::string_view target, std::string_view body = {},
                 const serve::Headers& headers = {}) {
    send(written(method, target, body, headers));
    return read(method == "HEAD");
  }

  HttpAnswer read(bool without_body = false) {
    HttpAnswer answer = read_head();
    if (answer.status == 100) answer = read_head();
    if (answer.status == 0 || answer.status == 204 || answer.status == 304 || without_body) return answer;
    if (answer.headers.get("Transfer-Encoding") == "chunked") {
      for (auto chunk = read_chunk(); chunk && !chunk->empty(); chunk = read_chunk()) answer.body += *chunk;
      return answer;
    }
    const auto length = answer.headers.get("Content-Length");
    answer.body = length.empty() ? read_all() : taken(std::stoul(std::string(length)));
    return answer;
  }
  /// The status line and the headers; what follows stays.
  HttpAnswer read_head() {
    const auto head = taken_until("\r\n\r\n");
    if (head.empty()) return {};
    HttpAnswer answer{.status = std::stoi(head.substr(head.find(' ')))};
    for (auto at = head.find("\r\n"); at + 4 < head.size();) {
      const auto end = head.find("\r\n", at + 2);
      const auto line = head.substr(at + 2, end - at - 2);
      const auto colon = line.find(": ");
      if (colon != std::string::npos) answer.headers.add(line.substr(0, colon), line.substr(colon + 2));
      at = end;
    }
    return answer;
  }
  /// A chunk of a response that goes on; empty: the last one. Nothing: the server closed the connection.
  std::optional<std::string> read_chunk() {
    const auto size = taken_until("\r\n");
    if (size.empty()) return std::nullopt;
    auto chunk = taken(std::stoul(size, nullptr, 16));
    taken(2);
    return chunk;
  }
  [[nodiscard]] int fd() const { return fd_; }
  /// Whether the server has closed the connection, without another byte.
  bool is_closed() { return read_.empty() && read_all().empty(); }

 private:
  [[nodiscard]] int connect_to_port() const {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(address_.port);
    ::inet_pton(AF_INET, address_.host.c_str(), &address.sin_addr);
    return ::connect(fd_, reinterpret_cast<const sockaddr*>(&address), sizeof address);
  }
  [[nodiscard]] int connect_to_file() const {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    address_.path.copy(address.sun_path, sizeof address.sun_path - 1);
    return ::connect(fd_, reinterpret_cast<const sockaddr*>(&address), sizeof address);
  }

  bool receive() {
    char bytes[65536];
    const auto got = ::recv(fd_, bytes, sizeof bytes, 0);
    if (got < 0 && errno == EAGAIN) ADD_FAILURE() << "no answer within 30 s";
    if (got > 0) read_.append(bytes, static_cast<std::size_t>(got));
    return got > 0;
  }
  std::string taken(std::size_t size) {
    while (read_.size() < size && receive()) {
    }
    auto bytes = read_.substr(0, size);
    read_.erase(0, size);
    return bytes;
  }
  /// With its end; empty if it does not come.
  std::string taken_until(std::string_view end) {
    while (read_.find(end) == std::string::npos) {
      if (!receive()) return "";
    }
    return taken(read_.find(end) + end.size());
  }
  std::string read_all() {
    while (receive()) {
    }
    return std::exchange(read_, {});
  }

  serve::ListenAddress address_;
  int fd_ = -1;
  std::string read_;
};

/// Waits until one of two clients has an answer.
inline bool is_answered_first(const HttpClient& client, const HttpClient& other) {
  pollfd both[] = {{.fd = client.fd(), .events = POLLIN, .revents = 0},
                   {.fd = other.fd(), .events = POLLIN, .revents = 0}};
  EXPECT_GT(::poll(both, 2, 30'000), 0) << "no answer within 30 s";
  return both[0].revents != 0;
}

}  // namespace leasehold::support
