// Heartbeats of many sessions, and claims, through the public API: all callers are threads of one process with one
// Store.
#pragma once

#include <string>
#include <vector>

#include "leasehold/leasehold.h"

namespace leasehold::bench {

class SessionCalls {
 public:
  /// Opens `sessions` sessions, which stay open, and an item for each caller.
  SessionCalls(Store store, int sessions, int callers);

  /// For the next session in turn; no two callers share one. A durable commit.
  bool heartbeat(int caller);
  /// Takes the caller's own item for its own session, and releases it: two durable commits.
  bool take_and_release(int caller);

 private:
  struct Session {
    std::string id;
    Token token;
  };
  struct Caller {
    std::string item;
    std::size_t next = 0;
  };

  void open_sessions(std::size_t from, std::size_t step);

  Sessions sessions_;
  Claims claims_;
  std::vector<Session> open_;
  std::vector<Caller> callers_;
};

}  // namespace leasehold::bench
