// The loader runtime on a thread of its own, over a fake store.
#pragma once

#include <stdexcept>
#include <stop_token>
#include <thread>
#include <utility>

#include "loader/runtime.h"
#include "support/gate.h"
#include "support/results.h"

namespace leasehold::support {

class RunningLoader {
 public:
  RunningLoader(loader::ChunkSource& source, ChunkHandler handler, LoaderOptions options)
      : handler_(std::move(handler)), options_(std::move(options)), thread_([this, &source] {
          result_ = loader::run_loader(source, handler_, options_, stop_.get_token());
          ended_.open();
        }) {}
  RunningLoader(const RunningLoader&) = delete;
  RunningLoader& operator=(const RunningLoader&) = delete;
  ~RunningLoader() {
    if (thread_.joinable()) static_cast<void>(stop_and_finish());
  }

  void stop() { stop_.request_stop(); }
  /// Waits for it to end by itself. If it does not, it is stopped and the test fails.
  Result<LoadSummary> finish() {
    if (!ended_.wait()) {
      ADD_FAILURE() << "the loader does not end";
      stop();
    }
    thread_.join();
    return result_;
  }
  Result<LoadSummary> stop_and_finish() {
    stop();
    return finish();
  }

 private:
  const ChunkHandler handler_;
  const LoaderOptions options_;
  std::stop_source stop_;
  Gate ended_;
  Result<LoadSummary> result_ = Error{.code = Errc::internal, .message = "it did not run"};
  std::thread thread_;
};

}  // namespace leasehold::support
