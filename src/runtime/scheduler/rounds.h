// Tells a scheduler that something may have become due: a schedule was defined, triggered, resumed, or a run has ended.
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

/// Belongs to one thread, but for wake().
class News {
 public:
  /// A scheduler looks so often at least: at the dead of this host, and at a wall clock that was set. And for longer
  /// than this the store may not remember that somebody listens.
  static constexpr Duration longest_wait = std::chrono::seconds(5);

  News(storage::Backend& backend, lease::Awaited& awaited, Duration call_timeout);

  /// Before looking: what happens after that ends the next wait.
  void listen();
  void wait(BootTime until);
  /// The last look has found something: the next wake-up is answered at once.
  void were_good() { damping_.after_silence(); }
  /// Ends the wait that is under way, or else the next one. From any thread.
  void wake() { watch_->wake(); }

 private:
  storage::Backend& backend_;
  lease::Awaited& awaited_;
  const Duration call_timeout_;
  const std::string topic_ = "schedules";
  const std::unique_ptr<storage::ChangeWatch> watch_;
  lease::Damping damping_;
};

// Goes round all that is due, once: fires what puts jobs into queues, and gives the crew what it has room for.
//
// Belongs to one thread, the one that runs the scheduler.
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
    const worker::Tell& tell;
  };

  struct Round {
    bool took_some = false;
    bool left_some = false;  ///< ours, and due, but there was no room
    BootTime look_again_at = BootTime::max();
  };

  explicit Rounds(const Surroundings& around) : around_(around) {}

  /// An error that passes: the store is away. Any other: going round again would not help.
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
  /// For those who go round what is due now and no further (`once`): the store's time when they began, and what they
  /// have taken.
  std::optional<Timestamp> began_at_;
  std::set<std::string> taken_;
};

}  // namespace leasehold::scheduler
