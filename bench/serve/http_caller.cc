#include "http_caller.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <charconv>

#include "../measure.h"

namespace leasehold::bench {

HttpCaller::HttpCaller(std::uint16_t port) : fd_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  const int at_once = 1;
  ::setsockopt(fd_, IPPROTO_TCP, TCP_NODELAY, &at_once, sizeof at_once);
  if (::connect(fd_, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) die("no server listens");
}

HttpCaller::~HttpCaller() { ::close(fd_); }

void HttpCaller::send(std::string_view bytes) const {
  while (!bytes.empty()) {
    const auto sent = ::send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent <= 0) die("the server closed a connection");
    bytes.remove_prefix(static_cast<std::size_t>(sent));
  }
}

void HttpCaller::receive() {
  char buffer[16384];
  const auto got = ::recv(fd_, buffer, sizeof buffer, 0);
  if (got <= 0) die("the server closed a connection");
  received_.append(buffer, static_cast<std::size_t>(got));
}

std::string_view HttpCaller::post(std::string_view act, std::string_view arguments) {
  received_.clear();
  send(
      fmt::format("POST /api/v1/{} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
                  "Content-Length: {}\r\n\r\n{}",
                  act, arguments.size(), arguments));
  std::size_t head = 0;
  while ((head = received_.find("\r\n\r\n")) == std::string::npos) receive();
  constexpr std::string_view length_name = "Content-Length: ";
  const auto at = received_.find(length_name);
  if (!received_.starts_with("HTTP/1.1 200") || at > head) die(received_);
  std::size_t length = 0;
  std::from_chars(received_.data() + at + length_name.size(), received_.data() + head, length);
  while (received_.size() < head + 4 + length) receive();
  return std::string_view(received_).substr(head + 4, length);
}

std::int64_t number_of(std::string_view json, std::string_view key) {
  const auto name = fmt::format("\"{}\":", key);
  const auto at = json.find(name);
  std::int64_t number = 0;
  if (at != std::string_view::npos) {
    std::from_chars(json.data() + at + name.size(), json.data() + json.size(), number);
  }
  return number;
}

}  // namespace leasehold::bench
