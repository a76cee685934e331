// How `work`, `chunk run`, `elect` and `schedule daemon` stop, step by step.
//
//   first signal    claims nothing more; running commands have `grace` to finish
//   then            they get SIGTERM, and SIGKILL if that is not enough
//   second signal   the same without further waiting
#pragma once

#include <optional>
#include <stop_token>
#include <string>

#include "cli/signals.h"
#include "leasehold/result.h"
#include "leasehold/time.h"

namespace leasehold::cli {

/// The default grace of their commands.
constexpr Duration default_grace = std::chrono::seconds(10);
/// The grace of the runtime: CommandStops ends the commands, and their work is released when they are gone.
constexpr Duration without_end = std::chrono::years(1);

struct CommandStops {
  std::stop_source claiming;
  std::stop_source commands;  ///< SIGTERM, and after a while SIGKILL
  std::stop_source at_once;   ///< almost no time between the two
};

/// Handles the signals that stop this process: see StopSignals.
class SteppedStop {
 public:
  SteppedStop(CommandStops& stops, Duration grace);

  /// The first signal received; 0 if none.
  [[nodiscard]] int signal() const { return signals_.first(); }

 private:
  void begin();

  CommandStops& stops_;
  const Duration grace_;
  // Its thread uses the members above.
  StopSignals signals_;
};

// The messages of `lock run`, `session run`, `schedule run`, `elect` and the runners of many commands about an end that
// was not simply the command's own: the same words for every kind of lease.
inline constexpr const char* guardian_died_text = "the guardian of the command was killed; killed all it had started";

/// "cannot run "./deploy": Permission denied"
std::string not_started_text(const std::string& program, int error);

/// The lease of a command, in words for messages.
struct HeldText {
  std::string what;    ///< "the lease on deploy", "leadership"
  std::string expiry;  ///< what happens if it is not released: "frees itself", "goes stale"

  /// The command was ended early; the error, if any, is the store's.
  void report_forced_end(const std::optional<Error>& lost) const;
  /// The command ended by itself, and only then it turned out that the lease had been lost for a while.
  void report_late_loss() const;
  /// The command has ended, and the store has no record of it.
  void report_unreported_end(const Error& why, Timestamp expires_at) const;
  /// For Ending::Kind::survived: reports it, and exits without releasing anything.
  [[noreturn]] void leave_to_expiry(Timestamp expires_at) const;
};

}  // namespace leasehold::cli
