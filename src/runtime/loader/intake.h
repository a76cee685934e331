// Claims chunks for the threads of a loader, one at a time: the threads wait in line, and the first one waits in the
// store.
//
// Call its methods from any thread.
#pragma once

#include <mutex>
#include <optional>
#include <stop_token>

#include "runtime/loader/leases.h"
#include "runtime/loader/source.h"
#include "runtime/loader/task.h"
#include "runtime/shared.h"

namespace leasehold::loader {

class Intake {
 public:
  Intake(ChunksSource& source, Leases& leases, const worker::Report& report, const LoaderOptions& options)
      : source_(source), leases_(leases), report_(report), once_(options.once), keep_waiting_(options.keep_waiting) {}

  /// Waits for the next chunk. Nothing: no more will come.
  TaskPtr next();

  /// Wakes all threads that wait for a chunk.
  void end() { ending_.request_stop(); }

  // After it has ended by itself.

  /// An error that a retry cannot fix.
  [[nodiscard]] std::optional<Error> failure() const;
  /// Why there are no more chunks.
  [[nodiscard]] std::optional<Error> refusal() const;

 private:
  Result<TaskPtr> ask();
  void refused(Error why);
  void failed(const Error& why);
  void end_with(std::optional<Error>& reason, Error why);
  void sleep(Duration length) const;

  ChunksSource& source_;
  Leases& leases_;
  const worker::Report& report_;
  const bool once_;
  const bool keep_waiting_;
  std::stop_source ending_;
  std::mutex turn_;
  // Used by the thread whose turn it is.
  GrowingPause pause_;
  mutable std::mutex mutex_;
  std::optional<Error> failure_;
  std::optional<Error> refusal_;
};

}  // namespace leasehold::loader
