// A typical hand-written queue: a table of jobs with a state, SKIP LOCKED, and a row in state RUNNING.
#pragma once

#include <string>

#include "../raw_store.h"

namespace leasehold::bench {

/// Belongs to one thread.
class RawQueue {
 public:
  /// Creates the table if it is missing.
  explicit RawQueue(const std::string& url);

  /// One INSERT, one commit.
  void insert();
  /// Inserts `jobs` rows at once, for others to work off.
  void fill(int jobs);
  /// Claims one job and completes it: two commits. False: no job is left.
  bool claim_and_complete();

  /// A durable INSERT with a NOTIFY on this connection, until `listener` has received it: in microseconds.
  double wake_up(RawQueue& listener);
  void listen();

 private:
  RawPostgresConnection connection_;
};

}  // namespace leasehold::bench
