// A pollable timer on CLOCK_BOOTTIME: it keeps running during suspend, as leases do.
#pragma once

#include <sys/timerfd.h>
#include <algorithm>
#include <atomic>
#include <ctime>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "leasehold/result.h"
#include "leasehold/time.h"
#include "run/ending.h"
#include "run/message.h"
#include "run/process_tree.h"
#include "run/signals.h"

namespace leasehold::run {

class BootTimer {
 public:
  BootTimer() : fd_(::timerfd_create(CLOCK_BOOTTIME, TFD_CLOEXEC | TFD_NONBLOCK)) {}

  [[nodiscard]] int fd() const { return fd_.get(); }

  /// Readable from `when` on, immediately if that has passed; replaces the earlier moment.
  void arm(BootTime when) const {
    const auto since_boot = std::max(when.time_since_epoch(), Duration(1));
    const auto seconds = std::chrono::floor<std::chrono::seconds>(since_boot);
    itimerspec moment{};
    moment.it_value.tv_sec = static_cast<time_t>(seconds.count());
    moment.it_value.tv_nsec = static_cast<long>(std::chrono::nanoseconds(since_boot - seconds).count());
    ::timerfd_settime(fd_.get(), TFD_TIMER_ABSTIME, &moment, nullptr);
  }
  void disarm() const {
    const itimerspec never{};
    ::timerfd_settime(fd_.get(), 0, &never, nullptr);
  }

 private:
  UniqueFd fd_;
};

// Runs a command under a lease, from the wrapper's side: starts the guardian, passes signals and heartbeats on to it,
// and reports how it ended. All it knows of leases is `trusted_until`.
//
//   auto supervisor = Supervisor::fork_guardian({"make", "deploy"}, 5s, say);   // before any thread exists
//   ... acquire ...
//   supervisor.start({"LEASEHOLD_KEY=deploy"}, grant.trusted_until);
//   ... on each heartbeat: supervisor.extend(trusted_until); when the lease is lost: supervisor.stop() ...
//   auto ending = supervisor.wait();      // nothing the command started lives any more
//
// Threading: extend() and stop() from any thread; everything else from the one that forked.
class Supervisor {
 public:
  /// Receives messages for the user, a line at a time.
  using Warn = std::function<void(const std::string&)>;

  static Result<std::unique_ptr<Supervisor>> fork_guardian(const std::vector<std::string>& argv, Duration grace,
                                                           Warn warn);
  Supervisor(const Supervisor&) = delete;
  Supervisor& operator=(const Supervisor&) = delete;
  /// Without start(), the guardian just exits.
  ~Supervisor() = default;

  /// Call it before start(), if the length of the lease is known only then.
  void set_grace(Duration grace);
  /// The command is stopped when it has run for this long. Call it before start().
  void set_timeout(std::optional<Duration> timeout) { timeout_ = timeout; }
  /// From here on signals go to the command. `environment` is NAME=VALUE.
  void start(const std::vector<std::string>& environment, BootTime trusted_until);
  void extend(BootTime trusted_until);
  void stop();

  /// The process to name as the holder's in the store: it ends only when nothing of the command is left.
  [[nodiscard]] const ProcessId& guardian() const { return guardian_; }

  /// Returns when the whole tree is gone; if something survives, soon after `trusted_until`.
  Ending wait();

  /// Whether a terminating signal was passed on to the command.
  [[nodiscard]] bool asked_to_stop() const { return asked_to_stop_; }

 private:
  Supervisor(Channel channel, ProcessId guardian, Duration grace, Warn warn, std::vector<ProcessId> foreign);
  void sleep_until_something();
  void pass_on_signals();
  std::optional<Ending> take_messages();
  std::optional<Ending> understand(const Message& message);
  void stop_after_limit();
  void on_suspended(int signal);
  bool end_tree_myself();
  [[nodiscard]] BootTime trusted_until() const { return BootTime(Duration(trusted_until_us_.load())); }
  /// The guardian should have finished by then; if not, it was stopped.
  [[nodiscard]] BootTime own_deadline() const;

  const Channel channel_;
  const ProcessId guardian_;
  Duration grace_;
  const Warn warn_;
  /// Earlier children of this process: not ours to end.
  const std::vector<ProcessId> foreign_;
  const BootTimer timer_;
  std::optional<SignalQueue> signals_;
  std::atomic<Duration::rep> trusted_until_us_{0};
  pid_t command_ = 0;
  bool asked_to_stop_ = false;
  std::optional<Duration> timeout_;
  /// When to stop the command; far in the future once it was stopped.
  BootTime limit_ = BootTime::max();
  bool timed_out_ = false;
};

}  // namespace leasehold::run
