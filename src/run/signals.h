// Signals: what the command must inherit untouched, and what the wrapper passes on to it.
#pragma once

#include <array>
#include <csignal>
#include <optional>

#include "run/unique_fd.h"

namespace leasehold::run {

/// Makes this process deaf to what a person or a shell sends to end or stop a job, and remembers how
/// it was, for the command to start with.
class DeafToSignals {
 public:
  DeafToSignals();
  /// In the child, just before exec.
  void restore() const;

 private:
  static constexpr std::array ignored{SIGHUP,  SIGINT,  SIGQUIT, SIGTERM, SIGUSR1,
                                      SIGUSR2, SIGTSTP, SIGTTIN, SIGTTOU, SIGPIPE};
  std::array<struct sigaction, ignored.size()> before_{};
  struct sigaction child_before_ {};
  sigset_t mask_before_{};
};

/// A descriptor to poll for ended children. Where SIGCHLD is blocked, as DeafToSignals leaves it.
class ChildWatch {
 public:
  ChildWatch();
  [[nodiscard]] int fd() const { return fd_.get(); }
  /// Before looking for them, so that none is missed.
  void clear() const;

 private:
  UniqueFd fd_;
};

/// Catches the signals that are for the command, in whichever thread they arrive, and lines them up
/// behind a descriptor to poll. Those that were ignored (nohup) stay ignored. SIGTSTP only comes along
/// with a terminal, where somebody waits for the job to stop. One at a time per process.
class SignalQueue {
 public:
  SignalQueue();
  SignalQueue(const SignalQueue&) = delete;
  SignalQueue& operator=(const SignalQueue&) = delete;
  ~SignalQueue();

  [[nodiscard]] int fd() const { return read_end_.get(); }
  std::optional<int> next() const;

 private:
  static constexpr std::array forwarded{SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGTSTP};
  std::array<struct sigaction, forwarded.size()> before_{};
  UniqueFd read_end_;
  UniqueFd write_end_;
};

}  // namespace leasehold::run
