// One job of `leasehold work`: its command from start to verdict.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "cli/run/command_runner.h"
#include "cli/run/command_streams.h"
#include "leasehold/worker.h"
#include "run/ending.h"

namespace leasehold::cli {

/// Runs the jobs' commands, each on the thread that calls it.
class JobCommand {
 public:
  struct Settings {
    std::string url;           ///< of the store, for LEASEHOLD_DB
    Duration grace{};          ///< between SIGTERM and SIGKILL
    bool keep_output = false;  ///< stdout is the job's result
    bool verbose = false;      ///< a line on stderr for each outcome
  };

  JobCommand(CommandRunner& runner, Settings settings) : runner_(runner), settings_(std::move(settings)) {}

  /// The command's exit code decides; see the help of `work`.
  Verdict run(const Job& job, JobContext& context);

 private:
  Verdict run_command(const Job& job, JobContext& context);
  [[nodiscard]] CommandWork work_for(const Job& job, const JobContext& context) const;

  CommandRunner& runner_;
  const Settings settings_;
};

// Lines that a job's command writes to its descriptor 3.
//
//   50 copying tables
//   50%
//   {"percent": 50, "message": "copying tables", "stage": "copy"}
//   cursor {"row": 1700}          saves where the job is, for its next attempt
//   {"cursor": {"row": 1700}, "percent": 50}
//   anything else is the message
Progress parse_progress_line(std::string_view line);

struct JobLine {
  std::optional<Progress> progress{};
  std::optional<std::string> cursor{};
};
/// On error the line is malformed, and ignored.
Result<JobLine> hear_job_line(std::string_view line);

}  // namespace leasehold::cli
