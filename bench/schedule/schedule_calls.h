// Runs of schedules through the public API: all callers are threads of one process with one Store.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "leasehold/leasehold.h"

namespace leasehold::bench {

class ScheduleCalls {
 public:
  /// Defines so many schedules, of which those of the callers are due and the others are not for months.
  ScheduleCalls(const Store& store, int schedules, int callers);

  /// Of the caller's own schedule, which is due again as soon as it is finished: two durable commits.
  bool acquire_and_finish(int caller);
  /// The same with a cron rule. Released, it is due again at once, and the calendar is asked each time.
  bool acquire_and_release_cron(int caller);
  /// Of a schedule that all callers ask for, too early.
  bool acquire_not_due();
  /// Of one that somebody runs.
  bool acquire_held();
  /// A page of those that are due.
  bool find_due(int most);

 private:
  struct Caller {
    std::string pause;  ///< the schedule with a pause of nothing
    std::string cron;
  };

  void define_crowd(int schedules, int threads);
  bool refuses(std::string_view name, Errc refusal);

  Schedules schedules_;
  std::vector<Caller> callers_;
};

}  // namespace leasehold::bench
