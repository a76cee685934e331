// Runs of schedules through the public API: all callers are threads of one process with one Store.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "leasehold/leasehold.h"

namespace leasehold::bench {

class ScheduleCalls {
 public:
  /// Sets `schedules` schedules: those of the callers are due, the others are not due for months.
  ScheduleCalls(const Store& store, int schedules, int callers);

  /// For the caller's own schedule, which is due again as soon as it is settled: two durable commits.
  bool acquire_and_complete(int caller);
  /// The same with a cron rule. Once released, it is due again at once, and each run reads the calendar.
  bool acquire_and_release_cron(int caller);
  /// For a schedule that all callers request too early.
  bool acquire_not_due();
  /// For a schedule that is running.
  bool acquire_held();
  /// A page of due schedules.
  bool find_due(int max);

 private:
  struct Caller {
    std::string pause;  ///< the schedule with a pause of zero
    std::string cron;
  };

  void define_crowd(int schedules, int threads);
  bool refuses(std::string_view name, Errc refusal);

  Schedules schedules_;
  std::vector<Caller> callers_;
};

}  // namespace leasehold::bench
