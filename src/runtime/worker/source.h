// The source of a worker's jobs: claims with its holder and ttl, and waits for more.
#pragma once

#include <memory>
#include <stop_token>
#include <string>
#include <vector>

#include "lease/housekeeper.h"
#include "leasehold/job.h"
#include "leasehold/result.h"
#include "leasehold/store.h"

namespace leasehold::worker {

// For one thread only, except `jobs`.
class JobsSource {
 public:
  JobsSource(const Store& store, Listening listening, Holder holder, Duration ttl,
             std::optional<Duration> timeout = {});

  /// From any thread.
  const Jobs jobs;

  Result<SharedLease> open_lease() { return jobs.open_lease(ttl_, {.holder = holder_}, listening_); }

  /// Tries once. A solo job gets its own lease; all others are attached to `lease`.
  Result<JobGrant> claim(const std::string& queue, int max, const SharedLease& lease);

  /// Sleeps until there may be a job that is new since the last call returned, until `until`, or until `stop`.
  void wait_for_work(BootTime until, const std::stop_token& stop);

 private:
  const Listening listening_;
  const Holder holder_;
  const Duration ttl_;
  const std::optional<Duration> timeout_;
  JobWatch watch_;
  const std::shared_ptr<lease::Housekeeper> housekeeper_;
  /// Grows while wake-ups bring nothing.
  Duration damping_{0};
};

}  // namespace leasehold::worker
