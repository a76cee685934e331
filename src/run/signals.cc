#include "run/signals.h"

#include <fcntl.h>
#include <sys/signalfd.h>
#include <unistd.h>
#include <atomic>
#include <cerrno>
#include <csignal>

namespace leasehold::run {

bool has_foreground(pid_t group) { return ::isatty(STDIN_FILENO) == 1 && ::tcgetpgrp(STDIN_FILENO) == group; }

void give_foreground(pid_t group) {
  // From the background this call stops the caller, unless it blocks SIGTTOU.
  sigset_t block;
  sigset_t before;
  ::sigemptyset(&block);
  ::sigaddset(&block, SIGTTOU);
  ::pthread_sigmask(SIG_BLOCK, &block, &before);
  ::tcsetpgrp(STDIN_FILENO, group);
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

namespace {

std::atomic<int> queue_end{-1};
static_assert(std::atomic<int>::is_always_lock_free, "used in a signal handler");

void enqueue(int signal) {
  const int saved = errno;
  const auto byte = static_cast<unsigned char>(signal);
  // The pipe does not block; if it is full, hundreds of signals are pending already and one more adds nothing.
  [[maybe_unused]] const auto written = ::write(queue_end.load(), &byte, 1);
  errno = saved;
}

}  // namespace

DeafToSignals::DeafToSignals() {
  struct sigaction ignore {};
  ignore.sa_handler = SIG_IGN;
  for (std::size_t i = 0; i < ignored.size(); ++i) ::sigaction(ignored[i], &ignore, &before_[i]);
  // If SIGCHLD is ignored, the kernel discards exit statuses.
  struct sigaction fallback {};
  fallback.sa_handler = SIG_DFL;
  ::sigaction(SIGCHLD, &fallback, &child_before_);
  sigset_t block;
  ::sigemptyset(&block);
  ::sigaddset(&block, SIGCHLD);
  ::sigprocmask(SIG_BLOCK, &block, &mask_before_);
}

void DeafToSignals::restore() const {
  for (std::size_t i = 0; i < ignored.size(); ++i) ::sigaction(ignored[i], &before_[i], nullptr);
  ::sigaction(SIGCHLD, &child_before_, nullptr);
  ::sigprocmask(SIG_SETMASK, &mask_before_, nullptr);
}

ChildWatch::ChildWatch() {
  sigset_t child;
  ::sigemptyset(&child);
  ::sigaddset(&child, SIGCHLD);
  fd_ = UniqueFd(::signalfd(-1, &child, SFD_CLOEXEC | SFD_NONBLOCK));
}

void ChildWatch::clear() const {
  signalfd_siginfo ignored{};
  while (::read(fd_.get(), &ignored, sizeof ignored) > 0) {
  }
}

SignalQueue::SignalQueue() {
  std::array<int, 2> ends{-1, -1};
  if (::pipe2(ends.data(), O_CLOEXEC | O_NONBLOCK) == 0) {
    read_end_ = UniqueFd(ends[0]);
    write_end_ = UniqueFd(ends[1]);
  }
  queue_end = write_end_.get();
  struct sigaction catching {};
  catching.sa_handler = enqueue;
  catching.sa_flags = SA_RESTART;
  for (std::size_t i = 0; i < caught.size(); ++i) {
    ::sigaction(caught[i], nullptr, &before_[i]);
    if (caught[i] == SIGTSTP && ::isatty(STDIN_FILENO) != 1) continue;
    if (before_[i].sa_handler != SIG_IGN || caught[i] == SIGCHLD) ::sigaction(caught[i], &catching, nullptr);
  }
}

SignalQueue::~SignalQueue() {
  for (std::size_t i = 0; i < caught.size(); ++i) ::sigaction(caught[i], &before_[i], nullptr);
  queue_end = -1;
}

std::optional<int> SignalQueue::next() const {
  unsigned char byte = 0;
  if (::read(read_end_.get(), &byte, 1) != 1) return std::nullopt;
  return byte;
}

}  // namespace leasehold::run
