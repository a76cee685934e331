// The jobs of a store.
#pragma once

#include <string>
#include <vector>

#include "leasehold/store.h"
#include "worker/source.h"

namespace leasehold::worker {

class JobsSource final : public WorkSource {
 public:
  JobsSource(const Store& store, const std::vector<std::string>& queues, Holder holder, Duration ttl);

  Result<WorkLease> open_lease() override;
  Result<Jobs::Extended> extend(const WorkLease& lease) override;
  Result<void> close(const WorkLease& lease) override;

  Result<JobGrant> claim(const std::string& queue, int most, const WorkLease& lease) override;
  Result<JobHeartbeat> heartbeat(JobId id, Token token, const Progress& progress) override;

  Result<std::vector<Result<Settled>>> complete(std::span<const JobVerdict> jobs) override;
  Result<std::vector<Result<Settled>>> release(std::span<const JobVerdict> jobs) override;
  Result<Settled> fail(JobId id, Token token, const FailOptions& options) override;
  Result<Settled> snooze(JobId id, Token token, Duration delay) override;

  void wait_for_work(BootTime until, const std::stop_token& stop) override;

 private:
  const Jobs jobs_;
  const Holder holder_;
  const Duration ttl_;
  JobWatch watch_;
  /// Grows while wake-ups bring nothing.
  Duration damping_{0};
};

}  // namespace leasehold::worker
