#include "cli/grace.h"

#include "cli/command.h"
#include "cli/print.h"
#include "core/duration.h"

namespace leasehold::cli {

Duration Grace::fitting(Duration ttl) const {
  const auto fits = fitting_grace(asked_for, ttl);
  if (fits < asked_for && option->count() > 0) {
    say("leasehold: a grace of {} does not fit a lease of {}: shortened to {}", format_duration(asked_for),
        format_duration(ttl), format_duration(fits));
  }
  return fits;
}

void add_grace(CLI::App& command, Grace& grace, const std::string& bound) {
  grace.option =
      add_duration(command, "--grace", grace.asked_for,
                   "Between SIGTERM and SIGKILL, when the command has to be ended (default 5s; " + bound + ")");
}

}  // namespace leasehold::cli
