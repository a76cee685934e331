// How `work`, `chunk run`, `elect` and `schedule daemon` come to their end, step by step.
//
//   first signal    claims nothing more; running commands may finish for `grace`
//   then            they get SIGTERM, and SIGKILL if that is not enough
//   second signal   the same without waiting any longer
#pragma once

#include <optional>
#include <stop_token>
#include <string>

#include "cli/signals.h"
#include "leasehold/result.h"
#include "leasehold/time.h"

namespace leasehold::cli {

/// What their commands get unless --grace says otherwise.
constexpr Duration usual_grace = std::chrono::seconds(10);
/// The grace that the runtime gets: commands are ended by CommandStops, and what they worked on is given back when they
/// are gone.
constexpr Duration without_end = std::chrono::years(1);

struct CommandStops {
  std::stop_source claiming;
  std::stop_source commands;  ///< SIGTERM, and after a while SIGKILL
  std::stop_source at_once;   ///< hardly any time between the two
};

/// Takes the signals that stop this process: see StopSignals.
class SteppedStop {
 public:
  SteppedStop(CommandStops& stops, Duration grace);

  /// The first signal that came; 0: none.
  [[nodiscard]] int signal() const { return signals_.first(); }

 private:
  void begin();

  CommandStops& stops_;
  const Duration grace_;
  // Its thread uses what stands above.
  StopSignals signals_;
};

// What `lock run`, `session run`, `schedule run`, `elect` and those who run many commands say of an end that was not
// simply the command's own: the same words, whatever it was held under.
inline constexpr const char* guardian_died_text =
    "the guardian of the command was killed; ended everything it had started";

/// "cannot run "./deploy": Permission denied"
std::string not_started_text(const std::string& program, int error);

/// What a command runs under, and what to say of it.
struct HeldText {
  std::string what;    ///< "the lease on deploy", "leadership"
  std::string expiry;  ///< what it does where nobody ends it: "frees itself", "goes stale"

  /// The command was ended before its time; the error tells whether the store said so.
  void tell_forced_end(const std::optional<Error>& lost) const;
  /// The command has ended by itself, and only then it turned out that it had been on its own for a while.
  void tell_late_loss() const;
  /// The command has ended, and the store does not know.
  void tell_untold_end(const Error& why, Timestamp expires_at) const;
  /// For Ending::Kind::survived: says so, and exits without giving anything up.
  [[noreturn]] void leave_to_expiry(Timestamp expires_at) const;
};

}  // namespace leasehold::cli
