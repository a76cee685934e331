// Runs commands under leases, for `work` and `chunk run`: each from start to end, on the thread that calls it. Whatever
// happens, nothing of a command is left when its lease ends.
#pragma once

#include <atomic>
#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "cli/command_stops.h"
#include "cli/command_streams.h"
#include "leasehold/lease.h"
#include "run/ending.h"
#include "run/warden.h"

namespace leasehold::cli {

/// A command that says "not now" (EX_TEMPFAIL) is asked again after this.
inline constexpr int retry_later_code = 75;
inline constexpr Duration retry_later_delay = std::chrono::seconds(5);

struct CommandSettings {
  std::string program;  ///< for messages
  Duration ttl{};
  Duration grace{};  ///< between SIGTERM and SIGKILL
};

/// What a command works on, and the lease that is held for it.
struct CommandWork {
  std::string name;                       ///< for messages: "job 17"
  std::vector<std::string> command = {};  ///< of its own; empty: the warden's, which is the same for all
  std::vector<std::string> environment;
  std::stop_token stop;
  std::function<BootTime()> trusted_until;
};

class CommandRunner {
 public:
  CommandRunner(CommandSettings settings, const run::Warden& warden, CommandStops& stops)
      : settings_(std::move(settings)), warden_(warden), stops_(stops) {}

  /// How it ended: `exited`, `lease_lost` (told to stop, too) or `guardian_died`; `start_failed` only of a command of
  /// its own. Nothing: no command can be run at all, and what was to be done goes back.
  std::optional<run::Ending> run(const CommandWork& work, CommandStreams& streams);

  /// Not zero: no command can be run at all, and what to exit with.
  [[nodiscard]] int fatal_code() const { return fatal_code_; }

 private:
  void give_up(int code, const std::string& why);

  const CommandSettings settings_;
  const run::Warden& warden_;
  CommandStops& stops_;
  std::atomic<int> fatal_code_ = 0;
};

/// LEASEHOLD_TOKEN, _ATTEMPT, _EXPIRES_AT and _DB.
std::vector<std::string> lease_environment(Token token, int attempt, BootTime trusted_until, const std::string& url);

/// "exit code 3", "killed by SIGSEGV", "cannot be started: Permission denied".
std::string describe_exit(const run::Ending& ending);
/// The way it ended, and the last that it said.
std::string failure_text(const run::Ending& ending, std::string_view last_words);

}  // namespace leasehold::cli
