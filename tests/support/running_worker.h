// A worker on a thread of its own, stopped at the end.
#pragma once

#include <map>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <thread>
#include <utility>

#include "leasehold/worker.h"
#include "support/gate.h"
#include "support/results.h"

namespace leasehold::support {

using JobHandlers = std::map<std::string, Handler>;

class RunningWorker {
 public:
  RunningWorker(const Store& store, const JobHandlers& handlers, WorkerOptions options)
      : worker_(store, std::move(options)) {
    for (const auto& [queue, handler] : handlers) worker_.handle(queue, handler);
    thread_ = std::thread([this] { result_ = worker_.run(stop_.get_token()); });
  }
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
  Worker worker_;
  std::stop_source stop_;
  Result<WorkSummary> result_ = Error{.code = Errc::internal, .message = "it did not run"};
  std::thread thread_;
};

}  // namespace leasehold::support
