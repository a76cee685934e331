// Runs commands under leases, for `work` and `chunk run`: each from start to end, on the thread that calls it. In any
// case nothing of a command is left when its lease ends.
#pragma once

#include <atomic>
#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "cli/run/command_stops.h"
#include "cli/run/command_streams.h"
#include "leasehold/lease.h"
#include "run/ending.h"
#include "run/warden.h"

namespace leasehold::cli {

/// "Not now" (EX_TEMPFAIL): the command is retried later.
inline constexpr int retry_later_code = 75;
inline constexpr Duration retry_later_delay = std::chrono::seconds(5);

/// "A retry is pointless" (EX_DATAERR): the failure is final.
inline constexpr int never_code = 65;

struct CommandSettings {
  std::string program;  ///< for messages
  Duration ttl{};
  Duration grace{};  ///< between SIGTERM and SIGKILL
};

/// The work of a command, and its lease.
struct CommandWork {
  std::string name;                       ///< for messages: "job 17"
  std::vector<std::string> command = {};  ///< a command of its own; empty: the warden's, the same for all
  std::vector<std::string> environment;
  std::stop_token stop;
  std::function<BootTime()> trusted_until;
  std::optional<Duration> timeout = {};  ///< the command is stopped after this: Ending::timed_out
  /// The moment of the stop, instead of the timeout from now. The grace must be over by the limit of the attempt.
  std::optional<BootTime> stop_at = {};
  std::optional<Duration> grace = {};  ///< instead of the settings'
};

class CommandRunner {
 public:
  CommandRunner(CommandSettings settings, const run::Warden& warden, CommandStops& stops)
      : settings_(std::move(settings)), warden_(warden), stops_(stops) {}

  /// How it ended: `exited`, `lease_lost` (or stopped) or `guardian_died`; `start_failed` only for a command of its
  /// own, or if out_of_resources(): then the work must be released and retried later. Nothing: no command can be run at
  /// all, and the work must be released.
  std::optional<run::Ending> run(const CommandWork& work, CommandStreams& streams);

  /// Not zero: no command can be run at all; the exit code.
  [[nodiscard]] int fatal_code() const { return fatal_code_; }

  /// Reports, once until a command has started again, that processes, threads or descriptors have run out.
  void report_shortage(const std::string& name, std::string_view why);

 private:
  void give_up(int code, const std::string& why);

  const CommandSettings settings_;
  const run::Warden& warden_;
  CommandStops& stops_;
  std::atomic<int> fatal_code_ = 0;
  std::atomic<bool> shortage_reported_ = false;
};

/// By the wall clock, for LEASEHOLD_EXPIRES_AT.
Timestamp expires_at(BootTime trusted_until);

/// With -v, one line for each: "leasehold: job 17 of mail: attempt 2 failed after 1.2s: exit code 3".
struct Outcome {
  std::string what;  ///< "job 17 of mail"
  int attempt = 1;
  std::string came_to;  ///< "failed"
  Duration took{};
  std::string_view error;  ///< its first line is shown
};
void log_outcome(const Outcome& outcome);

/// "timed out after 10m"
std::string timed_out_text(Duration timeout);

/// "exit code 3", "killed by SIGSEGV", "cannot be started: Permission denied".
std::string describe_exit(const run::Ending& ending);
/// How it ended, and the end of its stderr.
std::string failure_text(const run::Ending& ending, std::string_view last_words);

}  // namespace leasehold::cli
