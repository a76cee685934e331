// Chunk cycles and turns of a rate through the public API: all callers are threads of one process with one Store.
#pragma once

#include <atomic>
#include <string>

#include "leasehold/leasehold.h"

namespace leasehold::bench {

class ChunkCalls {
 public:
  explicit ChunkCalls(Store store);

  /// Plans a fresh set for all callers and removes the last one. Not measured.
  void plan_anew();
  /// Claims the next chunk, saves a cursor, completes: three durable commits. False: other callers were in the way.
  bool cycle();
  /// One turn of a rate that all callers share, and that never makes a caller wait.
  bool take_turn();

 private:
  Store store_;
  Chunks chunks_;
  Rates limits_;
  std::string set_;
  int plans_ = 0;
  std::atomic<int> turns_ = 0;
};

}  // namespace leasehold::bench
