#include "cli/run/command_stops.h"

#include <fmt/format.h>
#include <unistd.h>
#include <cstring>

#include "base/text.h"
#include "base/time_text.h"
#include "cli/context.h"
#include "cli/print/print.h"

namespace leasehold::cli {

SteppedStop::SteppedStop(CommandStops& stops, Duration grace)
    : stops_(stops),
      grace_(grace),
      signals_({.on_first = [this] { begin(); },
                .on_another = [this] { stops_.at_once.request_stop(); },
                .on_alarm = [this] { stops_.commands.request_stop(); }}) {}

void SteppedStop::begin() {
  signals_.set_alarm(BootClock::now() + grace_);
  stops_.claiming.request_stop();
  if (grace_ == Duration(0)) return say("leasehold: stopping");
  say("leasehold: stopping: running commands have {} to finish; a second signal kills them at once",
      format_duration(grace_));
}

std::string not_started_text(const std::string& program, int error) {
  return fmt::format("cannot run {}: {}", leasehold::quoted(program), std::strerror(error));
}

void HeldText::report_forced_end(const std::optional<Error>& lost) const {
  say("leasehold: killed the command, because {} {}", what, lost ? "was lost" : "could not be extended in time");
}

void HeldText::report_late_loss() const {
  say("leasehold: {} was lost before the command ended: another holder may have run meanwhile", what);
}

void HeldText::report_unreported_end(const Error& why, Timestamp expires_at) const {
  say("leasehold: the command ended, but the store could not be updated ({}): {} {} at {}", printable(why.message),
      what, expiry, to_string(expires_at));
}

void HeldText::leave_to_expiry(Timestamp expires_at) const {
  say("leasehold: cannot kill a process that the command started (another user's, or one that hangs in the kernel): {} "
      "is "
      "not released, and {} at {}",
      what, expiry, to_string(expires_at));
  // Without destructors: they would release it.
  ::_exit(exit_code::lost);
}

}  // namespace leasehold::cli
