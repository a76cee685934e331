// Errors for failed system calls.
#pragma once

#include <fmt/format.h>
#include <cerrno>
#include <cstring>
#include <optional>

#include "leasehold/result.h"
#include "run/message.h"

namespace leasehold::run {

/// The machine or its limits have no process, thread, descriptor or memory left just now. The operation has not begun,
/// and may work in a moment.
inline bool is_shortage(int error) {
  return error == EAGAIN || error == ENOMEM || error == EMFILE || error == ENFILE || error == ENOBUFS ||
         error == ETOOMANYREFS;
}

/// Call it right after the failure: it reads errno. `unavailable`: a shortage.
inline Error cannot(const char* what) {
  return {.code = is_shortage(errno) ? Errc::unavailable : Errc::internal,
          .message = fmt::format("cannot {}: {}", what, std::strerror(errno))};
}

// How a command ended, as the guardian reports it to the wrapper.
struct Ending {
  enum class Kind {
    exited,         ///< by itself; `exit_code` is to be passed on
    start_failed,   ///< `exit_code` 126 or 127, `error` an errno
    lease_lost,     ///< the tree was ended: the lease was, or may have been, lost, or the wrapper requested it
    guardian_died,  ///< the guardian was killed; the tree was ended
    survived,       ///< something could not be killed in time: the lease must not be released
  };
  Kind kind = Kind::exited;
  int exit_code = 0;  ///< 128 + `signal` if a signal killed the command
  int signal = 0;
  int error = 0;
  bool timed_out = false;  ///< the wrapper ended it after its time limit; `kind` is lease_lost or exited

  /// Nothing was started, for lack of processes, descriptors or memory: retry in a moment.
  [[nodiscard]] bool out_of_resources() const;
};

/// Nothing if the message does not report an end.
std::optional<Ending> ending_in(const Message& message);

/// The wrapper's message for `left_behind`.
std::string describe_left_behind(const Message& message);

}  // namespace leasehold::run
