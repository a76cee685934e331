// One command under a guardian, from the wrapper's side. A wrapper may run many, each on a thread of its own.
//
//   auto command = GuardedCommand::start(warden, std::move(streams), {.environment = {"LEASEHOLD_JOB_ID=17"},
//                                                                     .trusted_until = until, .grace = 5s});
//   ... poll command.fd(); on each heartbeat command.extend(trusted_until); command.stop(5s) to end it ...
//   if (auto ending = command.take_messages()) ...      // nothing the command started lives any more
//
// Belongs to one thread.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "leasehold/result.h"
#include "leasehold/time.h"
#include "run/ending.h"
#include "run/warden.h"

namespace leasehold::run {

class GuardedCommand {
 public:
  struct Terms {
    std::vector<std::string> environment;  ///< NAME=VALUE
    BootTime trusted_until;
    Duration grace;                         ///< between SIGTERM and SIGKILL
    std::vector<std::string> command = {};  ///< instead of the warden's command
  };
  /// On error nothing was started. `invalid_argument`: the command is too long.
  static Result<GuardedCommand> start(const Warden& warden, Streams streams, const Terms& terms);

  /// Wraps a guardian that has no instructions yet.
  GuardedCommand(const Warden& warden, Channel channel) : warden_(&warden), channel_(std::move(channel)) {}

  /// Readable if take_messages() has something to read.
  [[nodiscard]] int fd() const { return channel_.fd(); }
  /// How the command ended, once it has.
  std::optional<Ending> take_messages();

  /// False: the warden has not handled the request yet, or exec is in progress.
  [[nodiscard]] bool started() const { return started_; }
  /// In case the warden was stopped.
  void wake_warden() const { continue_if_stopped(warden_->process()); }

  void extend(BootTime trusted_until) const;
  /// SIGTERM now, SIGKILL after `patience` at the latest. May be called again with less patience.
  void stop(Duration patience) const;

  /// Reports how many processes the command left behind, which were ended; empty if none.
  [[nodiscard]] const std::string& remark() const { return remark_; }

 private:
  const Warden* warden_;
  Channel channel_;
  std::string remark_;
  bool started_ = false;
};

}  // namespace leasehold::run
