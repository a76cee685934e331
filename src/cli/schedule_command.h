// Commands that schedules run: what they are told, and for `schedule daemon` one of them from start to verdict.
#pragma once

#include <atomic>
#include <string>
#include <vector>

#include "cli/command_runner.h"
#include "cli/command_stops.h"
#include "leasehold/scheduler.h"
#include "run/warden.h"

namespace leasehold::cli {

/// LEASEHOLD_SCHEDULE, _OCCURRENCE, _CAUSE, _TOKEN, _EXPIRES_AT and _DB.
std::vector<std::string> schedule_environment(const ScheduleRun& run, const std::string& url);

/// Runs commands of schedules, each on the thread that calls it.
class ScheduleCommand {
 public:
  struct Settings {
    std::string url;   ///< of the store, for LEASEHOLD_DB
    Duration grace{};  ///< between SIGTERM and SIGKILL, where the lease is long enough for it
  };
  ScheduleCommand(Settings settings, const run::Warden& warden, CommandStops& stops)
      : settings_(std::move(settings)), warden_(warden), stops_(stops) {}

  /// The command's exit code decides; see the help of `schedule daemon`.
  RunVerdict run(const ScheduleRun& run, const std::vector<std::string>& command, RunContext& context);

  /// Not zero: no command can be run at all, and what to exit with.
  [[nodiscard]] int fatal_code() const { return fatal_code_; }

 private:
  const Settings settings_;
  const run::Warden& warden_;
  CommandStops& stops_;
  std::atomic<int> fatal_code_ = 0;
};

}  // namespace leasehold::cli
