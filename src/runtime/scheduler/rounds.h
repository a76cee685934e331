// Wakes a scheduler when a schedule may be due: one was set, triggered or resumed, or a run has ended.
#pragma once

#include <memory>
#include <optional>
#include <set>
#include <stop_token>
#include <string>

#include "lease/patience.h"
#include "leasehold/scheduler.h"
#include "runtime/scheduler/crew.h"
#include "runtime/scheduler/task.h"
#include "runtime/shared.h"
#include "storage/backend.h"

namespace leasehold::scheduler {

/// For one thread only, except wake().
class News {
 public:
  /// A scheduler looks at least this often: at dead processes of this host, and at a wall clock that was set. The store
  /// may forget a listener after a longer silence.
  static constexpr Duration longest_wait = std::chrono::seconds(5);

  News(storage::Backend& backend, lease::Awaited& awaited, Duration call_timeout);

  /// Call it before looking: later changes end the next wait.
  void listen();
  void wait(BootTime until);
  /// The last look found something: react to the next wake-up at once.
  void were_good() { damping_.after_silence(); }
  /// Ends the current wait, or else the next one. From any thread.
  void wake() { watch_->wake(); }

 private:
  storage::Backend& backend_;
  lease::Awaited& awaited_;
  const Duration call_timeout_;
  const std::string topic_ = "schedules";
  const std::unique_ptr<storage::ChangeWatch> watch_;
  lease::Damping damping_;
};

// Goes through all due schedules once: fires those that enqueue jobs, and gives the crew the runs it has room for.
//
// For one thread only, the one that runs the scheduler.
class Rounds {
 public:
  struct Surroundings {
    const Schedules& schedules;
    const Duties& duties;
    const SchedulerOptions& options;
    const Holder& holder;
    Crew& crew;
    SetAside& aside;
    worker::Tally<ScheduleSummary>& tally;
    const worker::Report& report;
  };

  struct Round {
    bool took_some = false;
    bool left_some = false;  ///< due and ours, but there was no room
    BootTime look_again_at = BootTime::max();
  };

  explicit Rounds(const Surroundings& around) : around_(around) {}

  /// A temporary error: the store is away. Any other: another round would not help.
  Result<Round> go(const std::stop_token& stop);

 private:
  Result<void> note_beginning();
  [[nodiscard]] bool has_had_its_turn(const DueSchedule& due) const;
  Result<void> tend(const DueSchedule& due, Round& round, const std::stop_token& stop);
  Result<void> fire(const std::string& name);
  Result<void> start(const std::string& name, const std::stop_token& stop);
  Result<HeldRun> hold(const std::string& name, const std::stop_token& stop);
  Result<void> leave(const std::string& name, Error why);

  Surroundings around_;
  /// For `once`, which runs what is due now and nothing more: the store's time at the beginning, and the schedules
  /// taken since.
  std::optional<Timestamp> began_at_;
  std::set<std::string> taken_;
};

}  // namespace leasehold::scheduler
