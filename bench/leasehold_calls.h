// Lock cycles and heartbeats through the public API: all callers are threads of one process with one Store.
#pragma once

#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "leasehold/leasehold.h"
#include "measure.h"

namespace leasehold::bench {

Store open_store(const std::string& url);

/// The value of a call; ends the program on an error.
template <typename T>
T need(Result<T> result) {
  if (!result) die(result.error().message);
  if constexpr (!std::is_void_v<T>) return std::move(*result);
}

class LeaseholdCalls {
 public:
  /// Each caller has a lock name of its own, "bench-N".
  LeaseholdCalls(Store store, int callers);

  /// Acquire and release.
  bool cycle(int caller);
  /// The same over names that all callers share: a refusal does not count.
  bool shared_cycle(int caller);
  /// For a lock that the caller takes with its first heartbeat and keeps.
  bool heartbeat(int caller);
  /// Releases the locks of heartbeat(), for cycle() to take.
  void release_all();

 private:
  struct alignas(64) Caller {
    std::string name;
    unsigned turn = 0;
    Token token;
  };

  Store store_;
  Locks locks_;
  std::vector<Caller> callers_;
};

}  // namespace leasehold::bench
