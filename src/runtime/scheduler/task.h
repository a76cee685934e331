// A run in a scheduler's hands, from the acquire to the verdict. Call its methods from any thread, but settle() only
// once at a time.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <stop_token>
#include <string>
#include <vector>

#include "leasehold/result.h"
#include "leasehold/schedule.h"
#include "leasehold/scheduler.h"
#include "runtime/shared.h"

namespace leasehold::scheduler {

class Task {
 public:
  Task(HeldRun held, const Schedules& schedules, const worker::Report& report);
  Task(const Task&) = delete;
  Task& operator=(const Task&) = delete;
  ~Task() = default;

  [[nodiscard]] const ScheduleRun& run() const { return held_.run; }
  [[nodiscard]] const std::string& schedule() const { return held_.run.grant.key; }
  [[nodiscard]] bool lost() const { return held_.lease.lost().has_value(); }
  [[nodiscard]] BootTime trusted_until() const { return held_.lease.grant().trusted_until; }

  /// Both are retried during a store outage, as long as the lease can be trusted.
  Result<std::vector<std::string>> command();
  /// A verdict after the lease was lost does not count.
  Result<RunSettled> settle(const RunVerdict& verdict);

  worker::StopFlag stop;

 private:
  /// When to give up a request that began at `began`.
  [[nodiscard]] BootTime patience_ends(BootTime began) const;
  Result<RunSettled> send(const RunVerdict& verdict);

  HeldRun held_;
  const Schedules& schedules_;
  const worker::Report& report_;
  std::stop_callback<std::function<void()>> on_loss_;
};

using TaskPtr = std::shared_ptr<Task>;

// Verdicts that a store accepts, whatever the handler returned.

/// The same, with an error text that can be stored: the what() of any exception becomes one.
RunVerdict storable(RunVerdict verdict);

/// The verdict to use if the store refused the handler's, for example for counts that are not JSON. The run must end.
RunVerdict instead_of(const RunVerdict& verdict, const Error& refusal);

}  // namespace leasehold::scheduler
