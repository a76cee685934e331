// What a scheduler has been asked to do about schedules that are due.
#pragma once

#include <map>
#include <string>

#include "leasehold/scheduler.h"

namespace leasehold::scheduler {

enum class Duty {
  none,  ///< for others
  fire,  ///< put its job into its queue
  run,   ///< call a handler
};

struct Duties {
  std::map<std::string, RunHandler> handlers;  ///< by schedule
  CommandHandler commands;
  bool enqueue = true;

  [[nodiscard]] Duty of(const DueSchedule& due) const {
    if (due.enqueues) return enqueue ? Duty::fire : Duty::none;
    const bool ours = handlers.contains(due.name) || (due.has_command && commands);
    return ours ? Duty::run : Duty::none;
  }
  [[nodiscard]] bool run_anything() const { return !handlers.empty() || commands; }
};

}  // namespace leasehold::scheduler
