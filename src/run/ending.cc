#include "run/ending.h"

#include <fmt/format.h>
#include <sys/wait.h>
#include <cerrno>

namespace leasehold::run {
namespace {

Ending exit_with_status(int status) {
  if (!WIFSIGNALED(status)) return {.kind = Ending::Kind::exited, .exit_code = WEXITSTATUS(status)};
  return {.kind = Ending::Kind::exited, .exit_code = 128 + WTERMSIG(status), .signal = WTERMSIG(status)};
}

}  // namespace

bool Ending::out_of_resources() const { return kind == Kind::start_failed && is_shortage(error); }

std::optional<Ending> ending_in(const Message& message) {
  const int number = static_cast<int>(message.number);
  if (message.kind == Message::Kind::start_failed) {
    return Ending{.kind = Ending::Kind::start_failed, .exit_code = number == ENOENT ? 127 : 126, .error = number};
  }
  if (message.kind == Message::Kind::guardian_died) return Ending{.kind = Ending::Kind::guardian_died};
  if (message.kind != Message::Kind::ended) return std::nullopt;
  if (message.reason != EndReason::exited) return Ending{.kind = Ending::Kind::lease_lost};
  return exit_with_status(number);
}

std::string describe_left_behind(const Message& message) {
  const bool one = message.number == 1;
  return fmt::format("the command left {} process{} behind: killing {} before releasing the lease", message.number,
                     one ? "" : "es", one ? "it" : "them");
}

}  // namespace leasehold::run
