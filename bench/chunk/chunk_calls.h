// Chunk cycles and turns of a rate limit through the public API: all callers are threads of one process with one Store.
#pragma once

#include <atomic>
#include <string>

#include "leasehold/leasehold.h"

namespace leasehold::bench {

class ChunkCalls {
 public:
  explicit ChunkCalls(Store store);

  /// A fresh set for all callers; the last one is forgotten. No part of what is measured.
  void plan_anew();
  /// Claims the next chunk, saves a cursor, completes: three durable commits. False: others were in the way.
  bool cycle();
  /// One turn of a limit that all callers share, and that never makes anybody wait.
  bool take_turn();

 private:
  Store store_;
  Chunks chunks_;
  Limits limits_;
  std::string set_;
  int plans_ = 0;
  std::atomic<int> turns_ = 0;
};

}  // namespace leasehold::bench
