// How a command ended, as its wrapper hears it from the guardian.
#pragma once

#include <optional>

#include "run/message.h"

namespace leasehold::run {

struct Ending {
  enum class Kind {
    exited,         ///< by itself; `exit_code` is to be passed on
    start_failed,   ///< `exit_code` 126 or 127, `error` an errno
    lease_lost,     ///< the tree was ended because the lease was, or may have been, lost, or because somebody said so
    guardian_died,  ///< somebody killed it; the tree was ended
    survived,       ///< something could not be killed in time: the lease must not be given up
  };
  Kind kind = Kind::exited;
  int exit_code = 0;  ///< 128 + `signal` where one killed the command
  int signal = 0;
  int error = 0;
};

/// Nothing: the message tells of no end.
std::optional<Ending> ending_in(const Message& message);

/// What the wrapper says when it hears `left_behind`.
std::string describe_left_behind(const Message& message);

}  // namespace leasehold::run
