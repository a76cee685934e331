// `leasehold serve` in a process of its own, so that its processor time and memory can be told from those of its
// clients.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>

namespace leasehold::bench {

class ServerProcess {
 public:
  /// Starts it on a free port of 127.0.0.1 and waits until it listens; its log goes to this file. Ends the program if
  /// the server does not start.
  ServerProcess(const std::string& store_url, const std::string& log);
  ServerProcess(const ServerProcess&) = delete;
  ServerProcess& operator=(const ServerProcess&) = delete;
  /// Drains it.
  ~ServerProcess();

  [[nodiscard]] std::uint16_t port() const { return port_; }
  [[nodiscard]] double resident_mib() const;
  /// Processor time of all its threads so far.
  [[nodiscard]] double processor_seconds() const;

 private:
  pid_t pid_ = 0;
  std::uint16_t port_ = 0;
};

}  // namespace leasehold::bench
