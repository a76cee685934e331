// Goes round all that is due, once: fires what puts jobs into queues, and gives the crew what it has room for.
//
// Belongs to one thread, the one that runs the scheduler.
#pragma once

#include <optional>
#include <set>
#include <stop_token>
#include <string>

#include "leasehold/scheduler.h"
#include "scheduler/crew.h"
#include "scheduler/duties.h"
#include "scheduler/set_aside.h"
#include "scheduler/tally.h"
#include "worker/trouble.h"

namespace leasehold::scheduler {

class Rounds {
 public:
  struct Surroundings {
    const Schedules& schedules;
    const Duties& duties;
    const SchedulerOptions& options;
    const Holder& holder;
    Crew& crew;
    SetAside& aside;
    Tally& tally;
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
