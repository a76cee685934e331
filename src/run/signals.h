// A file descriptor that closes itself.
#pragma once

#include <sys/types.h>
#include <unistd.h>
#include <array>
#include <csignal>
#include <optional>
#include <utility>

namespace leasehold::run {

class UniqueFd {
 public:
  UniqueFd() = default;
  explicit UniqueFd(int fd) : fd_(fd) {}
  UniqueFd(UniqueFd&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  UniqueFd& operator=(UniqueFd&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  ~UniqueFd() { reset(); }

  [[nodiscard]] int get() const { return fd_; }
  explicit operator bool() const { return fd_ >= 0; }
  void reset() {
    if (fd_ >= 0) ::close(fd_);
    fd_ = -1;
  }

 private:
  int fd_ = -1;
};

// Terminal access: job control for a command in a process group of its own.

/// Whether standard input is a terminal whose foreground is `group`.
bool has_foreground(pid_t group);

/// Makes `group` the foreground of the terminal on standard input, also from the background.
void give_foreground(pid_t group);

// Signals: those that the command must inherit unchanged, and those that the wrapper passes on to it.

/// Makes this process ignore the signals that a person or a shell sends to end or stop a job, and remembers the
/// previous state for the command.
class DeafToSignals {
 public:
  DeafToSignals();
  /// Runs in the child, just before exec.
  void restore() const;

 private:
  static constexpr std::array ignored{SIGHUP,  SIGINT,  SIGQUIT, SIGTERM, SIGUSR1,
                                      SIGUSR2, SIGTSTP, SIGTTIN, SIGTTOU, SIGPIPE};
  std::array<struct sigaction, ignored.size()> before_{};
  struct sigaction child_before_ {};
  sigset_t mask_before_{};
};

/// A descriptor to poll for ended children. Requires that SIGCHLD is blocked, as DeafToSignals leaves it.
class ChildWatch {
 public:
  ChildWatch();
  [[nodiscard]] int fd() const { return fd_.get(); }
  /// Call it before looking for children, so that none is missed.
  void clear() const;

 private:
  UniqueFd fd_;
};

/// Catches the signals meant for the command, in any thread, and queues them behind a descriptor to poll. Ignored
/// signals (nohup) stay ignored. SIGTSTP is included only with a terminal, where a shell waits for the job to stop.
/// SIGCHLD is included: it reports a stopped child. One at a time per process.
class SignalQueue {
 public:
  SignalQueue();
  SignalQueue(const SignalQueue&) = delete;
  SignalQueue& operator=(const SignalQueue&) = delete;
  ~SignalQueue();

  [[nodiscard]] int fd() const { return read_end_.get(); }
  std::optional<int> next() const;

 private:
  static constexpr std::array caught{SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGTSTP, SIGCHLD};
  std::array<struct sigaction, caught.size()> before_{};
  UniqueFd read_end_;
  UniqueFd write_end_;
};

}  // namespace leasehold::run
