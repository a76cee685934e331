// One run of a scheduler, from the first look to the last verdict.
#pragma once

#include <stop_token>

#include "lease/awaited.h"
#include "lease/reap.h"
#include "leasehold/scheduler.h"
#include "scheduler/duties.h"
#include "storage/backend.h"

namespace leasehold::scheduler {

/// What it needs of a store.
struct StoreParts {
  Schedules schedules;
  storage::Backend& backend;
  lease::Awaited& awaited;
  lease::Reaper& reaper;
  Duration call_timeout;
};

/// What Scheduler::run does. Throws std::system_error where no thread is to be had.
Result<ScheduleSummary> run_scheduler(const StoreParts& store, const Duties& duties, const Holder& holder,
                                      const SchedulerOptions& options, const std::stop_token& stop);

}  // namespace leasehold::scheduler
