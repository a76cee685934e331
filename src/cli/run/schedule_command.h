// Commands of schedules: their environment, and for `schedule daemon` one of them from start to verdict.
#pragma once

#include <atomic>
#include <optional>
#include <string>
#include <vector>

#include "cli/run/command_runner.h"
#include "cli/run/command_stops.h"
#include "leasehold/result.h"
#include "leasehold/scheduler.h"
#include "run/signals.h"
#include "run/warden.h"

namespace leasehold::cli {

/// The wrapper's variables, LEASEHOLD_OCCURRENCE and LEASEHOLD_CAUSE.
std::vector<std::string> schedule_environment(const ScheduleRun& run, const std::string& url);

/// Runs commands of schedules, each on the thread that calls it.
class ScheduleCommand {
 public:
  struct Settings {
    std::string url;   ///< of the store, for LEASEHOLD_DB
    Duration grace{};  ///< between SIGTERM and SIGKILL, if the lease is long enough for it
  };
  ScheduleCommand(Settings settings, const run::Warden& warden, CommandStops& stops)
      : settings_(std::move(settings)), warden_(warden), stops_(stops) {}

  /// The command's exit code decides; see the help of `schedule daemon`.
  RunVerdict run(const ScheduleRun& run, const std::vector<std::string>& command, RunContext& context);

  /// Not zero: no command can be run at all; the exit code.
  [[nodiscard]] int fatal_code() const { return fatal_code_; }

 private:
  static RunVerdict not_now(const ScheduleRun& run, std::string_view why, const RunContext& context);

  const Settings settings_;
  const run::Warden& warden_;
  CommandStops& stops_;
  std::atomic<int> fatal_code_ = 0;
};

// The file in which a command under a schedule may report its counts: LEASEHOLD_COUNTS_FILE.
//
//   auto counts = CountsFile::open();
//   ... run the command with counts->variable() in its environment ...
//   counts->read()          // "{"rows":120}", or nothing
//
// The file has no name in any folder: it disappears with this process, however that ends.

/// Belongs to one thread.
class CountsFile {
 public:
  static Result<CountsFile> open();

  /// "LEASEHOLD_COUNTS_FILE=/proc/12/fd/7"
  [[nodiscard]] std::string variable() const;
  /// What was written; empty if nothing. Text that is not JSON, or too long, is an error.
  [[nodiscard]] Result<std::string> read() const;

 private:
  explicit CountsFile(run::UniqueFd file) : file_(std::move(file)) {}

  run::UniqueFd file_;
};

/// The same for a finished run: reports counts that cannot be kept, with the name of the run in front, and omits them.
std::string counts_reported(const CountsFile& file, const std::string& name);

}  // namespace leasehold::cli
