// What a system call that failed is told as.
#pragma once

#include <fmt/format.h>
#include <cerrno>
#include <cstring>
#include <optional>

#include "leasehold/result.h"
#include "run/message.h"

namespace leasehold::run {

/// The machine or its limits have no process, thread, descriptor or memory left just now. Whatever was to be done has
/// not begun, and may work in a moment.
inline bool is_shortage(int error) {
  return error == EAGAIN || error == ENOMEM || error == EMFILE || error == ENFILE || error == ENOBUFS ||
         error == ETOOMANYREFS;
}

/// Right after the call: why it failed stands in errno. `unavailable`: a shortage.
inline Error cannot(const char* what) {
  return {.code = is_shortage(errno) ? Errc::unavailable : Errc::internal,
          .message = fmt::format("cannot {}: {}", what, std::strerror(errno))};
}

// How a command ended, as its wrapper hears it from the guardian.
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

  /// Nothing was started, for want of processes, descriptors or memory: again in a moment.
  [[nodiscard]] bool out_of_resources() const;
};

/// Nothing: the message tells of no end.
std::optional<Ending> ending_in(const Message& message);

/// What the wrapper says when it hears `left_behind`.
std::string describe_left_behind(const Message& message);

}  // namespace leasehold::run
