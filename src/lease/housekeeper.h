// Housekeeping in small steps while a process works in the store, so that no sweeper is needed: it prunes old history,
// and lets expired leases and deadlines of queues that nobody claims from take effect.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>

#include "leasehold/time.h"
#include "storage/backend.h"

namespace leasehold::lease {

/// The store decides what is too old and when the next step is due, and lets one process at a time do it. This class
/// decides when a process asks: after a number of grants, and from time to time. Most acts only pay for reading a
/// clock.
///
///   impl_->housekeeper->before_work();          // a step may run here, before the act: a grant must not wait for it
///   auto grant = …;
///   if (grant) impl_->housekeeper->count(grant->jobs.size());
///
/// Threading: from any thread; one of them does the step, and the others go on.
class Housekeeper {
 public:
  explicit Housekeeper(std::shared_ptr<storage::Backend> backend) : backend_(std::move(backend)) {}

  /// Until then it does nothing: a store over a backend that is not its own must send no statements by itself.
  void start();
  /// As if there had been so many grants since the last step. start() draws a number, which tests cannot rely on.
  void pretend(std::int64_t work) { work_ = work; }

  /// A step removes four times as many rows as were granted since the last one, so that history stops growing.
  void before_work();
  /// This many jobs, locks or chunks were granted; more than one per act.
  void count(std::int64_t granted) { work_.fetch_add(granted, std::memory_order_relaxed); }
  /// For threads that wait for work: at most one step.
  void when_idle();

 private:
  void step(int at_most);

  std::shared_ptr<storage::Backend> backend_;
  /// Grants since the last step.
  std::atomic<std::int64_t> work_ = 0;
  std::atomic<BootTime> due_ = BootTime::max();
  std::mutex turn_;
};

}  // namespace leasehold::lease
