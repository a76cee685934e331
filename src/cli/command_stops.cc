#include "cli/command_stops.h"

#include "cli/print.h"
#include "core/duration.h"

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
  say("leasehold: stopping: running commands get {} to finish; a second signal ends them at once",
      format_duration(grace_));
}

}  // namespace leasehold::cli
