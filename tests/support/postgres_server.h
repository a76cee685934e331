// A PostgreSQL server of the test's own, to be killed and started again.
#pragma once

#include <string>

#include "support/temp_dir.h"

namespace leasehold::support {

class PostgresServer {
 public:
  /// Throws std::runtime_error with the server's words when it does not start.
  PostgresServer();
  ~PostgresServer();
  PostgresServer(const PostgresServer&) = delete;
  PostgresServer& operator=(const PostgresServer&) = delete;

  [[nodiscard]] const std::string& url() const { return url_; }
  /// Every process of it at once, as a crash would.
  void kill9();
  /// On the same port, with what it remembers.
  void restart();

 private:
  std::string tool(const std::string& command) const;

  TempDir folder_;
  std::string url_;
};

}  // namespace leasehold::support
