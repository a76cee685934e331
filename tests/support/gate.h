// For tests whose handlers run on other threads: letting them go on, and seeing them stopped.
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <stdexcept>
#include <stop_token>

#include "leasehold/worker.h"

namespace leasehold::support {

/// Opened once; waiting threads then continue. Bounded: a test that would hang fails.
class Gate {
 public:
  void open() {
    {
      const std::lock_guard lock(mutex_);
      open_ = true;
    }
    opened_.notify_all();
  }
  bool wait() {
    std::unique_lock lock(mutex_);
    return opened_.wait_for(lock, std::chrono::seconds(10), [this] { return open_; });
  }

 private:
  std::mutex mutex_;
  std::condition_variable opened_;
  bool open_ = false;
};

/// Until the handler is stopped; its context is a JobContext or a ChunkContext.
template <typename Context>
StopReason wait_for_stop(const Context& context) {
  Gate stopped;
  const std::stop_callback on_stop(context.stop_token(), [&] { stopped.open(); });
  if (!stopped.wait()) throw std::runtime_error("the handler was not stopped");
  return context.stop_reason().value();
}

}  // namespace leasehold::support
