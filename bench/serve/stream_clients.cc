#include "stream_clients.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <utility>

#include "../measure.h"

namespace leasehold::bench {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t read_bytes = std::size_t{1} << 16;
constexpr auto longest_greeting = 60s;

void allow_many_descriptors() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  limit.rlim_cur = limit.rlim_max;
  ::setrlimit(RLIMIT_NOFILE, &limit);
}

/// The text behind `name` up to the next quotation mark.
std::string_view text_behind(std::string_view frame, std::string_view name) {
  const auto at = frame.find(name);
  if (at == std::string_view::npos) return {};
  frame.remove_prefix(at + name.size());
  return frame.substr(0, frame.find('"'));
}

}  // namespace

StreamClients::StreamClients(std::uint16_t port, int count, const std::string& topics, Arrived arrived)
    : arrived_(std::move(arrived)), epoll_(::epoll_create1(EPOLL_CLOEXEC)), buffer_(read_bytes) {
  allow_many_descriptors();
  clients_.reserve(static_cast<std::size_t>(count));
  for (int i = 0; i < count; ++i) connect(port, topics);
  const auto patience = Clock::now() + longest_greeting;
  while (greeted_ < clients_.size()) {
    if (Clock::now() > patience) die(fmt::format("the server greeted {} of {} clients", greeted_, count));
    read(100ms);
  }
}

StreamClients::~StreamClients() {
  for (const auto& client : clients_) ::close(client.fd);
  ::close(epoll_);
}

void StreamClients::connect(std::uint16_t port, const std::string& topics) {
  const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (fd < 0 || ::connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
    die(fmt::format("client {} cannot connect", clients_.size()));
  }
  const auto request = fmt::format("GET /api/v1/stream?topics={} HTTP/1.1\r\nHost: localhost\r\n\r\n", topics);
  if (::send(fd, request.data(), request.size(), MSG_NOSIGNAL) < 0) die("the server closed a connection");
  epoll_event wanted{.events = EPOLLIN, .data = {.u64 = clients_.size()}};
  ::epoll_ctl(epoll_, EPOLL_CTL_ADD, fd, &wanted);
  clients_.push_back({.fd = fd});
}

void StreamClients::read(std::chrono::milliseconds wait) {
  std::array<epoll_event, 256> ready{};
  const int count = ::epoll_wait(epoll_, ready.data(), ready.size(), static_cast<int>(wait.count()));
  for (int i = 0; i < count; ++i) read_client(ready[static_cast<std::size_t>(i)].data.u64);
}

void StreamClients::read_client(std::size_t number) {
  auto& client = clients_[number];
  const auto got = ::recv(client.fd, buffer_.data(), buffer_.size(), MSG_DONTWAIT);
  if (got < 0 && errno == EAGAIN) return;
  if (got <= 0) die(fmt::format("the server closed the stream of client {}", number));
  const auto at = Clock::now();
  bytes_ += got;
  client.rest.append(buffer_.data(), static_cast<std::size_t>(got));
  take_frames(number, at);
}

/// The lines between frames that tell the sizes of HTTP's chunks are no lines of a frame, so they do not matter here: a
/// chunk has whole frames.
void StreamClients::take_frames(std::size_t number, Clock::time_point at) {
  auto& rest = clients_[number].rest;
  std::size_t begin = 0;
  for (auto end = rest.find("\n\n"); end != std::string::npos; end = rest.find("\n\n", begin)) {
    take_frame(number, std::string_view(rest).substr(begin, end - begin), at);
    begin = end + 2;
  }
  rest.erase(0, begin);
}

void StreamClients::take_frame(std::size_t number, std::string_view frame, Clock::time_point at) {
  auto& client = clients_[number];
  if (frame.find("event: event\n") != std::string_view::npos) {
    arrived_(number, text_behind(frame, R"("key":")"), at);
  } else if (!client.greeted && frame.find("event: hello\n") != std::string_view::npos) {
    client.greeted = true;
    ++greeted_;
  } else if (frame.find("event: reset\n") != std::string_view::npos) {
    ++resets_;
  }
}

}  // namespace leasehold::bench
