// Many clients of the live stream in one thread, each a connection of its own.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace leasehold::bench {

class StreamClients {
 public:
  using Clock = std::chrono::steady_clock;
  /// One event as one client got it: the key of the event, and when.
  using Arrived = std::function<void(std::size_t client, std::string_view key, Clock::time_point at)>;

  /// Connects all of them to this port of 127.0.0.1 and waits until each is greeted. Ends the program if one is refused
  /// or cut off.
  StreamClients(std::uint16_t port, int count, const std::string& topics, Arrived arrived);
  StreamClients(const StreamClients&) = delete;
  StreamClients& operator=(const StreamClients&) = delete;
  ~StreamClients();

  /// Reads what has come, and waits so long for more.
  void read(std::chrono::milliseconds wait);

  [[nodiscard]] std::int64_t bytes() const { return bytes_; }
  /// Clients to which the server said that it left frames out.
  [[nodiscard]] std::size_t resets() const { return resets_; }

 private:
  struct Client {
    int fd = -1;
    std::string rest{};  ///< the beginning of a frame whose end has not come
    bool greeted = false;
  };

  void connect(std::uint16_t port, const std::string& topics);
  void read_client(std::size_t number);
  void take_frames(std::size_t number, Clock::time_point at);
  void take_frame(std::size_t number, std::string_view frame, Clock::time_point at);

  const Arrived arrived_;
  const int epoll_;
  std::vector<Client> clients_;
  std::vector<char> buffer_;
  std::int64_t bytes_ = 0;
  std::size_t greeted_ = 0;
  std::size_t resets_ = 0;
};

}  // namespace leasehold::bench
