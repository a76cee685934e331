// Claims jobs and puts them on the bench, as many as there is room for. The queues take turns.
//
// For one thread only, the one that runs the worker.
#pragma once

#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "runtime/shared.h"
#include "runtime/worker/lease_keeper.h"
#include "runtime/worker/settler.h"
#include "runtime/worker/source.h"
#include "runtime/worker/workbench.h"

namespace leasehold::worker {

class Fetcher {
 public:
  /// The bench is shared with the leases: their alarms may ring until the end.
  struct Surroundings {
    JobsSource& source;
    const std::shared_ptr<Workbench>& bench;
    Beater& beater;
    Settler& settler;
    Tally<WorkSummary>& tally;
    const Report& report;
  };

  Fetcher(const Surroundings& around, std::vector<std::string> queues, WorkUntil until);

  /// Runs until the bench is stopped, there is nothing left to wait for, or a retry would not help.
  Result<void> run(const std::stop_token& stop);
  /// Why the queue that was tried last had no job.
  [[nodiscard]] const std::optional<Error>& refusal() const { return refusal_; }
  /// Gives back everything that the leases still hold. For after the last verdict was written.
  void close_leases();

 private:
  struct Queue {
    std::string name;
    BootTime not_before{};     ///< it was empty a moment ago: skipped while other queues have jobs
    BootTime patience_ends{};  ///< it is tried again then, whatever happens
    bool was_empty = false;    ///< at the last claim
  };
  struct OpenLease {
    SharedLease work;
    std::shared_ptr<LiveLease> live;
  };
  /// The result of a round over the queues; of several answers, the first in this order counts.
  enum class Round {
    got_some,
    left_some_out,  ///< some queues were skipped
    got_the_rest,   ///< the latest jobs, and there seem to be no more
    got_nothing,    ///< there may be jobs, but not for this worker right now
    nothing_there,
    failed,
  };

  Round go_round(int room);
  Round lay_down(Queue& queue, JobGrant grant, int asked, BootTime asked_at);
  void watch_limit(const AttemptPtr& attempt);
  Round refused(Queue& queue, Error why);
  Round claim_failed(const Error& why);
  bool open_lease();
  void retire_lease();
  void close_retired();
  void return_stale();
  void rest(Round round, const Workbench::Progress& before, const std::stop_token& stop);
  [[nodiscard]] bool is_done(Round round, const Workbench::Progress& before) const;
  [[nodiscard]] BootTime next_chore() const;
  std::shared_ptr<LiveLease> keep_alone(const JobGrant& grant);
  std::shared_ptr<LiveLease> keep(std::int64_t lease_id, Duration ttl, BootTime trusted_until,
                                  LiveLease::Extend extend);

  Surroundings around_;
  std::vector<Queue> queues_;
  const WorkUntil until_;
  std::size_t turn_ = 0;
  std::optional<OpenLease> lease_;
  std::vector<OpenLease> retired_;
  GrowingPause pause_;
  std::optional<Error> refusal_;
  std::optional<Error> fatal_;
};

}  // namespace leasehold::worker
