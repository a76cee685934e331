// Writes verdicts, on its own thread: a single one at once, many together.
//
// While one batch is being written, the next one gathers. If the store cannot be reached, a verdict is retried as long
// as the job's lease can be trusted; repeating a verdict is harmless.
#pragma once

#include <condition_variable>
#include <mutex>
#include <span>
#include <thread>
#include <vector>

#include "leasehold/job.h"
#include "leasehold/worker.h"
#include "runtime/shared.h"
#include "runtime/worker/workbench.h"

namespace leasehold::worker {

class Settler {
 public:
  /// Throws std::system_error if no thread can be started.
  Settler(const Jobs& jobs, Workbench& bench, Tally<WorkSummary>& tally, const Report& report);
  Settler(const Settler&) = delete;
  Settler& operator=(const Settler&) = delete;
  ~Settler() { finish(); }

  /// From any thread. Only the first verdict of an attempt counts.
  void add(const AttemptPtr& attempt, Verdict verdict);
  /// Writes the pending verdicts, then ends.
  void finish();

 private:
  struct Pending {
    AttemptPtr attempt;
    Verdict verdict;
    bool instead = false;  ///< replaces a verdict that the store refused
  };
  using Pendings = std::vector<Pending>;

  void run();
  bool gather(Pendings& batch);
  Pendings settle(Pendings batch);
  void settle_many(std::span<Pending> batch, Pendings& again);
  void conclude(Pending& pending, const Result<JobSettled>& answer, Pendings& again);
  void give_up(const Pending& pending, const Error& why);
  static std::vector<Settlement> settlements_of(std::span<const Pending> batch);

  const Jobs& jobs_;
  Workbench& bench_;
  Tally<WorkSummary>& tally_;
  const Report& report_;
  GrowingPause pause_;
  std::mutex mutex_;
  std::condition_variable changed_;
  Pendings waiting_;
  bool finishing_ = false;
  std::thread thread_;
};

}  // namespace leasehold::worker
