// A pgbouncer in transaction mode before the test server: consecutive transactions of one client may
// run on different server connections, so session state does not hold.
#pragma once

#include <string>

#include "support/process.h"
#include "support/temp_dir.h"

namespace leasehold::support {

class PgBouncer {
 public:
  /// Stands before the server of `server_url`. Throws std::runtime_error when it does not come up.
  explicit PgBouncer(const std::string& server_url);

  /// The same database through pgbouncer.
  [[nodiscard]] const std::string& url() const { return url_; }

 private:
  TempDir folder_;
  std::string url_;
  std::optional<Process> process_;
};

}  // namespace leasehold::support
