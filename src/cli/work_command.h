// One job of `leasehold work`: its command from start to verdict.
#pragma once

#include <atomic>
#include <string>

#include "cli/work_stops.h"
#include "cli/work_streams.h"
#include "leasehold/worker.h"
#include "run/ending.h"
#include "run/warden.h"

namespace leasehold::cli {

struct WorkSettings {
  std::string program;  ///< for messages
  std::string url;      ///< of the store, for LEASEHOLD_DB
  Duration ttl{};
  Duration grace{};          ///< between SIGTERM and SIGKILL; at most a third of the ttl
  bool keep_output = false;  ///< stdout is the job's result
};

/// Runs the jobs' commands, each on the thread that calls it.
class CommandHandler {
 public:
  CommandHandler(WorkSettings settings, const run::Warden& warden, WorkStops& stops);

  /// The command's exit code decides; see the help of `work`.
  Verdict run(const Job& job, JobContext& context);

  /// Not zero: no command can be run at all, and what to exit with. The jobs were given back.
  [[nodiscard]] int fatal_code() const { return fatal_code_; }

 private:
  class Attempt;
  Verdict verdict_on(const Job& job, const run::Ending& ending, const WorkStreams& streams);
  Verdict give_up(int code, const std::string& why);

  const WorkSettings settings_;
  const run::Warden& warden_;
  WorkStops& stops_;
  std::atomic<int> fatal_code_ = 0;
};

}  // namespace leasehold::cli
