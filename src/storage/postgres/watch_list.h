// Who waits for which topic.
#pragma once

#include <condition_variable>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "storage/backend.h"

namespace leasehold::postgres {

/// Threading: from any thread.
class WatchList : public std::enable_shared_from_this<WatchList> {
 public:
  std::unique_ptr<storage::ChangeWatch> add(std::string_view topic);
  void wake(std::string_view topic);
  void wake_all();

 private:
  class Watch;

  std::mutex mutex_;
  std::vector<Watch*> watches_;
};

}  // namespace leasehold::postgres
