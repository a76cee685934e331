// One connection to the server, as a small client would use it: keep-alive, one request at a time.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace leasehold::bench {

class HttpCaller {
 public:
  /// Ends the program if no server listens on this port of 127.0.0.1.
  explicit HttpCaller(std::uint16_t port);
  HttpCaller(const HttpCaller&) = delete;
  HttpCaller& operator=(const HttpCaller&) = delete;
  ~HttpCaller();

  /// Performs an act, such as "job/claim". Ends the program for any status but 200. The body is valid until the next
  /// call.
  std::string_view post(std::string_view act, std::string_view arguments);

 private:
  void send(std::string_view bytes) const;
  /// Waits for more; ends the program if the server closes the connection.
  void receive();

  int fd_;
  std::string received_;
};

/// The first whole number after `"key":`; 0 if there is none.
std::int64_t number_of(std::string_view json, std::string_view key);

}  // namespace leasehold::bench
