// How `work`, `chunk run`, `elect` and `schedule daemon` come to their end, step by step.
//
//   first signal    claims nothing more; running commands may finish for `grace`
//   then            they get SIGTERM, and SIGKILL if that is not enough
//   second signal   the same without waiting any longer
#pragma once

#include <stop_token>

#include "cli/stop_signals.h"
#include "leasehold/time.h"

namespace leasehold::cli {

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

}  // namespace leasehold::cli
