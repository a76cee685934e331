// One job of `leasehold work`: its command from start to verdict.
#pragma once

#include <string>

#include "cli/command_runner.h"
#include "cli/command_streams.h"
#include "leasehold/worker.h"
#include "run/ending.h"

namespace leasehold::cli {

/// Runs the jobs' commands, each on the thread that calls it.
class JobCommand {
 public:
  /// `url` is that of the store, for LEASEHOLD_DB.
  JobCommand(CommandRunner& runner, std::string url, bool keep_output)
      : runner_(runner), url_(std::move(url)), keep_output_(keep_output) {}

  /// The command's exit code decides; see the help of `work`.
  Verdict run(const Job& job, JobContext& context);

 private:
  [[nodiscard]] CommandWork work_for(const Job& job, const JobContext& context) const;

  CommandRunner& runner_;
  const std::string url_;
  const bool keep_output_;  ///< stdout is the job's result
};

}  // namespace leasehold::cli
