// Lines in and out. The input ends with the client, or with the agent's process.
#pragma once

#include <mutex>
#include <optional>
#include <string>

#include "leasehold/lease.h"

namespace leasehold::mcp {

/// Writes whole lines, from any thread.
class Writer {
 public:
  explicit Writer(int fd) : fd_(fd) {}
  void write_line(std::string line);

 private:
  int fd_;
  std::mutex mutex_;
};

/// Reads lines until the input ends or the agent's process does. Belongs to one thread.
class Reader {
 public:
  Reader(int fd, Holder agent);
  Reader(const Reader&) = delete;
  Reader& operator=(const Reader&) = delete;
  ~Reader();

  struct Line {
    std::string text{};
    bool too_long = false;  ///< it was read to its end, and dropped
  };

  /// Nothing: there are no more.
  std::optional<Line> next();

  /// A moment is left for it: the end of the input is often the first sign that the agent dies.
  [[nodiscard]] bool agent_is_gone() const;

 private:
  bool read_more();

  int fd_;
  Holder agent_;
  int agent_fd_;
  std::string buffer_;
  std::size_t searched_ = 0;
};

}  // namespace leasehold::mcp
