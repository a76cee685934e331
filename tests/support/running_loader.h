// A loader of the set "orders" on a thread of its own, stopped at the end.
#pragma once

#include <stdexcept>
#include <stop_token>
#include <thread>
#include <utility>

#include "leasehold/loader.h"
#include "support/gate.h"
#include "support/results.h"

namespace leasehold::support {

class RunningLoader {
 public:
  RunningLoader(const Store& store, ChunkHandler handler, LoaderOptions options)
      : loader_(store, "orders", std::move(options)), handler_(std::move(handler)), thread_([this] {
          result_ = loader_.run(handler_, stop_.get_token());
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
  Loader loader_;
  const ChunkHandler handler_;
  std::stop_source stop_;
  Gate ended_;
  Result<LoadSummary> result_ = Error{.code = Errc::internal, .message = "it did not run"};
  std::thread thread_;
};

}  // namespace leasehold::support
