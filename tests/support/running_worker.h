// The worker runtime on a thread of its own, over a fake store.
#pragma once

#include <stdexcept>
#include <stop_token>
#include <thread>
#include <utility>

#include "support/gate.h"
#include "support/results.h"
#include "worker/runtime.h"

namespace leasehold::support {

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

}  // namespace leasehold::support
