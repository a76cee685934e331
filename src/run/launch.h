// Starts the command: no shell, a process group of its own, and the errno of a failed exec.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "run/signals.h"

namespace leasehold::run {

/// The command's descriptors 0 to 3. An empty one inherits that of this process.
struct Streams {
  UniqueFd in{};
  UniqueFd out{};
  UniqueFd err{};
  UniqueFd progress{};
};

struct Launch {
  std::vector<std::string> argv;
  Streams streams;
  std::vector<std::string> environment;  ///< NAME=VALUE, added to that of this process
  bool foreground = false;               ///< give it the terminal
};

struct Launched {
  pid_t pid = -1;  ///< -1: could not fork, see `error`
  int error = 0;
  /// Closes without a byte once the command runs; otherwise carries the errno of exec.
  UniqueFd exec_report;
};

/// The command dies with the calling thread, even if that is killed.
Launched launch(const Launch& what, const DeafToSignals& signals);

}  // namespace leasehold::run
