#include "support/postgres_server.h"

#include <stdexcept>

#include "support/process.h"

namespace leasehold::support {

PostgresServer::PostgresServer() : url_(tool("start")) {}

PostgresServer::~PostgresServer() {
  try {
    tool("stop");
  } catch (const std::runtime_error&) {
    // Nothing more can be done about it here; the test has its verdict already.
  }
}

void PostgresServer::kill9() { tool("kill9"); }

void PostgresServer::restart() { tool("restart"); }

std::string PostgresServer::tool(const std::string& command) const {
  const auto done = run({LEASEHOLD_SOURCE_DIR "/tools/throwaway-postgres", command, folder_.path().string()}, {}, {},
                        std::chrono::seconds(90));
  if (done.exit_code != 0) throw std::runtime_error("throwaway-postgres " + command + ": " + done.err);
  return done.out.substr(0, done.out.find('\n'));
}

}  // namespace leasehold::support
