// The chunks that are being loaded. Every method may be called from any thread.
#pragma once

#include <mutex>
#include <vector>

#include "loader/task.h"

namespace leasehold::loader {

class Roster {
 public:
  void add(const TaskPtr& task) {
    const std::lock_guard lock(mutex_);
    tasks_.push_back(task);
  }
  void remove(const TaskPtr& task) {
    const std::lock_guard lock(mutex_);
    std::erase(tasks_, task);
  }
  [[nodiscard]] std::vector<TaskPtr> tasks() const {
    const std::lock_guard lock(mutex_);
    return tasks_;
  }

  /// Those that are held under a lease, or everything for none.
  void stop(const worker::LiveLease* lease, StopReason why) const {
    // Not under the mutex: stop callbacks are the user's code.
    for (const auto& task : tasks()) {
      if (lease == nullptr || task->lease->live.get() == lease) task->stop.raise(why);
    }
  }

 private:
  mutable std::mutex mutex_;
  std::vector<TaskPtr> tasks_;
};

}  // namespace leasehold::loader
