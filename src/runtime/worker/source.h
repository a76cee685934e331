// Where a worker's jobs come from: claims under its own name and ttl, and the wait for more.
#pragma once

#include <stop_token>
#include <string>
#include <vector>

#include "leasehold/job.h"
#include "leasehold/result.h"
#include "leasehold/store.h"

namespace leasehold::worker {

// Belongs to one thread, but for `jobs`.
class JobsSource {
 public:
  JobsSource(const Store& store, const std::vector<std::string>& queues, Holder holder, Duration ttl);

  /// From any thread.
  const Jobs jobs;

  Result<SharedLease> open_lease() { return jobs.open_lease(ttl_, {.holder = holder_}); }

  /// Asks once. A job that must be alone comes under a lease of its own; all others are attached to `lease`.
  Result<JobGrant> claim(const std::string& queue, int max, const SharedLease& lease);

  /// Sleeps until there may be a new job since the last call returned, until `until`, or until told to stop.
  void wait_for_work(BootTime until, const std::stop_token& stop);

 private:
  const Holder holder_;
  const Duration ttl_;
  JobWatch watch_;
  /// Grows while wake-ups bring nothing.
  Duration damping_{0};
};

}  // namespace leasehold::worker
