// Topics that somebody in this process listens to. The store is told, so that it sends wake-ups only where they are
// wanted.
#pragma once

#include <map>
#include <mutex>
#include <string>

#include "storage/backend.h"

namespace leasehold::lease {

/// Threading: from any thread.
class Awaited {
 public:
  /// True: whoever changes something under `topic` from now on wakes its watches. Otherwise call tell_store().
  bool known(const std::string& topic, BootTime now);
  /// If that fails, the one who waits still looks now and then.
  void tell_store(storage::Backend& backend, const std::string& topic, BootTime deadline);

 private:
  std::mutex mutex_;
  std::map<std::string, BootTime> fresh_until_;
};

}  // namespace leasehold::lease
