// What `lock run`, `session run`, `schedule run`, `elect` and those who run many commands say of an end that was not
// simply the command's own: the same words, whatever it was held under.
#pragma once

#include <optional>
#include <string>

#include "leasehold/result.h"
#include "leasehold/time.h"

namespace leasehold::cli {

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
