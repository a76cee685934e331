// The worker runtime on a thread of its own, over a fake store.
#pragma once

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <stdexcept>
#include <stop_token>
#include <thread>
#include <utility>

#include "support/results.h"
#include "worker/runtime.h"

namespace leasehold::support {

/// Opened once; those who wait go through. Bounded: a test that would hang fails.
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

class RunningWorker {
 public:
  RunningWorker(worker::WorkSource& source, worker::Handlers handlers, WorkerOptions options)
      : handlers_(std::move(handlers)),
        options_(std::move(options)),
        thread_([this, &source] { result_ = worker::run_worker(source, handlers_, options_, stop_.get_token()); }) {}
  RunningWorker(const RunningWorker&) = delete;
  RunningWorker& operator=(const RunningWorker&) = delete;
  ~RunningWorker() {
    if (thread_.joinable()) static_cast<void>(stop_and_finish());
  }

  void stop() { stop_.request_stop(); }
  /// Waits for it to end by itself.
  Result<WorkSummary> finish() {
    thread_.join();
    return result_;
  }
  Result<WorkSummary> stop_and_finish() {
    stop();
    return finish();
  }
  /// The summary of a run that must have gone well.
  WorkSummary summary() {
    auto result = stop_and_finish();
    if (!result) throw std::runtime_error(describe(result.error()));
    return *result;
  }

 private:
  const worker::Handlers handlers_;
  const WorkerOptions options_;
  std::stop_source stop_;
  Result<WorkSummary> result_ = Error{.code = Errc::internal, .message = "it did not run"};
  std::thread thread_;
};

/// Until somebody stops the job.
inline StopReason wait_for_stop(const JobContext& context) {
  Gate stopped;
  const std::stop_callback on_stop(context.stop_token(), [&] { stopped.open(); });
  if (!stopped.wait()) throw std::runtime_error("nobody stopped the job");
  return context.stop_reason().value();
}

}  // namespace leasehold::support
